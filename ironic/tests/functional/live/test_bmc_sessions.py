"""A service that ends is logged out of its BMCs."""

from pathlib import Path

import requests

from ironic.tests.functional.drivers.hostile_bmc import hostile_bmc
from ironic.tests.live_service import all_in_one_below


def test_the_end_of_a_service_ends_its_sessions(tmp_path: Path) -> None:
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "enabled_hardware_types": "redfish",
            "enabled_boot_interfaces": "ipxe",
        },
        "conductor": {"sync_power_state_interval": 0},
    }
    with hostile_bmc("secret") as bmc:
        with all_in_one_below(tmp_path, options) as running:
            headers = {"X-OpenStack-Ironic-API-Version": "1.100"}
            node = {"driver": "redfish", "driver_info": bmc.driver_info()}
            made = requests.post(f"{running.url}/v1/nodes", json=node, headers=headers, timeout=60).json()
            url = f"{running.url}/v1/nodes/{made['uuid']}/validate"
            verdicts = requests.get(url, headers=headers, timeout=60).json()
            assert verdicts["power"]["result"] is True, verdicts["power"]
            assert "Boot" in verdicts["management"]["reason"]
            assert len(bmc.tokens) == 1
        assert bmc.tokens == []
