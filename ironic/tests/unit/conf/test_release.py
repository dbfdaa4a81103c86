"""The epoch is in the version of the package, and in nothing that the programs show."""

import configparser

import pytest

from ironic.conf.release import release, without_epoch
from ironic.tests.repository import ROOT


@pytest.mark.parametrize(
    ("package", "number"), [("1!1.1.0", "1.1.0"), ("1.1.0", "1.1.0"), ("2!1.2.0.dev3", "1.2.0.dev3")]
)
def test_a_release_is_the_version_without_its_epoch(package: str, number: str) -> None:
    assert without_epoch(package) == number


def test_the_package_has_an_epoch_and_the_release_has_none() -> None:
    setup = configparser.ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg")
    assert setup["metadata"]["version"] == f"1!{release()}"
