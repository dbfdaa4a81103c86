"""The service and a standalone inspector, and machines that it inspects."""

from dataclasses import dataclass
from typing import Any

import requests

from ironic.tests.scenario.clients.lab import eventually
from ironic.tests.scenario.old_clients.inspected_site import MAC, REPORT, Site


@dataclass(frozen=True)
class StandaloneSite(Site):
    """Both services, running; ``old_url`` is that of the inspector."""

    inspector: Any

    def begin(self, interface: str = "inspector") -> str:
        """Create a machine, and inspect it until it waits for its ramdisk; return its UUID."""
        uuid = self.machine()
        changed = [{"op": "replace", "path": "/inspect_interface", "value": interface}]
        assert self.call("PATCH", f"nodes/{uuid}", changed).status_code == 200
        assert self.call("PUT", f"nodes/{uuid}/states/provision", {"target": "inspect"}).status_code == 202
        self.wait_for(uuid, "inspect wait")
        return uuid

    def waits(self, uuid: str) -> None:
        """Wait until the inspector waits for the ramdisk."""
        eventually(lambda: self.state(uuid).get("state") == "waiting")

    def state(self, uuid: str) -> dict[str, Any]:
        """Return what the inspector says of an introspection."""
        found: dict[str, Any] = requests.get(f"{self.old_url}/v1/introspection/{uuid}", timeout=30).json()
        return found

    def report(self, report: Any = REPORT) -> requests.Response:
        """Post inspection data to the service as a ramdisk does."""
        headers = {"X-OpenStack-Ironic-API-Version": "1.1"}
        url = f"{self.service.url}/v1/continue_inspection"
        return requests.post(url, json=report, headers=headers, timeout=60)


__all__ = ["MAC", "REPORT", "StandaloneSite"]
