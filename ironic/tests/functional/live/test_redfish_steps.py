"""Steps that go on in a BMC, over the API: the service starts them, waits, and ends them when the BMC has."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from ironic.tests.functional.drivers.scripted_bmc import SYSTEM, ScriptedBmc, scripted_bmc
from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.live_service import Service, all_in_one_below

BIOS = f"{SYSTEM}/Bios"
PENDING = f"{BIOS}/Settings"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run the service with all interfaces of Redfish; it looks at BMCs every second."""
    directory = tmp_path_factory.mktemp("service")
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "enabled_hardware_types": "redfish",
            "enabled_bios_interfaces": "redfish",
            "enabled_boot_interfaces": "ipxe",
            "enabled_firmware_interfaces": "redfish",
            "enabled_inspect_interfaces": "redfish",
            "enabled_management_interfaces": "redfish",
            "enabled_power_interfaces": "redfish",
            "enabled_raid_interfaces": "redfish",
            "enabled_vendor_interfaces": "redfish",
            "enabled_console_interfaces": "no-console",
        },
        "conductor": {"sync_power_state_interval": 0},
        "redfish": {"firmware_update_status_interval": 1, "connection_attempts": 1},
    }
    with all_in_one_below(directory, options) as running:
        yield running


@pytest.fixture
def bmc() -> Iterator[ScriptedBmc]:
    with scripted_bmc(
        "On", Bios={"@odata.id": BIOS}, BootProgress={"LastState": "OSRunning"}, BiosVersion="1.0"
    ) as script:
        script.documents |= {
            BIOS: {
                "Id": "Bios",
                "Attributes": {"Turbo": "On"},
                "@Redfish.Settings": {"SettingsObject": {"@odata.id": PENDING}},
            },
            PENDING: {"Id": "Settings", "Attributes": {}},
        }
        yield script


@pytest.fixture
def node(service: Service, bmc: ScriptedBmc) -> str:
    """Enrol and verify the machine; return the UUID of its node."""
    info = {"redfish_address": bmc.address, "redfish_system_id": SYSTEM}
    created = call(service, "POST", "/v1/nodes", {"driver": "redfish", "driver_info": info})
    uuid: str = created.json()["uuid"]
    ask(service, uuid, "manage")
    follow(service, uuid, "manageable")
    return uuid


def clean(service: Service, node: str, settings: list[dict[str, Any]]) -> None:
    step = {"interface": "bios", "step": "apply_configuration", "args": {"settings": settings}}
    assert ask(service, node, "clean", clean_steps=[step], disable_ramdisk=True).status_code == 202


def setting(service: Service, node: str) -> str:
    found: str = call(service, "GET", f"/v1/nodes/{node}/bios/Turbo").json()["Turbo"]["value"]
    return found


@pytest.mark.parametrize("has_progress", [True, False])
def test_settings_are_cached_applied_and_cached_again(
    service: Service, bmc: ScriptedBmc, node: str, has_progress: bool
) -> None:
    if not has_progress:
        del bmc.documents[SYSTEM]["BootProgress"]
    assert setting(service, node) == "On"
    versions = call(service, "GET", f"/v1/nodes/{node}/firmware").json()["firmware"]
    assert [(item["component"], item["current_version"]) for item in versions] == [("bios", "1.0")]

    def start(kind: str) -> None:
        bmc.documents[BIOS]["Attributes"]["Turbo"] = "Off"

    bmc.on_reset = start
    clean(service, node, [{"name": "Turbo", "value": "Off"}])
    began = time.monotonic()
    follow(service, node, "manageable")
    assert setting(service, node) == "Off"
    assert time.monotonic() - began < 30, "what was not shown before the restart needs no minute"
