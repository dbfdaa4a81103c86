"""The Debian package: built by its recipe, fetched what it needs by apt, its units used by a systemd at work.

The tests are one story, from the installation to the purge, so each begins where the one before has ended.
"""

import contextlib
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import bcrypt
import pytest

from ironic.conf.release import release
from ironic.tests.functional.consoles.lines import Viewer
from ironic.tests.functional.consoles.test_ipmi_console import serial_port
from ironic.tests.functional.live.asking import call
from ironic.tests.ipmi_bmc import PASSWORD, IpmiBmc, ipmi_sim
from ironic.tests.redfish_bmc import RedfishBmc, redfish_bmc
from ironic.tests.repository import ROOT
from ironic.tests.scenario.enrolment import active_to_available, enrol_to_active
from ironic.tests.scenario.packages.machine import Machine, debian, inside, remove, unpack
from ironic.tests.web_server import WebServer, web_server

pytestmark = pytest.mark.packages

UNITS = ("ironic", "ironic-api", "ironic-conductor", "ironic-inspector-api", "ironic-novncproxy", "ironic-pxe-filter")
PATIENCE = 60
# What none of the logs may have: the passwords of two BMCs, and that of the calls between the processes.
SECRETS = (PASSWORD, "secret-of-redfish", "secret-of-the-calls")
MACS = ("52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03")

# What the operator of this site has added to the configuration of the package.
EDITED = """\
[DEFAULT]
enabled_console_interfaces = ipmitool-socat, no-console
[console]
port_range = 10000:10010
[ipmi]
min_command_interval = 0
[outgoing]
allow_loopback = true
[pxe]
loader_file_paths = undionly.kpxe:/usr/lib/ipxe/undionly.kpxe
"""
# API and conductors as processes that call each other; a database of their own.
SEVERAL = f"""\
[DEFAULT]
rpc_transport = json-rpc
host = 127.0.0.1
debug = true
[database]
connection = sqlite:////var/lib/ironic/several.sqlite
[json_rpc]
auth_strategy = http_basic
username = ironic
password = {SECRETS[2]}
host_ip = 127.0.0.1
[inspector_api]
host_ip = 127.0.0.1
[pxe_filter]
dhcp_hostsdir = /var/lib/ironic/hosts
sync_period = 2
"""
SECOND = """\
[json_rpc]
port = 8090
[deploy]
http_server_port = 6389
[console]
port_range = 10010:10020
"""


class Api(NamedTuple):
    url: str = "http://127.0.0.1:6385"


API = Api()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Path:
    directory = tmp_path_factory.mktemp("deb")
    subprocess.run([ROOT / "tools" / "packaging" / "deb.sh", wheels, directory], check=True)
    (path,) = directory.glob("*.deb")
    return path


@pytest.fixture(scope="module")
def former(tmp_path_factory: pytest.TempPathFactory, package: Path) -> Path:
    """Return a package with a lower version, another default configuration and a module that came to an end."""
    tree, path = tmp_path_factory.mktemp("former") / "tree", package.with_name("ironic_0.9-1.deb")
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    replace(tree / "DEBIAN" / "control", f"Version: {release()}-1", "Version: 0.9-1")
    replace(tree / "etc" / "ironic" / "ironic.conf", "[DEFAULT]\n", "[DEFAULT]\n# Of the former release.\n")
    (tree / "usr" / "lib" / "ironic" / "lib" / "former.py").touch()
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", tree, path], check=True)
    remove(tree)
    return path


def replace(path: Path, old: str, new: str) -> None:
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, package: Path, former: Path) -> Iterator[Path]:
    """Return the root of a Debian in which apt has installed the former package with what it needs."""
    directory = tmp_path_factory.mktemp("debian")
    debian(directory / "debian.tar")
    unpack(directory / "debian.tar", directory / "root")
    for path in (package, former):
        (directory / "root" / "var" / "cache" / path.name).write_bytes(path.read_bytes())
    for name in ("hosts", "resolv.conf"):
        (directory / "root" / "etc" / name).write_bytes((Path("/etc") / name).read_bytes())
    for words in (("update",), ("install", "--yes", f"/var/cache/{former.name}", "ipxe")):
        done = inside(directory / "root", "apt-get", "--quiet", *words, network=True)
        assert done.returncode == 0, done.stdout + done.stderr
    yield directory / "root"
    remove(directory / "root")


@pytest.fixture(scope="module")
def machine(root: Path) -> Iterator[Machine]:
    running = Machine(root)
    yield running
    running.close()


class Site(NamedTuple):
    """What the machine reaches: BMCs, one of which takes two seconds to switch, and a web server."""

    ipmi: IpmiBmc
    redfish: RedfishBmc
    web: WebServer


@pytest.fixture(scope="module")
def site(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    www = tmp_path_factory.mktemp("www")
    for name in ("kernel", "ramdisk", "image.raw"):
        (www / name).write_bytes(name.encode() * 1000)
    with contextlib.ExitStack() as stack:
        stack.enter_context(machine.network())
        port = stack.enter_context(serial_port())
        ipmi = stack.enter_context(ipmi_sim(tmp_path_factory.mktemp("ipmi") / "bmc", sol_port=port))
        redfish = redfish_bmc(tmp_path_factory.mktemp("bmc"), count=2, delay=2, user="operator", password=SECRETS[1])
        yield Site(ipmi, stack.enter_context(redfish), stack.enter_context(web_server(www)))


def test_apt_installs_the_package_with_what_it_needs_its_user_directories_and_configuration(
    root: Path, package: Path
) -> None:
    assert package.name.startswith(f"ironic_{release()}-1_")
    shown = inside(root, "dpkg-query", "--show", "--showformat", "${Status} ${Version}", "ironic")
    assert shown.stdout == "install ok installed 0.9-1"
    fetched = inside(root, "apt-mark", "showauto").stdout.split()
    assert {"adduser", "ipmitool", "python3", "logrotate", "mtools", "qemu-utils", "socat"} <= {*fetched}
    modes = inside(root, "stat", "--format", "%n %U:%G %a", "/etc/ironic", "/etc/ironic/ironic.conf", "/var/lib/ironic")
    assert modes.stdout.split() == [
        *("/etc/ironic", "root:ironic", "750"),
        *("/etc/ironic/ironic.conf", "root:ironic", "640"),
        *("/var/lib/ironic", "ironic:ironic", "750"),
    ]
    assert inside(root, "dpkg", "--verify", "ironic").stdout == ""
    assert inside(root, "ironic-api", "--version").stdout == f"{release()}\n"


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
    write(machine, "/etc/ironic/ironic.conf", EDITED)
    machine.output("systemctl", "enable", "--now", "ironic")
    # With Type=notify the command returns when the service serves.
    assert alive(machine) == {True}
    properties = shown(machine, "ironic", "User", "NRestarts", "WatchdogUSec", "StatusErrno", "NoNewPrivileges")
    assert properties["User"] == "ironic" and properties["NRestarts"] == "0"
    process = shown(machine, "ironic", "MainPID")["MainPID"]
    status = machine.output("cat", f"/proc/{process}/status")
    assert "CapBnd:\t0000000000000000" in status and "Seccomp:\t2" in status
    assert machine.output("stat", "--format", "%U %a", "/var/lib/ironic/ironic.sqlite") == "ironic 600"


def test_an_upgrade_starts_what_ran_again_and_keeps_what_the_site_has_set(machine: Machine, package: Path) -> None:
    process = shown(machine, "ironic", "MainPID")["MainPID"]
    machine.output("chmod", "0711", "/var/lib/ironic")
    edited = machine.output("cat", "/etc/ironic/ironic.conf")
    machine.output("test", "-e", "/usr/lib/ironic/lib/former.py")
    upgraded = machine.output(
        *("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet", "install", "--yes"),
        *("-o", "Dpkg::Options::=--force-confold", f"/var/cache/{package.name}"),
    )
    assert "ironic-dbsync upgrade" in upgraded
    assert machine.output("dpkg-query", "--show", "--showformat", "${Version}", "ironic") == f"{release()}-1"
    assert machine.output("cat", "/etc/ironic/ironic.conf") == edited
    assert "Of the former release" not in machine.output("cat", "/etc/ironic/ironic.conf.dpkg-dist")
    assert machine.output("stat", "--format", "%U:%G %a", "/etc/ironic/ironic.conf") == "root:ironic 640"
    assert machine.output("stat", "--format", "%U:%G %a", "/etc/ironic") == "root:ironic 750"
    assert machine.run("test", "-e", "/usr/lib/ironic/lib/former.py").returncode == 1
    wait(lambda: shown(machine, "ironic", "MainPID")["MainPID"] not in ("0", process), "the restart")
    wait(lambda: active(machine, "ironic"), "the service of the new release")
    assert alive(machine) == {True}
    assert [unit for unit in UNITS if active(machine, unit)] == ["ironic"]


def test_a_service_that_hangs_is_started_again(machine: Machine) -> None:
    limit(machine, "ironic", "WatchdogSec=3")
    machine.output("systemctl", "restart", "ironic")
    process = shown(machine, "ironic", "MainPID")["MainPID"]
    machine.output("sleep", "7")
    assert shown(machine, "ironic", "MainPID")["MainPID"] == process
    machine.output("kill", "-STOP", process)
    wait(lambda: shown(machine, "ironic", "MainPID")["MainPID"] not in ("0", process), "the watchdog")
    wait(lambda: active(machine, "ironic"), "the service after it hung")
    assert shown(machine, "ironic", "NRestarts")["NRestarts"] == "1"
    machine.output("rm", "-r", "/run/systemd/system/ironic.service.d")
    machine.output("systemctl", "daemon-reload")


def test_machines_are_deployed_and_taken_back_by_the_service_of_one_machine(
    machine: Machine, site: Site, root: Path
) -> None:
    # The site's TFTP server is another user.
    limit(machine, "ironic", "StateDirectoryMode=0711")
    machine.output("systemctl", "restart", "ironic")
    directories = ("/var/lib/ironic/hosts", "/var/lib/ironic/tftpboot")
    machine.output("install", "-d", "-o", "ironic", "-g", "ironic", *directories)
    machine.output(
        *("systemd-run", "--unit=dnsmasq", "dnsmasq", "--keep-in-foreground", "--log-facility=-", "--user=nobody"),
        *("--port=0", "--dhcp-range=127.0.0.10,127.0.0.20", "--dhcp-hostsdir=/var/lib/ironic/hosts"),
        *("--enable-tftp", "--tftp-root=/var/lib/ironic/tftpboot"),
    )
    drive = {"meta_data": {"name": "first"}, "user_data": "#cloud-config\n"}
    login = site.ipmi.driver_info()
    node = enrol_to_active(API, "ipmi", login, MACS[0], site.web, boot_interface="ipxe", config_drive=drive)
    machine.output("curl", "-sSf", "--max-time", "20", "--output", "/var/tmp/loader", "tftp://127.0.0.1/undionly.kpxe")
    machine.output("cmp", "/var/tmp/loader", "/usr/lib/ipxe/undionly.kpxe")
    active_to_available(API, node["uuid"])
    disk = image(machine)
    node = enrol_to_active(
        *(API, "redfish", site.redfish.driver_info(), MACS[1], site.web),
        instance_info=disk,
        config_drive=drive,
        boot_interface="redfish-virtual-media",
        served=root / "var" / "lib" / "ironic" / "httpboot",
    )
    active_to_available(API, node["uuid"])


def test_a_reload_takes_changed_options_and_a_stop_ends_consoles(machine: Machine, site: Site) -> None:
    process = shown(machine, "ironic", "MainPID")["MainPID"]
    write(machine, "/etc/ironic/ironic.conf", "[DEFAULT]\ndebug = true\n")
    assert " DEBUG " not in log(machine)
    machine.output("systemctl", "reload", "ironic")
    wait(lambda: " DEBUG " in log(machine), "the changed option")
    assert shown(machine, "ironic", "MainPID")["MainPID"] == process
    (node,) = call(API, "GET", "/v1/nodes?driver=ipmi").json()["nodes"]
    typed(node["uuid"], b"login: me\n")
    assert machine.run("pgrep", "socat").returncode == 0
    machine.output("systemctl", "stop", "ironic")
    assert shown(machine, "ironic", "Result")["Result"] == "success"
    assert machine.run("pgrep", "socat").returncode == 1


def test_services_that_need_an_upgrade_of_the_database_begin_after_it(machine: Machine) -> None:
    write(machine, "/etc/ironic/ironic.conf", SEVERAL)
    write(machine, "/etc/ironic/two.conf", SECOND)
    hashed = bcrypt.hashpw(SECRETS[2].encode(), bcrypt.gensalt(rounds=4)).decode()
    write(machine, "/etc/ironic/htpasswd-json-rpc", f"ironic:{hashed}\n")
    machine.output("chgrp", "ironic", "/etc/ironic/two.conf", "/etc/ironic/htpasswd-json-rpc")
    machine.output("chmod", "0640", "/etc/ironic/two.conf", "/etc/ironic/htpasswd-json-rpc")
    units = ("ironic-api", "ironic-conductor", "ironic-conductor@two")
    machine.output("systemctl", "--no-block", "enable", "--now", *units)
    wait(lambda: all(shown(machine, unit, "NRestarts")["NRestarts"] != "0" for unit in units), "the first attempts")
    machine.output("runuser", "-u", "ironic", "--", "ironic-dbsync", "upgrade")
    wait(lambda: all(active(machine, unit) for unit in units), "the services")
    wait(lambda: alive(machine) == {True}, "the conductors")


def test_a_machine_is_deployed_by_processes_that_call_each_other(machine: Machine, site: Site) -> None:
    login = site.redfish.driver_info()
    node = enrol_to_active(API, "redfish", login, MACS[1], site.web, boot_interface="ipxe")
    active_to_available(API, node["uuid"])


def test_a_conductor_that_is_stopped_finishes_its_work(machine: Machine, site: Site) -> None:
    machine.output("systemctl", "stop", "ironic-conductor@two")
    (node,) = call(API, "GET", "/v1/nodes?driver=redfish").json()["nodes"]
    path = f"/v1/nodes/{node['uuid']}"
    target = "power off" if node["power_state"] == "power on" else "power on"
    assert call(API, "PUT", f"{path}/states/power", {"target": target}).status_code == 202
    wait(lambda: call(API, "GET", path).json()["target_power_state"] == target, "the work")
    began = time.monotonic()
    machine.output("systemctl", "stop", "ironic-conductor")
    assert time.monotonic() - began > 1
    assert shown(machine, "ironic-conductor", "Result")["Result"] == "success"
    node = call(API, "GET", path).json()
    assert (node["power_state"], node["target_power_state"], node["reservation"]) == (target, None, None)
    assert node["last_error"] is None


def test_every_other_program_serves_under_its_unit_and_dnsmasq_reads_what_the_filter_writes(machine: Machine) -> None:
    # The proxy offers the page of noVNC, a package of its own.
    machine.output("mkdir", "-p", "/usr/share/novnc")
    machine.output("touch", "/usr/share/novnc/vnc_lite.html")
    units = [unit for unit in UNITS if unit != "ironic"]
    # The last one that starts sets the mode.
    for unit in units:
        limit(machine, unit, "StateDirectoryMode=0711")
    faults = {}
    for unit in units:
        done = machine.run("timeout", "60", "systemctl", "start", unit)
        if done.returncode != 0:
            faults[unit] = machine.run("journalctl", "--no-pager", "--unit", unit, "--lines", "30").stdout
    assert faults == {}
    assert {unit: active(machine, unit) for unit in units} == dict.fromkeys(units, True)
    heard = ("journalctl", "--no-pager", "--unit", "dnsmasq")
    wait(lambda: f"hosts/{MACS[1]}" in machine.output(*heard), "dnsmasq")
    # It says that it reads a file, then that it can't.
    time.sleep(0.5)
    assert "cannot read" not in machine.output(*heard)
    machine.output("systemctl", "stop", *units)
    assert {unit: shown(machine, unit, "Result")["Result"] for unit in units} == dict.fromkeys(units, "success")


def test_logs_have_no_secrets_and_are_rotated(machine: Machine) -> None:
    logs = machine.output("journalctl", "--no-pager") + machine.output("sh", "-c", "cat /var/log/ironic/*.log")
    assert "ironic-conductor" in logs and "DEBUG" in logs
    assert [secret for secret in SECRETS if secret in logs] == []
    machine.output("logrotate", "--force", "/etc/logrotate.d/ironic")
    machine.output("test", "-e", "/var/log/ironic/ironic.log.1")


def test_a_removal_stops_the_services_and_keeps_the_database(machine: Machine) -> None:
    machine.output("systemctl", "start", "ironic-api", "ironic-conductor@two")
    assert links(machine) == {
        "ironic.service",
        "ironic-api.service",
        "ironic-conductor.service",
        "ironic-conductor@two.service",
    }
    machine.output("touch", "/usr/lib/ironic/lib/driver_of_a_third_party.py")
    machine.output("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet", "remove", "--yes", "ironic")
    listed = machine.output("systemctl", "list-units", "--plain", "--no-legend", "--state=active", "ironic*")
    assert listed == ""
    assert machine.run("pgrep", "--uid", "ironic").stdout == ""
    assert links(machine) == set()
    for gone in ("/usr/bin/ironic", "/usr/lib/ironic"):
        assert machine.run("test", "-e", gone).returncode == 1
    for kept in ("/var/lib/ironic/ironic.sqlite", "/etc/ironic/ironic.conf"):
        machine.output("test", "-e", kept)
    machine.output("dpkg", "--purge", "ironic")
    assert machine.run("sh", "-c", "ls /etc/ironic").stdout.split() == ["htpasswd-json-rpc", "two.conf"]
    for gone in ("/etc/logrotate.d/ironic", "/var/log/ironic"):
        assert machine.run("test", "-e", gone).returncode == 1
    machine.output("test", "-e", "/var/lib/ironic/ironic.sqlite")


def shown(machine: Machine, unit: str, *names: str) -> dict[str, str]:
    lines = machine.output("systemctl", "show", unit, f"--property={','.join(names)}").splitlines()
    return dict(line.split("=", 1) for line in lines)


def active(machine: Machine, unit: str) -> bool:
    return shown(machine, unit, "ActiveState")["ActiveState"] == "active"


def alive(machine: Machine) -> set[bool]:
    words = ("curl", "-sSf", "--header", "X-OpenStack-Ironic-API-Version: 1.49")
    return {one["alive"] for one in json.loads(machine.output(*words, f"{API.url}/v1/conductors"))["conductors"]}


def wait(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.2)


def write(machine: Machine, path: str, text: str) -> None:
    """Add lines to a file of the machine."""
    machine.output("sh", "-c", f"cat >> {path} << 'END'\n{text}END")


def limit(machine: Machine, unit: str, line: str) -> None:
    """Give a unit a setting, as `systemctl edit --runtime` does."""
    machine.output("mkdir", "-p", f"/run/systemd/system/{unit}.service.d")
    write(machine, f"/run/systemd/system/{unit}.service.d/site.conf", f"[Service]\n{line}\n")
    machine.output("systemctl", "daemon-reload")


def log(machine: Machine) -> str:
    return machine.output("cat", "/var/log/ironic/ironic.log")


def links(machine: Machine) -> set[str]:
    """Return the units that the administrator has enabled."""
    return {
        *machine.output("find", "/etc/systemd/system", "-type", "l", "-name", "ironic*", "-printf", "%f\\n").split()
    }


def image(machine: Machine) -> dict[str, Any]:
    """Make an image on the machine that the service converts; return what a node needs to name it."""
    path = "/var/lib/ironic/images/disk.qcow2"
    machine.output(
        "sh", "-c", f"head -c 3M /dev/urandom > /var/tmp/disk && qemu-img convert -O qcow2 /var/tmp/disk {path}"
    )
    machine.output("chmod", "0644", path)
    checksum = machine.output("sha256sum", path).split()[0]
    return {"image_source": f"file://{path}", "image_checksum": checksum, "image_disk_format": "qcow2"}


def typed(uuid: str, text: bytes) -> None:
    """Open the serial console of a node, and type until the machine answers in capitals."""
    path = f"/v1/nodes/{uuid}/states/console"
    assert call(API, "PUT", path, {"enabled": True}).status_code == 202
    wait(lambda: call(API, "GET", path).json()["console_enabled"], "the console")
    with contextlib.closing(Viewer(call(API, "GET", path).json()["console_info"]["url"])) as viewer:
        viewer.read_until(b"SOL Session operational")
        wait(lambda: text.strip().upper() in viewer.asked(text), "the machine")
