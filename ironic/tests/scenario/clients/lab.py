"""One service for all stock clients: fake machines, one with a Redfish BMC, and a driver of a third party.

The fake interfaces do everything that shows in a node's row. What only a machine can show (boot mode, secure boot, a
signal) comes from a Redfish emulator, and what no driver of ours has (methods of the driver itself) from `lab_driver`.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import requests

from ironic.tests.live_service import Options, Service, create_database, free_port, write_options
from ironic.tests.redfish_bmc import RedfishBmc, redfish_bmc
from ironic.tests.repository import tool
from ironic.tests.scenario.clients import lab_driver

PATIENCE = 60
VERSION = "1.115"
Seen = TypeVar("Seen")

OPTIONS: Options = {
    "DEFAULT": {
        "debug": True,
        "enabled_console_interfaces": "fake, no-console, ipmitool-socat",
        "enabled_deploy_interfaces": "fake, direct",
        "enabled_hardware_types": "fake-hardware, lab, redfish",
        "enabled_management_interfaces": "fake, lab, noop, redfish",
        "enabled_network_interfaces": "lab, noop",
        "enabled_vendor_interfaces": "fake, lab, no-vendor",
    },
    # Lists of more than this come in pages.
    "api": {"max_limit": 20},
    # The machines change their power by command only.
    "conductor": {"sync_power_state_interval": 0},
    "fake": {"deploy_delay": 0},
    # Serial consoles are asked of simulated BMCs, or of none.
    "console": {"socat_address": "127.0.0.1"},
    "ipmi": {"min_command_interval": 0},
}


@dataclass(frozen=True)
class Lab:
    """The running service, and what stands around it."""

    service: Service
    bmc: RedfishBmc

    @property
    def url(self) -> str:
        """Where the API answers."""
        return self.service.url

    def call(self, method: str, path: str, body: Any = None, version: str = VERSION) -> requests.Response:
        """Ask the API without any client between."""
        headers = {"X-OpenStack-Ironic-API-Version": version}
        return requests.request(method, f"{self.url}/v1/{path}", json=body, headers=headers, timeout=30)

    def shown(self, path: str) -> Any:
        """Return a document of the API."""
        answer = self.call("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def enroll(self, name: str, state: str = "enroll", driver: str = "fake-hardware", **fields: Any) -> str:
        """Create a machine and bring it into a state; return its UUID."""
        created = self.call("POST", "nodes", {"driver": driver, "name": name, **fields})
        assert created.status_code == 201, created.text
        for verb, reached in WAYS[state]:
            self.provision(name, verb, reached)
        return str(created.json()["uuid"])

    def provision(self, node: str, verb: str, reached: str, **more: Any) -> None:
        """Send a verb and wait for the state it ends in."""
        answer = self.call("PUT", f"nodes/{node}/states/provision", {"target": verb, **more})
        assert answer.status_code == 202, answer.text
        self.wait_for(node, provision_state=reached)

    def wait_for(self, node: str, **fields: Any) -> dict[str, Any]:
        """Wait until a node has these values and is not locked; return it, or raise with its error."""

        def is_there(found: dict[str, Any]) -> bool:
            if found["reservation"] is not None:
                return False
            is_so = all(found[name] == value for name, value in fields.items())
            assert is_so or "fail" not in found["provision_state"], (found["provision_state"], found["last_error"])
            return is_so

        found: dict[str, Any] = self.wait_until(f"nodes/{node}", is_there)
        return found

    def wait_until(self, path: str, judge: Callable[[Any], Any]) -> Any:
        """Wait until a document is as it should be; return it."""

        def look() -> tuple[Any] | None:
            found = self.shown(path)
            # An empty document may be what is waited for.
            return (found,) if judge(found) else None

        return eventually(look)[0]

    def power(self, node: str, state: str) -> None:
        """Power a node on or off; before the first time its power is unknown."""
        assert self.call("PUT", f"nodes/{node}/states/power", {"target": state}).status_code == 202
        self.wait_for(node, power_state=state)

    def redfish_node(self, name: str) -> str:
        """Enroll the machine of the Redfish emulator; return its UUID."""
        return self.enroll(
            name, "manageable",
            power_interface="redfish", management_interface="redfish", driver_info=self.bmc.driver_info(),
        )  # fmt: skip

    def machine(self, part: str = "") -> Any:
        """Ask the emulator about its machine; or about a part of it, the emulator's own word given."""
        url = f"{self.bmc.address}/redfish/v1/Systems/{self.bmc.systems[0]['uuid']}"
        return requests.get(f"{url}/{part}".rstrip("/"), timeout=30).json()

    def clear(self) -> None:
        """Remove all that tests have made, in whatever state it is."""
        while nodes := self.shown("nodes?include_children=true&fields=uuid,parent_node")["nodes"]:
            for node in sorted(nodes, key=lambda node: node["parent_node"] is None):
                self._forget(node["uuid"])
        for collection in COLLECTIONS:
            for one in self.shown(collection)[collection]:
                assert self.call("DELETE", f"{collection}/{one['uuid']}").status_code == 204

    def _forget(self, node: str) -> None:
        # A lock is released in a moment.
        eventually(lambda: self.call("PUT", f"nodes/{node}/maintenance").status_code == 202)
        eventually(lambda: self.call("DELETE", f"nodes/{node}").status_code in (204, 404))


COLLECTIONS = ("allocations", "chassis", "deploy_templates", "runbooks", "inspection_rules")
_MANAGED = [("manage", "manageable")]
_OFFERED = [*_MANAGED, ("provide", "available")]
WAYS = {
    "enroll": [],
    "manageable": _MANAGED,
    "available": _OFFERED,
    "active": [*_OFFERED, ("active", "active")],
}


def eventually(look: Callable[[], Seen | None], patience: float = PATIENCE) -> Seen:
    """Look until something is seen; fail when patience is at its end."""
    deadline = time.monotonic() + patience
    while not (seen := look()):
        assert time.monotonic() < deadline, f"not seen within {patience} s"
        time.sleep(0.02)
    return seen


@contextmanager
def open_lab(directory: Path) -> Iterator[Lab]:
    """Run the service and the emulator until the block ends."""
    port = free_port()
    package = lab_driver.publish(directory / "site")
    (directory / "bmc").mkdir()
    configuration = [
        tool("run").configure(directory / "service", port),
        write_options(directory / "lab.conf", {**OPTIONS, "deploy": {"http_server_port": free_port()}}),
    ]
    create_database(*configuration)
    log = directory / "service" / "ironic.log"
    with redfish_bmc(directory / "bmc") as bmc:
        service = Service("ironic", configuration, log, port, {"PYTHONPATH": str(package)})
        try:
            service.await_ready()
            yield Lab(service, bmc)
        finally:
            ended = service.stop()
    assert ended == 0, f"it did not end cleanly:\n{service.log[-3000:]}"
    assert "Traceback" not in service.log
