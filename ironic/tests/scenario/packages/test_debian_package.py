"""The Debian package: built by its recipe, installed in a clean root, its units used by a systemd there."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.conf.release import release
from ironic.tests.repository import ROOT
from ironic.tests.scenario.packages.machine import Machine, debian, inside, remove, unpack

pytestmark = pytest.mark.packages

API = "http://127.0.0.1:6385"
UNITS = ("ironic", "ironic-api", "ironic-conductor", "ironic-inspector-api", "ironic-novncproxy", "ironic-pxe-filter")
# The machine has no broker. With this bus of oslo.messaging, programs start and meet in the database, but call nothing.
SEVERAL = """\
[DEFAULT]
rpc_transport = oslo
transport_url = fake:/
[inspector_api]
host_ip = 127.0.0.1
[pxe_filter]
dhcp_hostsdir = /var/lib/ironic/hosts
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Path:
    directory = tmp_path_factory.mktemp("deb")
    subprocess.run([ROOT / "tools" / "packaging" / "deb.sh", wheels, directory], check=True)
    (path,) = directory.glob("*.deb")
    return path


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, package: Path) -> Iterator[Path]:
    """Return the root of a Debian in which the package is installed, as an operator does."""
    directory = tmp_path_factory.mktemp("debian")
    debian(directory / "debian.tar")
    unpack(directory / "debian.tar", directory / "root")
    (directory / "root" / "tmp" / package.name).write_bytes(package.read_bytes())
    done = inside(directory / "root", "dpkg", "--install", f"/tmp/{package.name}")
    assert done.returncode == 0, done.stdout + done.stderr
    yield directory / "root"
    remove(directory / "root")


@pytest.fixture(scope="module")
def machine(root: Path) -> Iterator[Machine]:
    running = Machine(root)
    yield running
    running.close()


def test_the_package_is_installed_with_its_user_directories_and_configuration(root: Path, package: Path) -> None:
    assert package.name.startswith(f"ironic_{release()}-1_")
    shown = inside(root, "dpkg-query", "--show", "--showformat", "${Status} ${Version}", "ironic")
    assert shown.stdout == f"install ok installed {release()}-1"
    modes = inside(root, "stat", "--format", "%n %U:%G %a", "/etc/ironic", "/etc/ironic/ironic.conf", "/var/lib/ironic")
    assert modes.stdout.split() == [
        *("/etc/ironic", "root:ironic", "750"),
        *("/etc/ironic/ironic.conf", "root:ironic", "640"),
        *("/var/lib/ironic", "ironic:ironic", "750"),
    ]
    assert inside(root, "dpkg", "--verify", "ironic").stdout == ""
    assert inside(root, "ironic-api", "--version").stdout == f"{release()}\n"
    assert inside(root, "logrotate", "--debug", "/etc/logrotate.d/ironic").returncode == 0


def test_systemd_finds_no_fault_in_the_units(root: Path) -> None:
    paths = [f"/lib/systemd/system/{path.name}" for path in (ROOT / "etc" / "systemd").iterdir()]
    done = inside(root, "systemd-analyze", "verify", "--man=no", *paths)
    assert (done.returncode, done.stdout) == (0, "")
    assert [line for line in done.stderr.splitlines() if "ironic" in line] == []


def test_nothing_runs_and_no_database_is_there_after_the_installation(machine: Machine) -> None:
    listed = machine.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "ironic*").stdout
    assert listed == ""
    assert machine.run("test", "-e", "/var/lib/ironic/ironic.sqlite").returncode == 1
    enabled = {unit: machine.run("systemctl", "is-enabled", unit).stdout.strip() for unit in UNITS}
    assert enabled == dict.fromkeys(UNITS, "disabled")


def test_the_service_of_one_machine_is_enabled_by_one_command_and_serves(machine: Machine) -> None:
    machine.output("systemctl", "enable", "--now", "ironic")
    # With Type=notify the command returns when the service serves.
    assert alive(machine) == [True]
    properties = shown(machine, "ironic", "User", "NRestarts", "WatchdogUSec", "StatusErrno", "NoNewPrivileges")
    assert properties["User"] == "ironic" and properties["NRestarts"] == "0"
    process = shown(machine, "ironic", "MainPID")["MainPID"]
    status = machine.output("cat", f"/proc/{process}/status")
    assert "CapBnd:\t0000000000000000" in status and "Seccomp:\t2" in status
    machine.output("systemctl", "reload", "ironic")
    assert shown(machine, "ironic", "MainPID")["MainPID"] == process
    machine.output("systemctl", "stop", "ironic")
    assert shown(machine, "ironic", "Result")["Result"] == "success"
    assert machine.output("stat", "--format", "%U %a", "/var/lib/ironic/ironic.sqlite").startswith("ironic ")


def test_a_service_that_hangs_is_started_again(machine: Machine) -> None:
    machine.output("mkdir", "-p", "/run/systemd/system/ironic.service.d")
    machine.output("sh", "-c", "printf '[Service]\\nWatchdogSec=3\\n' > /run/systemd/system/ironic.service.d/fast.conf")
    machine.output("systemctl", "daemon-reload")
    machine.output("systemctl", "start", "ironic")
    process = shown(machine, "ironic", "MainPID")["MainPID"]
    machine.output("sleep", "7")
    assert shown(machine, "ironic", "MainPID")["MainPID"] == process
    machine.output("kill", "-STOP", process)
    ended = machine.run("timeout", "60", "sh", "-c", f"while [ -d /proc/{process} ]; do sleep 0.2; done")
    assert ended.returncode == 0
    again = "until systemctl is-active --quiet ironic; do sleep 0.2; done"
    assert machine.run("timeout", "60", "sh", "-c", again).returncode == 0
    properties = shown(machine, "ironic", "MainPID", "NRestarts")
    assert properties["NRestarts"] == "1" and properties["MainPID"] not in ("0", process)
    machine.output("systemctl", "stop", "ironic")
    machine.output("rm", "-r", "/run/systemd/system/ironic.service.d")
    machine.output("systemctl", "daemon-reload")


def test_every_other_program_serves_under_its_unit(machine: Machine) -> None:
    machine.output("sh", "-c", f"cat >> /etc/ironic/ironic.conf << 'END'\n{SEVERAL}END")
    machine.output("install", "-d", "-o", "ironic", "-g", "ironic", "/var/lib/ironic/hosts")
    # The proxy offers the page of noVNC, a package of its own.
    machine.output("mkdir", "-p", "/usr/share/novnc")
    machine.output("touch", "/usr/share/novnc/vnc_lite.html")
    units = [unit for unit in UNITS if unit != "ironic"]
    faults = {}
    for unit in units:
        done = machine.run("timeout", "60", "systemctl", "start", unit)
        if done.returncode != 0:
            faults[unit] = machine.run("journalctl", "--no-pager", "--unit", unit, "--lines", "30").stdout
    assert faults == {}
    assert {unit: shown(machine, unit, "ActiveState", "NRestarts") for unit in units} == dict.fromkeys(
        units, {"ActiveState": "active", "NRestarts": "0"}
    )
    assert alive(machine) == [True]
    machine.output("systemctl", "stop", *units)
    assert {unit: shown(machine, unit, "Result")["Result"] for unit in units} == dict.fromkeys(units, "success")


def test_a_removal_stops_the_services_and_keeps_the_database(machine: Machine) -> None:
    machine.output("systemctl", "start", "ironic-api")
    machine.output("dpkg", "--remove", "ironic")
    assert machine.run("systemctl", "is-active", "ironic-api").stdout.strip() in ("inactive", "unknown")
    assert machine.run("test", "-e", "/usr/bin/ironic").returncode == 1
    for kept in ("/var/lib/ironic/ironic.sqlite", "/etc/ironic/ironic.conf"):
        machine.output("test", "-e", kept)
    machine.output("dpkg", "--purge", "ironic")
    assert machine.run("test", "-e", "/etc/ironic/ironic.conf").returncode == 1
    machine.output("test", "-e", "/var/lib/ironic/ironic.sqlite")


def shown(machine: Machine, unit: str, *names: str) -> dict[str, str]:
    lines = machine.output("systemctl", "show", unit, f"--property={','.join(names)}").splitlines()
    return dict(line.split("=", 1) for line in lines)


def alive(machine: Machine) -> list[bool]:
    words = ("curl", "-sSf", "--header", "X-OpenStack-Ironic-API-Version: 1.49")
    return [one["alive"] for one in json.loads(machine.output(*words, f"{API}/v1/conductors"))["conductors"]]
