"""The published drivers, from the index by the real pip, installed beside a wheel of this tree. Nothing is replaced."""

import re
from pathlib import Path

import pytest

from ironic.conf.release import PACKAGE
from ironic.tests.wheels import Environment, documented_constraints

pytestmark = pytest.mark.packages

DRIVERS = (
    "ironic-interfaces",
    "ironic-staging-drivers",
    "sdflex-ironic-driver",
    "networking-baremetal",
    "ironic-prometheus-exporter",
)


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory, own_wheel: Path, wheels: Path) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("environment"))
    done = environment.pip("install", "--no-index", "--find-links", wheels, own_wheel)
    assert done.returncode == 0, done.stderr
    return environment


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_published_driver_is_installed_and_upgraded_beside_this_package(
    beside: Environment, driver: str, tmp_path: Path
) -> None:
    constraints = tmp_path / "constraints.txt"
    constraints.write_text(documented_constraints())
    before, version = beside.files(), beside.own()
    for words in (["install"], ["install", "--upgrade"]):
        done = beside.pip(*words, "--constraint", constraints, driver)
        assert done.returncode == 0, done.stderr
    assert driver in beside.versions()
    assert beside.own() == version and version[1]
    after = beside.files()
    own = {path: content for path, content in before.items() if f"/site-packages/{PACKAGE}/" in path}
    assert len(own) > 300
    assert {path: after.get(path) for path in own} == own
    unmet = [line for line in beside.pip("check").stdout.splitlines() if line.startswith(f"{PACKAGE} ")]
    assert unmet == []


def test_a_driver_with_a_lower_bound_needs_no_constraint(beside: Environment) -> None:
    version = beside.own()
    assert beside.pip("uninstall", "--yes", "ironic-interfaces").returncode == 0
    done = beside.pip("install", "ironic-interfaces")
    assert done.returncode == 0, done.stderr
    assert "ironic-interfaces" in beside.versions()
    assert beside.own() == version


def test_reinstalling_everything_by_force_is_what_the_constraint_refuses(beside: Environment, tmp_path: Path) -> None:
    constraints = tmp_path / "constraints.txt"
    constraints.write_text(documented_constraints())
    words = ("install", "--dry-run", "--force-reinstall", "ironic-interfaces")
    assert re.search(rf"\b{PACKAGE}-[1-9][0-9]\.", beside.pip(*words).stdout)
    refused = beside.pip(*words, "--constraint", constraints)
    assert refused.returncode != 0 and f"{PACKAGE}>=1!0" in refused.stdout
