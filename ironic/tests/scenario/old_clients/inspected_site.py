"""The all-in-one service with the API of the standalone inspector, and machines that boot their own ramdisk."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from ironic.tests.live_service import Options, Service, all_in_one, free_port, write_options
from ironic.tests.repository import tool
from ironic.tests.scenario.clients.lab import eventually

MAC = "52:54:00:00:00:01"
# Organisationally specific, 802.1, VLAN name: VLAN 101.
VLAN = [127, "0080c203" + "0065" + "03" + "763130"]
REPORT: dict[str, Any] = {
    "inventory": {
        "interfaces": [
            {
                "name": "eth0",
                "mac_address": MAC,
                "ipv4_address": "192.0.2.9",
                "has_carrier": True,
                "lldp": [[1, "04112233aabbcc"], [2, "0545746831"], VLAN],
            },
            {"name": "eth1", "mac_address": "52:54:00:00:00:02", "has_carrier": True},
        ],
        "cpu": {"architecture": "x86_64", "count": 4},
        "memory": {"physical_mb": 4096},
    },
    "data": [["disk", "sda", "size", "10"]],
}


@dataclass(frozen=True)
class Site:
    """The running service."""

    service: Service
    old_url: str

    def call(self, method: str, path: str, body: Any = None) -> requests.Response:
        """Ask the bare metal API."""
        headers = {"X-OpenStack-Ironic-API-Version": "1.115"}
        return requests.request(method, f"{self.service.url}/v1/{path}", json=body, headers=headers, timeout=30)

    def machine(self, name: str = "one", mac: str = MAC) -> str:
        """Create a machine that can be inspected; return its UUID."""
        body = {"driver": "fake-hardware", "name": name, "inspect_interface": "agent"}
        uuid = str(self.call("POST", "nodes", body).json()["uuid"])
        assert self.call("POST", "ports", {"node_uuid": uuid, "address": mac}).status_code == 201
        assert self.call("PUT", f"nodes/{name}/states/provision", {"target": "manage"}).status_code == 202
        self.wait_for(name, "manageable")
        return uuid

    def wait_for(self, node: str, state: str) -> dict[str, Any]:
        """Wait until a node is in a state and not locked; return it."""

        def look() -> dict[str, Any] | None:
            found: dict[str, Any] = self.call("GET", f"nodes/{node}").json()
            return found if found["provision_state"] == state and found["reservation"] is None else None

        return eventually(look)

    def post(self, report: Any = REPORT) -> requests.Response:
        """Post inspection data as a ramdisk does, until the node takes them."""
        return eventually(lambda: self._accepted(report))

    def _accepted(self, report: Any) -> requests.Response | None:
        answer = requests.post(f"{self.old_url}/v1/continue", json=report, timeout=30)
        return answer if answer.status_code == 200 else None

    def inspect(self, node: str) -> None:
        """Inspect a node without any client."""
        assert requests.post(f"{self.old_url}/v1/introspection/{node}", timeout=30).status_code == 202
        self.wait_for(node, "inspect wait")
        self.post()
        self.wait_for(node, "manageable")

    def clear(self) -> None:
        """Remove all that a test has made, in whatever state it is."""
        for node in self.call("GET", "nodes").json()["nodes"]:
            self._until(202, "PUT", f"nodes/{node['uuid']}/maintenance")
            self._until(204, "DELETE", f"nodes/{node['uuid']}")
        assert self.call("DELETE", "inspection_rules").status_code == 204

    def _until(self, status: int, method: str, path: str) -> None:
        eventually(lambda: self.call(method, path).status_code == status)


OPTIONS: Options = {
    "inspector": {
        "require_managed_boot": False,
        "hooks": "$default_hooks,extra-hardware,memory,parse-lldp",
    },
    "conductor": {"sync_power_state_interval": 0},
}


@contextmanager
def open_site(directory: Path) -> Iterator[Site]:
    """Run the service until the block ends."""
    port, old = free_port(), free_port()
    address: Options = {"inspector_api": {"enabled": True, "host_ip": "127.0.0.1", "port": old}}
    configuration = [
        tool("run").configure(directory / "service", port),
        write_options(directory / "old.conf", {**OPTIONS, **address}),
    ]
    with all_in_one(configuration, directory / "service" / "ironic.log", port) as service:
        yield Site(service, f"http://127.0.0.1:{old}")
    assert "Traceback" not in service.log
