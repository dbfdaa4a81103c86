"""What pip does with this package beside others that ask for `ironic`: it stays, whatever lower bound they have.

Pip is real, and has a directory of stand-ins in the place of an index: this package in its version, OpenStack's with
the same name, and drivers with the demands that published ones have.
"""

import configparser
from importlib.metadata import version
from pathlib import Path

import pytest

from ironic.conf.release import PACKAGE, release
from ironic.tests.repository import ROOT
from ironic.tests.wheels import Environment, documented_constraints, stand_in

THEIRS = ("26.0.0", "35.1.0", "39.0.0", "99.0.0")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("index")
    for number in THEIRS:
        stand_in(directory, PACKAGE, number, module="theirs")
    for number in ("2.0", "2.1"):
        stand_in(directory, "lower-bound", number, ["ironic>=26.0.0"])
        stand_in(directory, "no-bound", number, [PACKAGE])
        stand_in(directory, "not-a-release", number, ["ironic!=30.0.0,>=20"])
        stand_in(directory, "pinned", number, ["ironic>=35,<36"])
    return directory


@pytest.fixture
def beside(tmp_path: Path, index: Path) -> Environment:
    """Return an environment that has a stand-in of this package, in the version of this tree."""
    environment = Environment(tmp_path / "environment", index)
    (tmp_path / "ours").mkdir()
    done = environment.pip("install", stand_in(tmp_path / "ours", PACKAGE, declared(), module="ours"))
    assert done.returncode == 0, done.stderr
    return environment


def declared() -> str:
    setup = configparser.ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg")
    return setup["metadata"]["version"]


def test_this_installation_has_the_version_of_the_tree() -> None:
    assert version(PACKAGE) == declared()


def test_a_driver_with_a_lower_bound_is_installed_and_upgraded_beside_this_package(beside: Environment) -> None:
    for words in (
        ["install", "lower-bound==2.0", "no-bound==2.0", "not-a-release==2.0"],
        ["install", "--upgrade", "--upgrade-strategy", "eager", "lower-bound", "no-bound", "not-a-release", PACKAGE],
    ):
        done = beside.pip(*words)
        assert done.returncode == 0, done.stderr
        assert beside.own() == (declared(), True), words
    drivers = ("lower-bound", "no-bound", "not-a-release")
    assert beside.versions() == {PACKAGE: declared(), **dict.fromkeys(drivers, "2.1")}


def test_without_the_epoch_the_same_driver_replaces_this_package(tmp_path: Path, index: Path) -> None:
    environment = Environment(tmp_path / "environment", index)
    assert environment.pip("install", stand_in(tmp_path, PACKAGE, release(), module="ours")).returncode == 0
    assert environment.own() == (release(), True)
    assert environment.pip("install", "lower-bound").returncode == 0
    assert environment.own() == (THEIRS[-1], False)


def test_a_driver_pinned_to_a_series_replaces_it_unless_a_constraint_or_no_deps_forbids_it(
    beside: Environment, tmp_path: Path
) -> None:
    constraint = tmp_path / "constraints.txt"
    constraint.write_text(documented_constraints())
    allowed = beside.pip("install", "--constraint", constraint, "lower-bound==2.0")
    assert allowed.returncode == 0, allowed.stderr
    refused = beside.pip("install", "--constraint", constraint, "pinned")
    assert refused.returncode != 0
    assert "conflicting dependencies" in refused.stderr and f"{PACKAGE}>=1!0" in refused.stdout
    assert beside.versions() == {PACKAGE: declared(), "lower-bound": "2.0"}
    assert beside.pip("install", "--no-deps", "pinned==2.0").returncode == 0
    assert beside.own() == (declared(), True)
    # This is what both guard against.
    assert beside.pip("install", "--upgrade", "pinned").returncode == 0
    assert beside.own() == ("35.1.0", False)
