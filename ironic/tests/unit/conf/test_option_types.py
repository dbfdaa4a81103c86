"""Option types of our own."""

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pytest
from oslo_config import types

from ironic.conf import CONF, OPTIONS
from ironic.conf.default import OWN_RELEASES
from ironic.conf.option_types import ListOpt
from ironic.conf.release import PACKAGE, release
from ironic.tests.conftest import Setter


@pytest.mark.demand("S103")
@pytest.mark.parametrize(
    ("written", "size"), [("0", 0), ("3", 3), (2, 2), ("true", 1), ("True", 1), (True, 1), ("false", 0), (False, 0)]
)
def test_a_size_takes_the_words_of_older_releases(conf: Setter, written: Any, size: int) -> None:
    conf(inspector__disk_partitioning_spacing=written)
    assert CONF.inspector.disk_partitioning_spacing == size


@pytest.mark.parametrize("written", ["-1", "much", "1.5", ""])
def test_a_size_is_a_whole_number(conf: Setter, written: str) -> None:
    with pytest.raises(ValueError):
        conf(inspector__disk_partitioning_spacing=written)


@pytest.mark.parametrize("written", ['console="ttyS0', "a\nb"])
def test_kernel_parameters_stand_on_one_line_with_their_quotes_closed(conf: Setter, written: str) -> None:
    with pytest.raises(ValueError, match="kernel parameters"):
        conf(inspector__extra_kernel_params=written)


def test_kernel_parameters_are_kept_as_they_are_written(conf: Setter) -> None:
    conf(inspector__extra_kernel_params="nofb  console=ttyS0")
    assert CONF.inspector.extra_kernel_params == "nofb  console=ttyS0"


@pytest.mark.parametrize(("written", "ports"), [("1:3", range(1, 3)), ("0:0", range(0)), ("9:65535", range(9, 65535))])
def test_a_range_of_ports_ends_before_its_end(conf: Setter, written: str, ports: range) -> None:
    conf(console__port_range=[written])
    assert CONF.console.port_range == [ports]


@pytest.mark.parametrize("written", ["", "7", "3:1", "1:65536", "-1:3", "1:2:3", "a:b"])
def test_a_range_of_ports_has_two_ports_in_order(conf: Setter, written: str) -> None:
    with pytest.raises(ValueError, match="range of ports"):
        conf(console__port_range=[written])


@pytest.mark.parametrize("written", ["a,,b", "a, ,b,", ",a,b"])
def test_an_empty_item_of_a_list_is_left_out_with_a_warning(
    conf: Setter, caplog: pytest.LogCaptureFixture, written: str
) -> None:
    option = ListOpt("colours", help="Any.")
    assert [option.type(written) for _ in range(2)] == [["a", "b"]] * 2
    warned = [record.getMessage() for record in caplog.records]
    assert warned == ["Option colours has an empty item, which is left out"]


def test_no_warning_for_an_empty_list_or_a_comma_at_its_end(caplog: pytest.LogCaptureFixture) -> None:
    option = ListOpt("ports", item_type=types.Integer(), help="Any.")
    assert [option.type(written) for written in ("", ",", "1,2,", "1,,2")] == [[], [], [1, 2], [1, 2]]
    assert len(caplog.records) == 1


def test_the_enabled_drivers_may_have_an_empty_item(conf: Setter) -> None:
    conf(enabled_hardware_types="fake-hardware,,redfish")
    assert CONF.enabled_hardware_types == ["fake-hardware", "redfish"]


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://$my_ip:6385", "http://[fd00::5]:6385"),
        ("https://$my_ip/ironic", "https://[fd00::5]/ironic"),
        ("https://$my_ip:6385/ironic", "https://[fd00::5]:6385/ironic"),
        ("http://me:pw@$my_ip:1/", "http://me:pw@[fd00::5]:1/"),
        ("http://1:2:3:4:5:6:7:8", "http://[1:2:3:4:5:6:7:8]"),
        ("http://fd00::12345", "http://fd00::12345"),
        ("http://[fd00::5]:6385", "http://[fd00::5]:6385"),
        ("http://192.0.2.1:6385", "http://192.0.2.1:6385"),
        ("http://host.example:1/a:b:c", "http://host.example:1/a:b:c"),
        ("/no/url", "/no/url"),
    ],
)
def test_an_address_of_ipv6_gets_its_brackets_in_a_url(tmp_path: Path, written: str, url: str) -> None:
    path = tmp_path / "a.conf"
    path.write_text(f"[DEFAULT]\nmy_ip = fd00::5\n[service_catalog]\nendpoint_override = {written}\n")
    try:
        CONF([], default_config_files=[str(path)])
        assert CONF.service_catalog.endpoint_override == url
    finally:
        CONF.clear()


# Options that hold a URL of this host or of one beside it, as `http://$my_ip` in a file.
OF_THIS_SITE: Final = {
    (group, option.dest)
    for group, options in OPTIONS.items()
    for option in options
    if re.search("(^|_)(url|endpoint|endpoint_override)$", option.dest)
}


@pytest.mark.parametrize(("group", "name"), sorted(OF_THIS_SITE))
def test_every_url_gets_brackets(tmp_path: Path, group: str, name: str) -> None:
    path = tmp_path / "a.conf"
    path.write_text(f"[DEFAULT]\nmy_ip = fd00::5\n[{group}]\n{name} = http://$my_ip:80\n")
    try:
        CONF([], default_config_files=[str(path)])
        assert CONF[group][name] == "http://[fd00::5]:80"
    finally:
        CONF.clear()


@pytest.mark.parametrize(("address", "port"), [("fd00::5", "[fd00::5]::5900"), ("192.0.2.1", "192.0.2.1::5900")])
def test_a_port_is_published_at_an_address_of_either_kind(conf: Setter, address: str, port: str) -> None:
    conf(my_ip=address)
    assert (CONF.vnc.systemd_container_publish_port, CONF.vnc.container_publish_port) == (port, port)


@pytest.mark.parametrize(
    ("written", "pinned"),
    [("1.1.0", "1.1"), ("1.1", "1.1"), (" 1.0.7 ", "1.0"), ("1.1.1.dev12", "1.1"), ("1.1.0rc1", "1.1"), ("zed", "zed")],
)
def test_a_release_is_pinned_by_what_its_programs_print_as_well(conf: Setter, written: str, pinned: str) -> None:
    conf(pin_release_version=written)
    assert CONF.pin_release_version == pinned


@pytest.mark.parametrize("written", [release(), version(PACKAGE)])
def test_the_version_of_this_release_can_be_pinned(conf: Setter, written: str) -> None:
    conf(pin_release_version=written)
    assert CONF.pin_release_version == OWN_RELEASES[-1]


@pytest.mark.parametrize("written", ["1", "1.2", "1.1.", "1.1.0.0.0", "v1.1", "", "1.1-0", "1!", "x!1.1.0"])
def test_another_release_can_not_be_pinned(conf: Setter, written: str) -> None:
    with pytest.raises(ValueError):
        conf(pin_release_version=written)
