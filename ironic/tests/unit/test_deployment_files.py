"""The units for systemd and the example for a WSGI server fit the programs."""

import configparser
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ironic.command import lifecycle
from ironic.conf import CONF
from ironic.tests.repository import ROOT

UNITS = sorted((ROOT / "etc" / "systemd").glob("*.service"))


def unit(path: Path) -> configparser.ConfigParser:
    parsed = configparser.ConfigParser(strict=True, interpolation=None)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read(path)
    return parsed


def test_there_is_a_unit_for_every_service() -> None:
    assert [path.stem for path in UNITS] == [
        "ironic-api",
        "ironic-conductor",
        "ironic-conductor@",
        "ironic-inspector-api",
        "ironic-novncproxy",
        "ironic-pxe-filter",
        "ironic",
    ]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_keeps_data_and_logs_from_other_users(path: Path) -> None:
    service = unit(path)["Service"]
    assert {service[f"{kind}Directory"] for kind in ("State", "Logs")} == {"ironic"}
    assert {service[f"{kind}DirectoryMode"] for kind in ("State", "Logs")} == {"0750"}


def test_rotated_logs_stay_with_the_user_of_the_service() -> None:
    rules = (ROOT / "etc" / "logrotate" / "ironic").read_text()
    assert "/var/log/ironic/*.log {" in rules
    assert "su ironic ironic" in rules and "nocreate" in rules


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_is_started_when_the_service_serves(path: Path) -> None:
    # Each program says so (live/test_second_start.py); its database may take longer than systemd's usual patience.
    service = unit(path)["Service"]
    assert (service["Type"], service["TimeoutStartSec"]) == ("notify", "infinity")


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_starts_a_program_of_ours_and_ends_it_as_it_wants_to_be_ended(path: Path) -> None:
    service = unit(path)["Service"]
    programs = {entry.name for entry in entry_points(group="console_scripts") if entry.value.startswith("ironic.")}
    program = path.stem.rstrip("@")
    assert Path(service["ExecStart"].split()[0]).name == program
    assert program in programs
    assert service["ExecReload"] == "/bin/kill -HUP $MAINPID"
    assert service["Restart"] == "on-failure"
    if program in ("ironic", "ironic-conductor"):
        assert int(service["TimeoutStopSec"]) > CONF.conductor.graceful_shutdown_timeout + 10
        assert int(service["RestartPreventExitStatus"]) == lifecycle.UNFINISHED


def test_a_further_conductor_of_a_host_has_the_unit_of_the_first_and_a_file_of_its_own() -> None:
    first, further = (unit(ROOT / "etc" / "systemd" / f"ironic-conductor{name}.service") for name in ("", "@"))
    command = first["Service"].pop("ExecStart")
    assert further["Service"].pop("ExecStart") == f"{command} --config-file /etc/ironic/%i.conf"
    assert dict(further["Service"]) == dict(first["Service"])
    assert "%i" in further["Unit"]["Description"]


def test_the_wsgi_example_loads_the_application_in_every_process() -> None:
    settings = unit(ROOT / "etc" / "wsgi" / "uwsgi-ironic-api.ini")["uwsgi"]
    assert settings["module"] == "ironic.wsgi:application"
    assert settings["lazy-apps"] == settings["enable-threads"] == "true"
