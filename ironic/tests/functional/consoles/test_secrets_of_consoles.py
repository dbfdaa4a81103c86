"""Passwords of BMCs are in no notification, log, error, URL or answer, whatever is done with power and consoles."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.tests.functional.consoles.lines import until
from ironic.tests.functional.consoles.viewers import PATIENCE
from ironic.tests.ipmi_bmc import PASSWORD, pyghmi_bmc
from ironic.tests.live_service import Service, all_in_one_below, free_port

HEADERS = {"X-OpenStack-Ironic-API-Version": "1.99"}
KEY = b"canary of the K_g"
WRONG = "canary-that-is-wrong"
GRAPHICAL = "canary-of-the-screen"
CANARIES = (PASSWORD, WRONG, GRAPHICAL, KEY.hex(), KEY.decode())


class Witness:
    """A client that keeps every answer."""

    def __init__(self, service: Service) -> None:
        self.service, self.heard = service, ""

    def ask(self, method: str, path: str, body: object = None) -> Any:
        answer = requests.request(method, f"{self.service.url}/v1/{path}", json=body, headers=HEADERS, timeout=PATIENCE)
        self.heard += f"{answer.headers}{answer.text}\n"
        return answer.json() if answer.content else None

    def await_console(self, node: str, *, enabled: bool) -> Any:
        path = f"nodes/{node}/states/console"
        until(lambda: self.ask("GET", path)["console_enabled"] is enabled, f"console_enabled is {enabled}")
        return self.ask("GET", path)

    def set_power(self, node: str, target: str) -> Any:
        """Ask for a power state; return the error of the node, if it failed."""
        self.ask("PUT", f"nodes/{node}/states/power", {"target": target})

        def is_over() -> bool:
            found = self.ask("GET", f"nodes/{node}/states")
            return found["target_power_state"] is None and self.ask("GET", f"nodes/{node}")["reservation"] is None

        until(is_over, "the order has ended")
        return self.ask("GET", f"nodes/{node}")["last_error"]

    def events(self, name: str) -> int:
        """Return how many notifications of a name are in the log."""
        return self.service.log.count(f"oslo.messaging.notification.baremetal.node.{name} ")


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Witness]:
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "debug": True,
            "my_ip": "127.0.0.1",
            "notification_level": "debug",
            "enabled_hardware_types": "ipmi,redfish",
            "enabled_boot_interfaces": "ipxe",
            "enabled_management_interfaces": "ipmitool,redfish",
            "enabled_power_interfaces": "ipmitool,redfish",
            "enabled_vendor_interfaces": "ipmitool,redfish,no-vendor",
            "enabled_console_interfaces": "ipmitool-socat,redfish-graphical,no-console",
            "tempdir": tmp_path,
        },
        "console": {"socat_address": "127.0.0.1", "port_range": f"{free_port()}:65000"},
        "ipmi": {"min_command_interval": 0, "debug": True},
        "oslo_messaging_notifications": {"driver": "log"},
        "vnc": {"container_provider": "fake", "public_url": "http://127.0.0.1/vnc_lite.html"},
    }
    with all_in_one_below(tmp_path, options) as service:
        yield Witness(service)


def test_passwords_of_bmcs_stay_where_they_are(witness: Witness, tmp_path: Path) -> None:
    with pyghmi_bmc(tmp_path / "bmc", kg_key=KEY.ljust(20, b".")) as bmc:
        info = bmc.driver_info()
        made = witness.ask("POST", "nodes", {"driver": "ipmi", "driver_info": info, "name": "serial"})
        assert made["driver_info"]["ipmi_password"] == "******"
        node = made["uuid"]
        assert witness.set_power(node, "power on") is None and bmc.is_on
        witness.ask("PUT", f"nodes/{node}/states/console", {"enabled": True})
        assert witness.await_console(node, enabled=True)["console_info"]["url"].startswith("tcp://127.0.0.1:")
        witness.ask("PUT", f"nodes/{node}/states/console", {"enabled": False})
        witness.await_console(node, enabled=False)
        # A login that the BMC refuses, and a console that can't be opened.
        change = [
            {"op": "replace", "path": "/driver_info/ipmi_password", "value": WRONG},
            {"op": "add", "path": "/driver_info/ipmi_terminal_port", "value": bmc.port},
        ]
        assert witness.ask("PATCH", f"nodes/{node}", change)["driver_info"]["ipmi_password"] == "******"
        assert "password" in witness.set_power(node, "power off")
        witness.ask("GET", f"nodes/{node}/validate")
        witness.ask("GET", f"nodes/{node}/management/boot_device")
        witness.ask("POST", f"nodes/{node}/vendor_passthru?method=send_raw", {"raw_bytes": "0x06 0x01"})
        until(lambda: witness.ask("GET", f"nodes/{node}")["reservation"] is None, "the call has ended")
        login = {"redfish_address": "https://127.0.0.1:1", "redfish_username": "u", "redfish_password": GRAPHICAL}
        graphical = {"driver": "redfish", "console_interface": "redfish-graphical", "driver_info": login}
        screen = witness.ask("POST", "nodes", graphical)["uuid"]
        witness.ask("PUT", f"nodes/{screen}/states/console", {"enabled": True})
        until(lambda: witness.events("console_set.end") + witness.events("console_set.error") >= 3, "it is over")
        for path in ("nodes/detail", f"nodes/{screen}/states/console", f"nodes/{node}/history?detail=true"):
            witness.ask("GET", path)
        witness.ask("DELETE", f"nodes/{screen}")
    for name in ("create.end", "update.end", "delete.end"):
        assert witness.events(name) > 0, name
    for name in ("power_set.start", "power_set.end", "power_set.error", "console_set.start", "console_set.end"):
        assert witness.events(name) > 0, name
    assert "******" in witness.heard and "******" in witness.service.log
    for canary in CANARIES:
        assert canary not in witness.heard
        assert canary not in witness.service.log
