"""Packages beside this one are directories as pip makes them, read by the same library as installed ones."""

import importlib.metadata
import logging
from pathlib import Path

import pytest

from ironic.drivers.composition.installed_packages import warn_of_strangers

PLUG_IN = "[ironic.hardware.types]\nacme = acme.hardware:Acme\n"


def packages(
    directory: Path, name: str, version: str, points: str, *demands: str
) -> list[importlib.metadata.Distribution]:
    described = directory / f"{name}-{version}.dist-info"
    described.mkdir()
    lines = [
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        *(f"Requires-Dist: {each}\n" for each in demands),
    ]
    (described / "METADATA").write_text("".join(lines))
    (described / "entry_points.txt").write_text(points)
    return list(importlib.metadata.distributions(path=[str(directory)]))


def test_this_installation_has_nothing_to_say(caplog: pytest.LogCaptureFixture) -> None:
    warn_of_strangers(each for each in importlib.metadata.distributions() if each.name == "ironic")
    assert caplog.messages == []


def test_an_unmet_demand_of_a_driver_is_one_line_with_the_way_to_install_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = packages(tmp_path, "acme-driver", "2.0", PLUG_IN, "ironic>=35,<36", "requests>=2", "ironic-lib>=99")
    warn_of_strangers([*found, *found])
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "acme-driver 2.0 asks for ironic>=35,<36, and this is ironic 1!1." in record.getMessage()
    assert "pip install --no-deps" in record.getMessage()
    assert record.getMessage().count("asks for") == 1


@pytest.mark.parametrize(
    ("points", "demand"),
    [
        (PLUG_IN, "ironic"),
        (PLUG_IN, "ironic>=20"),
        (PLUG_IN, 'ironic<36; extra == "test"'),
        (PLUG_IN, 'ironic<36; python_version < "3"'),
        (PLUG_IN, "ironic>=>20"),
        (PLUG_IN, "ironic-inspector<20"),
        ("[openstack.cli.extension]\nbaremetal = acme.cli\n", "ironic<36"),
    ],
)
def test_demands_that_are_met_or_of_others_are_no_fault(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, points: str, demand: str
) -> None:
    warn_of_strangers(packages(tmp_path, "acme", "1.0", points, demand))
    assert caplog.messages == []


def test_another_package_of_this_name_is_named_with_its_place(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    points = (
        "[console_scripts]\nironic = ironic.command.singleprocess:main\n"
        "[ironic.hardware.types]\nother = ironic.drivers.other_vendor:Other\n"
    )
    warn_of_strangers(packages(tmp_path, "ironic", "39.0.0", points))
    assert len(caplog.messages) == 1
    assert f"ironic 39.0.0 in {tmp_path} is not this service" in caplog.text
    assert "ironic.drivers.other_vendor" in caplog.text
    assert "pip uninstall ironic" in caplog.text
