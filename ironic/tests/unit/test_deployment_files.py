"""The units for systemd and the example for a WSGI server fit the programs."""

import configparser
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ironic.command import lifecycle
from ironic.conf import CONF
from ironic.tests.repository import ROOT

SCRIPTS = [*(ROOT / "tools" / "packaging").glob("*.sh"), *(ROOT / "etc" / "debian").glob("p*")]
UNITS = sorted((ROOT / "etc" / "systemd").glob("*.service"))


def unit(path: Path) -> configparser.ConfigParser:
    # systemd adds up the lines of a list, as those of SystemCallFilter.
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
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


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_leaves_little_to_who_takes_over_its_program(path: Path) -> None:
    words = ["systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=20", str(path)]
    judged = subprocess.run(words, capture_output=True, text=True, timeout=30)
    assert "Overall exposure level" in judged.stdout
    # Of 100; without the limits it is 87. Above the threshold the program fails.
    assert judged.returncode == 0, judged.stdout


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_systemd_finds_no_fault_in_a_unit(path: Path, tmp_path: Path) -> None:
    # The programs are those of this environment here; make test-packages has them in their place.
    copy = tmp_path / path.name
    copy.write_text(path.read_text().replace("/usr/bin/ironic", f"{Path(sys.executable).parent}/ironic"))
    found = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, timeout=30)
    assert [line for line in found.stderr.splitlines() if path.stem.rstrip("@") in line] == []
    assert found.returncode == 0


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_hanging_service_is_noticed_and_its_memory_is_not_kept(path: Path) -> None:
    # Passwords of BMCs would be in a core.
    service = unit(path)["Service"]
    assert (service["WatchdogSec"], service["LimitCORE"]) == ("120", "0")


def test_the_units_differ_in_their_limits_by_what_conductors_need() -> None:
    limits = {path.stem: {*path.read_text().partition("NoNewPrivileges")[2].splitlines()} for path in UNITS}
    assert limits["ironic"] == limits["ironic-conductor"] == limits["ironic-conductor@"]
    needed = limits["ironic"] - limits["ironic-api"]
    assert {line for line in needed if not line.startswith("#")} == {
        "ProtectHome=read-only",
        f"ReadWritePaths=-{CONF.pxe.tftp_root} -{CONF.deploy.http_root}",
    }
    assert limits["ironic-api"] - limits["ironic"] == {"ProtectHome=yes", "UMask=0027"}
    # Another user reads what the filter writes.
    assert limits["ironic-api"] - limits["ironic-pxe-filter"] == {"UMask=0027"}


def test_the_configuration_of_the_debian_package_is_that_of_the_page() -> None:
    page = (ROOT / "doc" / "install.md").read_text()
    block = textwrap.dedent(page.partition("```ini\n")[2].partition("```")[0]).rstrip()
    described = [line for line in block.splitlines() if not line.startswith("my_ip = ")]
    packaged = (ROOT / "etc" / "debian" / "ironic.conf").read_text().rstrip().splitlines()
    own = [line for line in packaged if line not in described]
    # Until the operator names an address, nothing but this host reaches the service, which has no login.
    assert own.pop() == "my_ip = 127.0.0.1"
    assert all(line.startswith("#") for line in own)
    assert [line for line in packaged if line not in [*own, "my_ip = 127.0.0.1"]] == described


def test_the_debian_package_starts_only_what_ran_and_does_not_wait_for_it() -> None:
    # A unit that waits for its database would hold the installation for ever.
    script = (ROOT / "etc" / "debian" / "postinst").read_text()
    called = [line.strip() for line in script.splitlines() if line.strip().startswith("systemctl")]
    assert called == [
        "systemctl daemon-reload",
        "systemctl --no-block try-restart @UNITS@ 'ironic-conductor@*.service'",
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_of_the_packages_have_no_fault_that_shellcheck_knows(script: Path) -> None:
    found = subprocess.run(["shellcheck", script], capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stdout) == (0, "")


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
