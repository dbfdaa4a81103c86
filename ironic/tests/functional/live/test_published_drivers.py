"""Published drivers at work: a machine's life with Wake-on-LAN, and a BIOS reset of a Lenovo machine."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.agent_double import agent_double
from ironic.tests.functional.drivers.scripted_bmc import RESET, SYSTEM, ScriptedBmc, scripted_bmc
from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.functional.live.ramdisk import Ramdisk
from ironic.tests.live_service import Service, create_database, free_port, write_options
from ironic.tests.out_of_tree import lay_out
from ironic.tests.repository import tool

MAC = "52:54:00:00:00:01"
BIOS = f"{SYSTEM}/Bios"
PENDING = f"{BIOS}/Settings"
LINK = "MellanoxNetworkAdapter__Slot1_NetworkLinkType"


# A DHCP provider of a third party, which writes down what it is given.
PROVIDER = """
import json, pathlib
from ironic.dhcp import base

class Noting(base.BaseDHCP):
    def update_port_dhcp_opts(self, port_id, dhcp_options, context=None):
        raise AssertionError(f"one port alone: {port_id}")

    def update_dhcp_opts(self, task, options, vifs=None):
        self._note("serve", task, {one["opt_name"]: one["opt_value"] for one in options})

    def clean_dhcp_opts(self, task):
        self._note("clean", task, [port.address for port in task.ports])

    def _note(self, what, task, found):
        with pathlib.Path(__file__).with_name("calls").open("a") as file:
            print(json.dumps([what, task.node.uuid, found]), file=file)
"""


@pytest.fixture(scope="module")
def dhcp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the provider; return its directory."""
    module = tmp_path_factory.mktemp("dhcp") / "noting_dhcp.py"
    module.write_text(PROVIDER)
    return lay_out(module.parent / "installed", module, "[ironic.dhcp]\nnoting = noting_dhcp:Noting\n")


@pytest.fixture(scope="module")
def service(dhcp: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run the service with the published packages on its path."""
    directory, port = tmp_path_factory.mktemp("service"), free_port()
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "auth_strategy": "noauth",
            "rpc_transport": "none",
            "host": "conductor-1",
            "state_path": directory,
            "log_file": directory / "service.log",
            "enabled_hardware_types": "staging-wol,lenovo",
            "enabled_power_interfaces": "staging-wol,redfish",
            "enabled_management_interfaces": "noop,redfish",
            "enabled_bios_interfaces": "redfish-bluefield-ethernet,no-bios",
            "enabled_boot_interfaces": "pxe",
            "enabled_deploy_interfaces": "custom-agent",
            "enabled_inspect_interfaces": "no-inspect",
            "enabled_firmware_interfaces": "no-firmware",
            "enabled_console_interfaces": "no-console",
            "enabled_raid_interfaces": "no-raid",
            "enabled_vendor_interfaces": "no-vendor",
        },
        "api": {"host_ip": "127.0.0.1", "port": port},
        "database": {"connection": f"sqlite:///{directory}/service.sqlite"},
        "service_catalog": {"endpoint_override": f"http://127.0.0.1:{port}"},
        "conductor": {
            "sync_power_state_interval": 0,
            "deploy_kernel": f"file://{directory}/images/kernel",
            "deploy_ramdisk": f"file://{directory}/images/ramdisk",
            "file_url_allowed_paths": directory / "images",
        },
        "deploy": {"erase_devices_priority": 0, "erase_devices_metadata_priority": 0},
        "agent": {"deploy_logs_collect": "never", "post_deploy_get_power_state_retries": 0},
        "pxe": {"tftp_root": _with_boot_programs(directory / "tftp"), "tftp_master_path": directory / "masters"},
        "dhcp": {"dhcp_provider": "noting"},
        "redfish": {"firmware_update_status_interval": 1, "connection_attempts": 1},
    }
    (directory / "images").mkdir()
    for name in ("kernel", "ramdisk"):
        (directory / "images" / name).write_bytes(name.encode() * 100)
    configuration = [write_options(directory / "ironic.conf", options)]
    create_database(*configuration)
    packages = {"PYTHONPATH": os.pathsep.join([str(tool("plug_in_packages").ensure()), str(dhcp)])}
    running = Service("ironic", configuration, directory / "service.log", port, packages)
    running.await_ready()
    yield running
    assert running.stop() == 0


def _with_boot_programs(directory: Path) -> Path:
    directory.mkdir()
    return directory


class WakeUps:
    """A receiver of the packets that wake machines."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.received: list[bytes] = []
        self._reader = threading.Thread(target=self._receive)
        self._reader.start()

    def _receive(self) -> None:
        while (packet := self._socket.recv(1024)) != b"end":
            self.received.append(packet)

    def close(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"end", ("127.0.0.1", self.port))
        self._reader.join()
        self._socket.close()


@pytest.fixture
def wake_ups() -> Iterator[WakeUps]:
    made = WakeUps()
    yield made
    made.close()


def provide(service: Service, uuid: str, verb: str, state: str, **more: Any) -> dict[str, Any]:
    answer = ask(service, uuid, verb, **more)
    assert answer.status_code == 202, answer.text
    return follow(service, uuid, state)


def work_through(service: Service, uuid: str, ramdisk: Ramdisk, state: str) -> dict[str, Any]:
    """End each step that the ramdisk is given until the node has come to a state; return the last look."""
    deadline = time.monotonic() + 60
    while True:
        node: dict[str, Any] = call(service, "GET", f"/v1/nodes/{uuid}").json()
        if node["provision_state"] == state:
            return follow(service, uuid, state)
        assert time.monotonic() < deadline, (node["provision_state"], node["last_error"])
        if any(command["command_status"] == "RUNNING" for command in ramdisk.agent.commands):
            ramdisk.end()
        time.sleep(0.05)


def test_a_machine_lives_with_a_published_power_interface(service: Service, wake_ups: WakeUps, dhcp: Path) -> None:
    packet = bytes.fromhex("ff" * 6 + MAC.replace(":", "") * 16)
    info = {"wol_host": "127.0.0.1", "wol_port": wake_ups.port}
    created = call(service, "POST", "/v1/nodes", {"driver": "staging-wol", "driver_info": info})
    assert created.status_code == 201, created.text
    uuid = created.json()["uuid"]
    refused = call(service, "GET", f"/v1/nodes/{uuid}/validate").json()["power"]
    assert (refused["result"], "at least one port" in refused["reason"]) == (False, True)
    assert call(service, "POST", "/v1/ports", {"node_uuid": uuid, "address": MAC}).status_code == 201
    assert provide(service, uuid, "manage", "manageable")["power_state"] == "power off"
    with agent_double(tls=True) as agent:
        ramdisk = Ramdisk(service, agent, uuid, MAC)
        assert ask(service, uuid, "provide").status_code == 202
        ramdisk.boot()
        work_through(service, uuid, ramdisk, "available")
        assert "clean.get_clean_steps" in agent.names
        assert wake_ups.received == [packet]
        step = {"interface": "deploy", "step": "erase_devices_metadata", "priority": 50, "args": {}}
        assert ask(service, uuid, "active", deploy_steps=[step]).status_code == 202
        ramdisk.boot()
        assert ramdisk.next_step()["step"] == "erase_devices_metadata"
        node = work_through(service, uuid, ramdisk, "active")
        assert (node["power_state"], node["power_interface"]) == ("power on", "staging-wol")
        assert wake_ups.received == [packet] * len(wake_ups.received) and len(wake_ups.received) >= 3
        assert ask(service, uuid, "deleted").status_code == 202
        ramdisk.boot()
        work_through(service, uuid, ramdisk, "available")
    provide(service, uuid, "manage", "manageable")
    calls = [json.loads(line) for line in (dhcp / "calls").read_text().splitlines()]
    assert {node for _what, node, _found in calls} == {uuid}
    # To clean, to deploy and to clean again.
    served = [found for what, _node, found in calls if what == "serve"]
    assert len(served) == 3 and all(found.keys() == {"59", "66", "67", "150", "255"} for found in served)
    assert calls[-1] == ["clean", uuid, [MAC]]
    assert call(service, "DELETE", f"/v1/nodes/{uuid}").status_code == 204
    assert call(service, "GET", f"/v1/nodes/{uuid}").status_code == 404


@pytest.fixture
def bmc() -> Iterator[ScriptedBmc]:
    """Run a BMC whose machine has a card that a reset of its settings changes."""
    with scripted_bmc("On", Bios={"@odata.id": BIOS}, BootProgress={"LastState": "OSRunning"}) as script:
        attributes = {LINK: "Ethernet", "Turbo": "On"}
        script.documents |= {
            BIOS: {
                "Id": "Bios",
                "Attributes": attributes,
                "Actions": {"#Bios.ResetBios": {"target": f"{BIOS}/Reset"}},
                "@Redfish.Settings": {"SettingsObject": {"@odata.id": PENDING}},
            },
            PENDING: {"Id": "Settings", "Attributes": {}},
        }

        def start(_kind: str) -> None:
            paths = [path for path, _body in script.orders]
            if f"{BIOS}/Reset" in paths:
                attributes[LINK] = "Infiniband"
            for path, body in script.orders:
                if path == PENDING:
                    attributes.update(body["Attributes"])

        script.on_reset = start
        yield script


def test_a_reset_of_a_published_bios_interface_keeps_its_cards(service: Service, bmc: ScriptedBmc) -> None:
    info = {"redfish_address": bmc.address, "redfish_system_id": SYSTEM}
    created = call(service, "POST", "/v1/nodes", {"driver": "lenovo", "driver_info": info})
    assert created.status_code == 201, created.text
    node = created.json()
    uuid = node["uuid"]
    assert node["bios_interface"] == "redfish-bluefield-ethernet"
    provide(service, uuid, "manage", "manageable")
    step = {"interface": "bios", "step": "factory_reset", "args": {}}
    answer = ask(service, uuid, "clean", clean_steps=[step], disable_ramdisk=True)
    assert answer.status_code == 202, answer.text
    found = follow(service, uuid, "manageable")
    assert found["last_error"] is None
    orders = [path for path, _body in bmc.orders]
    assert orders.index(f"{BIOS}/Reset") < orders.index(PENDING) < orders.index(RESET)
    shown = call(service, "GET", f"/v1/nodes/{uuid}/bios/{LINK}").json()[LINK]
    assert shown["value"] == "Ethernet"
    assert call(service, "DELETE", f"/v1/nodes/{uuid}").status_code == 204
