"""Which kernel and ramdisk a node boots."""

from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.flows import states
from ironic.drivers import info_keys
from ironic.drivers.modules.netboot import kernel_and_ramdisk
from ironic.tests.conftest import Setter
from ironic.tests.unit.drivers.machine import Machine

OWN = {"deploy_kernel": "http://images/k", "deploy_ramdisk": "http://images/r"}
SUM = "a" * 64


def urls(purpose: str = info_keys.DEPLOY, **columns: Any) -> tuple[str, str]:
    found = kernel_and_ramdisk.find_ramdisk(Machine(**columns), purpose)
    return found.kernel.url, found.ramdisk.url


@pytest.fixture
def options(conf: Setter) -> None:
    conf(
        conductor__deploy_kernel="http://all/k",
        conductor__deploy_ramdisk="http://all/r",
        conductor__deploy_kernel_by_arch={"aarch64": "http://arm/k"},
        conductor__deploy_ramdisk_by_arch={"aarch64": "http://arm/r"},
    )


@pytest.mark.parametrize(
    "columns, expected",
    [
        ({}, ("http://all/k", "http://all/r")),
        ({"properties": {"cpu_arch": "x86_64"}}, ("http://all/k", "http://all/r")),
        ({"properties": {"cpu_arch": "aarch64"}}, ("http://arm/k", "http://arm/r")),
        ({"driver_info": OWN, "properties": {"cpu_arch": "aarch64"}}, ("http://images/k", "http://images/r")),
        ({"driver_info": {"deploy_kernel": "http://images/k"}}, ("http://all/k", "http://all/r")),
    ],
)
def test_a_node_goes_before_its_architecture_and_that_before_all(options: None, columns: Any, expected: Any) -> None:
    assert urls(**columns) == expected


def test_half_a_pair_is_refused_if_configured(conf: Setter, options: None) -> None:
    conf(conductor__error_on_ramdisk_config_inconsistency=True)
    with pytest.raises(InvalidParameterValue, match="names only deploy_ramdisk"):
        urls(driver_info={"deploy_ramdisk": "http://images/r"})


def test_a_rescue_has_a_ramdisk_of_its_own(options: None) -> None:
    own = {"rescue_kernel": "http://rescue/k", "rescue_ramdisk": "http://rescue/r"}
    assert urls(info_keys.RESCUE, driver_info={**OWN, **own}) == ("http://rescue/k", "http://rescue/r")
    with pytest.raises(MissingParameterValue, match="rescue_kernel and rescue_ramdisk"):
        urls(info_keys.RESCUE, driver_info=OWN)


@pytest.mark.parametrize(
    "state, purpose",
    [
        (states.RESCUING, "rescue"),
        (states.RESCUEWAIT, "rescue"),
        (states.CLEANING, "deploy"),
        (states.ACTIVE, "deploy"),
    ],
)
def test_the_state_says_what_for(state: str, purpose: str) -> None:
    assert kernel_and_ramdisk.purpose_of(Machine(provision_state=state)) == purpose


@pytest.mark.parametrize(
    "url",
    [
        "glance://1",
        "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b11",
        "http:///k",
        "http://[",
        7,
        "ftp://x/k",
        "http://x/a b",
        "http://x/k\nshell",
    ],
)
def test_what_can_not_be_fetched_is_refused(url: Any) -> None:
    with pytest.raises(InvalidParameterValue, match="deploy_kernel of node"):
        urls(driver_info={**OWN, "deploy_kernel": url})


def test_files_are_only_those_that_are_allowed(conf: Setter, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    conf(conductor__file_url_allowed_paths=[str(tmp_path / "in")])
    (tmp_path / "secret").write_text("x")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret")
    for path, why in (
        (tmp_path / "secret", "allow"),
        (tmp_path / "in" / "link", "allow"),
        (tmp_path / "in" / "no", "no file"),
    ):
        with pytest.raises(InvalidParameterValue, match=why):
            urls(driver_info={**OWN, "deploy_kernel": f"file://{path}"})


@pytest.mark.parametrize("checksum", ["a" * 63, "z" * 64, "sha256:abc", 5])
def test_a_checksum_is_one(checksum: Any) -> None:
    with pytest.raises(InvalidParameterValue, match="deploy_kernel_checksum"):
        urls(driver_info={**OWN, "deploy_kernel_checksum": checksum})
    found = kernel_and_ramdisk.find_ramdisk(Machine(driver_info={**OWN, "deploy_kernel_checksum": SUM}), "deploy")
    assert (found.kernel.checksum, found.ramdisk.checksum) == (SUM, None)


def test_a_users_ramdisk_is_in_instance_info() -> None:
    found = kernel_and_ramdisk.of_instance(Machine(instance_info={"kernel": "http://u/k", "ramdisk": "http://u/r"}))
    assert {name: image.url for name, image in found.files.items()} == {
        "instance_kernel": "http://u/k",
        "instance_ramdisk": "http://u/r",
    }
    with pytest.raises(MissingParameterValue):
        kernel_and_ramdisk.of_instance(Machine(instance_info={"kernel": "http://u/k"}))
