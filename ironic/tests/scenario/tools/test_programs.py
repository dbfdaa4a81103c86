"""Tools that start the API under a WSGI server and conductors beside it: by containers, charts, roles and scripts."""

import os
import re
import signal
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from ironic.db import schema
from ironic.tests.databases import empty_database
from ironic.tests.forked_programs import ForkedProgram
from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.functional.live.test_live_check import SCRIPT
from ironic.tests.live_service import PROGRAMS, Service, free_port, listens
from ironic.tests.scenario.tools.conftest import Enrol
from ironic.tests.scenario.tools.rendered import Tool
from ironic.tests.site import BROKER, HEADERS, eventually, until

# The kernel keeps so much of a program's name.
COMM_LENGTH = 15
NOOP = {"OS_DEFAULT__ENABLED_NETWORK_INTERFACES": "noop", "OS_DEFAULT__DEFAULT_NETWORK_INTERFACE": "noop"}


def place(tool: Tool, broker: bool = True) -> None:
    """Name what a site has of its own: directories, a database, a broker."""
    tool.environment |= {
        **tool.directories(),
        "OS_DATABASE__CONNECTION": f"sqlite:///{tool.directory}/ironic.sqlite",
        "OS_DEFAULT__AUTH_STRATEGY": "noauth",
        "OS_DEFAULT__HOST": f"tool-{uuid.uuid4().hex[:8]}",
    }
    if broker:
        exchange = f"tool{uuid.uuid4().hex[:8]}"
        tool.environment |= {"OS_DEFAULT__TRANSPORT_URL": BROKER, "OS_DEFAULT__CONTROL_EXCHANGE": exchange}


def synchronize(tool: Tool, *commands: str) -> None:
    """Run the commands of the tool's job in its order; an empty one is the program without a command."""
    for command in commands:
        status, printed = tool.run("ironic-dbsync", *command.split())
        assert status == 0, printed


def ends_well(service: Service) -> None:
    """End a program as containers and units do."""
    service.signal(signal.SIGTERM)
    assert service.end()[0] == 0
    assert "Traceback" not in service.log


def is_connected(process: int, port: int) -> bool:
    """Return whether a process has a connection to a port of the loopback, as the health check of Kolla looks."""
    sockets = {os.readlink(path) for path in Path(f"/proc/{process}/fd").iterdir() if path.is_symlink()}
    rows = [line.split() for line in Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]]
    return any(f"socket:[{row[9]}]" in sockets and int(row[2].partition(":")[2], 16) == port for row in rows)


_AT_ONCE = 4


def processes_that_ask_conductors(tool: Tool) -> set[str]:
    """Ask for what a conductor knows; return the processes of uWSGI that have answered such questions so far.

    Several ask at once: one process may answer all questions that come one after another.
    """
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(lambda _number: call(tool.api, "GET", "/v1/drivers/ipmi/properties"), range(_AT_ONCE)))
    answered = r"^\[pid: (\d+)\|.*GET /v1/drivers/\S+/?properties\S* => .*\(HTTP/1.1 200\)"
    return set(re.findall(answered, (tool.directory / "uwsgi.log").read_text(), re.MULTILINE))


@pytest.mark.parametrize("kind", ["sqlite", "mariadb", "postgresql"])
def test_upgrades_at_once(kind: str, tmp_path: Path) -> None:
    with Tool("kolla", tmp_path) as kolla, empty_database(kind, tmp_path) as database:
        variables = {**os.environ, **kolla.environment, "OS_DATABASE__CONNECTION": database}
        command = [str(PROGRAMS / "ironic-dbsync"), *kolla.words, "upgrade"]
        jobs = [ForkedProgram(command, variables) for _ in range(3)]
        printed = [job.communicate(timeout=120)[0] for job in jobs]
        assert [job.wait() for job in jobs] == [0] * len(jobs), printed
        # They did meet, and all saw the same end.
        assert any("this one waits for its end" in each for each in printed)
        assert all(f"is at version {schema.head()}." in each for each in printed)


def test_kolla_ansible(tmp_path: Path, enrol_to_active: Enrol) -> None:
    with Tool("kolla", tmp_path) as kolla:
        place(kolla)
        synchronize(kolla, "upgrade", "online_data_migrations")
        said = kolla.refusal("ironic-conductor")
        assert "network interface flat is asked for" in said
        kolla.environment |= {"OS_DEFAULT__ENABLED_NETWORK_INTERFACES": "noop"}
        assert "default_network_interface" in kolla.refusal("ironic-conductor")
        kolla.environment |= NOOP
        conductor = kolla.start("ironic-conductor", from_scratch=True)
        kolla.serve(processes=2)
        conductor.await_ready()
        # The health checks: a process of this name with a connection to the broker, and / by GET and OPTIONS.
        assert Path(f"/proc/{conductor.process_id}/comm").read_text().strip() == "ironic-conductor"[:COMM_LENGTH]
        assert is_connected(conductor.process_id, 5672)
        # A process of uWSGI connects to the broker when it is asked first, and waits for it only so long.
        until(lambda: len(processes_that_ask_conductors(kolla)) == 2)
        assert requests.get(kolla.api.url, timeout=30).status_code == 200
        assert requests.options(kolla.api.url, timeout=30).status_code == 200
        node = enrol_to_active(kolla.api, "ipmi")
        # A body in chunks, of which uWSGI passes on nothing, is not taken for an empty one.
        path = f"{kolla.api.url}/v1/nodes/{node['uuid']}/vendor_passthru?method=send_raw"
        refused = requests.post(path, data=iter([b'{"raw_bytes": "0x00"}']), headers=HEADERS, timeout=30)
        assert (refused.status_code, "Content-Length" in refused.text) == (411, True), refused.text
        # The processes of uWSGI have the same nodes, and nothing went wrong in them.
        listed = [call(kolla.api, "GET", "/v1/nodes").json()["nodes"] for _ in range(8)]
        assert [[each["uuid"] for each in nodes] for nodes in listed] == [[node["uuid"]]] * 8
        assert "Traceback" not in (tmp_path / "uwsgi.log").read_text()
        # What the script of an upgrade waits for: no state with this word.
        assert "wait" not in node["provision_state"]
        ends_well(conductor)


def test_openstack_helm(tmp_path: Path, enrol_to_active: Enrol) -> None:
    with Tool("openstack-helm", tmp_path) as chart:
        place(chart)
        synchronize(chart, "upgrade", "online_data_migrations")
        parts = tmp_path / "ironic.conf.d"
        parts.mkdir()
        (tmp_path / "logging.conf").write_text(LOGGING.format(tmp_path))
        (tmp_path / "conductor-local-ip.conf").write_text("[DEFAULT]\nmy_ip = 127.0.0.1\n")
        (parts / "log.conf").write_text(f"[DEFAULT]\nlog_config_append = {tmp_path}/logging.conf\n")
        chart.words += ["--config-file", str(tmp_path / "conductor-local-ip.conf"), "--config-dir", str(parts)]
        assert "network interface flat is asked for" in (chart.refusal("ironic-conductor") + log_of(tmp_path))
        chart.environment |= NOOP
        conductor = chart.start("ironic-conductor", log="from-logging.log")
        chart.serve()
        conductor.await_ready()
        assert requests.get(f"{chart.api.url}/", timeout=30).status_code == 200
        node = enrol_to_active(chart.api, "ipmi")
        # The template below $pybasedir is the one of this service, and the old name of the parameters counts.
        assert node["boot_interface"] == "ipxe"
        assert ask(chart.api, node["uuid"], "rebuild").status_code == 202
        follow(chart.api, node["uuid"], "wait call-back")
        script = (tmp_path / "httpboot" / node["uuid"] / "config").read_text()
        assert script.startswith("#!ipxe\n")
        (kernel,) = (line for line in script.splitlines() if line.startswith("kernel "))
        assert f"/{node['uuid']}/deploy_kernel " in kernel
        assert " nofb nomodeset vga=normal ipa-debug=1 " in kernel
        assert "Without effect: [glance]glance_host" in conductor.log
        ends_well(conductor)


LOGGING = """\
[loggers]
keys = root
[handlers]
keys = file
[formatters]
keys = plain
[logger_root]
level = INFO
handlers = file
[handler_file]
class = FileHandler
args = ("{}/from-logging.log",)
formatter = plain
[formatter_plain]
format = %(asctime)s %(process)d %(levelname)s %(name)s %(message)s
"""


def log_of(directory: Path) -> str:
    """Return all that was logged below a directory."""
    return "".join(path.read_text() for path in directory.glob("*.log"))


def test_openstack_ansible(tmp_path: Path, enrol_to_active: Enrol) -> None:
    # The journal is there where the role has installed its binding; what is tested runs without.
    with Tool("openstack-ansible", tmp_path, [("use_journal = True", "use_journal = False")]) as role:
        place(role)
        synchronize(role, "upgrade")
        assert "network interface flat is asked for" in role.refusal("ironic-conductor")
        role.environment |= NOOP
        conductor = role.start("ironic-conductor")
        role.serve()
        conductor.await_ready()
        drivers = call(role.api, "GET", "/v1/drivers").json()["drivers"]
        # Types that were removed are skipped; the port range has quotes, the old groups are empty.
        assert [driver["name"] for driver in drivers] == ["ipmi"]
        assert enrol_to_active(role.api, "ipmi")["console_interface"] == "ipmitool-socat"
        ends_well(conductor)


def test_kubernetes_operator(tmp_path: Path, enrol_to_active: Enrol) -> None:
    with empty_database("mariadb", tmp_path) as database, Tool("k8s-operator", tmp_path) as operator:
        place(operator, broker=False)
        parts = tmp_path / "conf.d"
        parts.mkdir()
        operator.words += ["--config-dir", str(parts)]
        operator.environment |= {
            "OS_DATABASE__CONNECTION": database,
            "OS_DEFAULT__HOST": "127.0.0.1",
            # A port of the test; the operator gives 8089 a service per conductor.
            "OS_JSON_RPC__PORT": str(free_port()),
        }
        # The script of its job goes on after 0 and 1, with a database that is empty as well.
        assert operator.run("ironic-status", "upgrade", "check")[0] in (0, 1)
        synchronize(operator, "", "online_data_migrations")
        conductor = operator.start("ironic-conductor")
        operator.serve()
        conductor.await_ready()
        assert requests.get(f"{operator.api.url}/v1", timeout=30).status_code == 200
        drivers = {driver["name"] for driver in call(operator.api, "GET", "/v1/drivers").json()["drivers"]}
        assert drivers == {"ipmi", "fake-hardware", "redfish", "manual-management"}
        # The probe of its conductors, whose name has the port here.
        assert live_check(operator) == (0, "")
        enrol_to_active(operator.api, "redfish")
        ends_well(conductor)
        assert live_check(operator)[0] == 1


def live_check(tool: Tool) -> tuple[int, str]:
    """Return the exit status and the errors of the live check with the options of a tool."""
    environment = {**os.environ, **tool.environment, "IRONIC_CONFIG_FILE": str(tool.file)}
    words = [sys.executable, "-c", SCRIPT]
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stderr


def test_devstack(tmp_path: Path, enrol_to_active: Enrol) -> None:
    loader = tmp_path / "snponly.efi"
    loader.write_bytes(b"a boot loader")
    line = "loader_file_paths = snponly.efi:/usr/lib/ipxe/snponly.efi"
    with Tool("devstack", tmp_path, [(line, f"loader_file_paths = snponly.efi:{loader}")]) as script:
        place(script)
        script.words = [f"--config-file={script.file}"]
        # A mask that would give another mode than the option.
        script.within = ["sh", "-c", 'umask 077 && exec "$0" "$@"']
        synchronize(script, "")
        assert script.run("ironic-status", "upgrade", "check")[0] == 0
        script.serve("/baremetal")
        conductor = script.start("ironic-conductor")
        port, pages = free_port(), tmp_path / "novnc"
        pages.mkdir()
        script.environment |= {"OS_VNC__PORT": str(port), "OS_VNC__NOVNC_WEB": str(pages)}
        proxy = script.start("ironic-novncproxy")
        conductor.await_ready()
        eventually(lambda: listens(port), True)
        root = requests.get(f"{script.api.url}/", timeout=30).json()
        assert root["default_version"]["links"][0]["href"] == f"{script.api.url}/v1/"
        node = enrol_to_active(script.api, "ipmi")
        assert node["links"][0]["href"].startswith(f"{script.api.url}/v1/nodes/")
        ends_well(proxy)
        ends_well(conductor)
        # The decimal number of 0755.
        made = [path for path in (tmp_path / "httpboot").iterdir() if path.is_dir()]
        assert made and all(path.stat().st_mode & 0o777 == 0o755 for path in made)


def test_understack(tmp_path: Path, enrol_to_active: Enrol) -> None:
    loader = tmp_path / "snponly.efi"
    loader.write_bytes(b"a boot loader")
    line = "loader_file_paths = ipxe.efi:/usr/lib/ipxe/snponly.efi"
    with Tool("understack", tmp_path, [(line, f"loader_file_paths = ipxe.efi:{loader}")]) as chart:
        place(chart)
        synchronize(chart, "upgrade", "online_data_migrations")
        said = chart.refusal("ironic-conductor")
        assert "no hardware type netdev" in said and "network interface neutron is asked for" in said
        chart.environment |= {
            **NOOP,
            "OS_DEFAULT__ENABLED_HARDWARE_TYPES": "redfish,idrac,manual-management",
            # Those of the DHCP server, which the chart mounts.
            "OS_DNSMASQ__DHCP_HOSTSDIR": str(tmp_path),
            "OS_DNSMASQ__DHCP_OPTSDIR": str(tmp_path),
        }
        conductor = chart.start("ironic-conductor")
        chart.serve()
        conductor.await_ready()
        drivers = {driver["name"] for driver in call(chart.api, "GET", "/v1/drivers").json()["drivers"]}
        assert drivers == {"redfish", "manual-management"}
        assert "are skipped, as this release does not have them: hardware type idrac" in conductor.log
        answer = call(chart.api, "POST", "/v1/nodes", {"driver": "idrac"})
        assert (answer.status_code, "idrac" in answer.text) == (400, True), answer.text
        enrol_to_active(chart.api, "redfish")
        ends_well(conductor)


def test_sap(tmp_path: Path, enrol_to_active: Enrol) -> None:
    with Tool("sap", tmp_path) as chart:
        place(chart)
        with empty_database("postgresql", tmp_path) as database:
            chart.environment |= {"OS_DATABASE__CONNECTION": database, "IRONIC_THREAD_STACK_SIZE": "8388608"}
            chart.environment |= {"OS_API__PORT": str(chart.port), "OS_API__HOST_IP": "127.0.0.1"}
            synchronize(chart, "upgrade", "online_data_migrations")
            assert "network interface neutron is asked for" in chart.refusal("ironic-conductor")
            chart.environment |= NOOP
            conductor, api = chart.start("ironic-conductor"), chart.start("ironic-api")
            conductor.await_ready()
            api.await_ready()
            enrol_to_active(chart.api, "ipmi")
            ends_well(api)
            ends_well(conductor)
