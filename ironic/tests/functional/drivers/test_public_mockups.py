"""Every read, on the resources of public mock-ups that the sushy package carries (Apache licence).

They are parts of the DMTF's mock-ups and of answers of real machines, in several releases of the schemas. The tree is
served as it is, in variants, and with each of its resources missing or replaced by nonsense in turn: every read gives a
result or a clear error.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sushy

from ironic.core.errors import IronicError
from ironic.drivers.interfaces.base_interface import BaseInterface
from ironic.drivers.modules.bmc.bmc_gateway import RECENT
from ironic.drivers.modules.redfish import inspect as redfish_inspect
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.drivers.modules.redfish.bmc_connection import read
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.firmware import RedfishFirmware
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.raid import RedfishRAID
from ironic.drivers.modules.redfish.virtual_media_boot import RedfishVirtualMediaBoot
from ironic.tests.functional.drivers.hostile_bmc import HostileBmc, hostile_bmc
from ironic.tests.unit.drivers.machine import Work, work_on

SAMPLES = Path(sushy.__file__).parent / "tests" / "unit" / "json_samples"
MACHINE = "/redfish/v1/Systems/437XR1138R2"
SURVEYED: dict[str, BaseInterface] = {
    "bios": RedfishBIOS(),
    "boot": RedfishVirtualMediaBoot(),
    "firmware": RedfishFirmware(),
    "inspect": redfish_inspect.RedfishInspect(),
    "management": RedfishManagement(),
    "power": RedfishPower(),
    "raid": RedfishRAID(),
}
READS: dict[str, Callable[[Work], Any]] = {
    "power state": RedfishPower().get_power_state,
    "boot device": RedfishManagement().get_boot_device,
    "boot devices": RedfishManagement().get_supported_boot_devices,
    "boot mode": RedfishManagement().get_boot_mode,
    "secure boot": RedfishManagement().get_secure_boot_state,
    "sensors": RedfishManagement().get_sensors_data,
    "health": RedfishManagement().get_node_health,
    "vendor": RedfishManagement().detect_vendor,
    "addresses": RedfishManagement().get_mac_addresses,
    "indicators": RedfishManagement().get_supported_indicators,
    "virtual media": RedfishManagement().get_virtual_media,
    "BIOS settings": RedfishBIOS().cache_bios_settings,
    "firmware": RedfishFirmware().cache_firmware_components,
    "inventory": lambda task: read(task, "reading the inventory", redfish_inspect.inventory_of),
    "validation": lambda task: SURVEY.findings(task, SURVEYED),
}


def tree(*variants: str) -> dict[str, Any]:
    """Return the resources by path; of several for one path, those of the named files."""
    found: dict[str, Any] = {}
    for path in sorted(SAMPLES.glob("*.json")):
        document = json.loads(path.read_text())
        place = document.get("@odata.id") if isinstance(document, dict) else None
        if isinstance(place, str) and (place.rstrip("/") not in found or path.name in variants):
            found[place.rstrip("/")] = document
    # The file spells its own path in another way than the system that leads to it.
    found[f"{MACHINE}/Bios"] = found.pop(f"{MACHINE}/BIOS")
    found["/redfish/v1"] = json.loads((SAMPLES / "root.json").read_text())
    return found


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    with hostile_bmc() as running:
        running.documents = tree()
        yield running


@pytest.fixture(autouse=True)
def _at_once(conf: Callable[..., Any]) -> None:
    conf(redfish__connection_attempts=1)


def on(bmc: HostileBmc) -> Work:
    return work_on(driver_info={"redfish_address": bmc.address, "redfish_system_id": MACHINE})


def everything(bmc: HostileBmc) -> dict[str, Any]:
    """Return what each read gives: a result, or the text of its error."""
    task, seen = on(bmc), {}
    # What was read of the tree before it changed.
    RECENT._kept.clear()
    for name, look in READS.items():
        try:
            seen[name] = look(task)
        except IronicError as error:
            assert str(error)
            seen[name] = error
    return seen


def used(bmc: HostileBmc) -> list[str]:
    """Return the resources of the whole tree that are read at all."""
    everything(bmc)
    found = sorted({path for _method, path in bmc.requests} & bmc.documents.keys())
    assert len(found) > 15
    return found


@pytest.mark.parametrize(
    "variants",
    [
        (),
        ("systemv1_20.json", "managerv1_18.json", "storage_controller_settings.json"),
        ("system_managedby_missing_manager_present.json",),
        ("storage_collection_multiple.json", "updateservice_no_inv.json"),
    ],
)
def test_a_whole_tree_can_be_read(bmc: HostileBmc, variants: tuple[str, ...]) -> None:
    bmc.documents = tree(*variants)
    seen = everything(bmc)
    errors = {name: str(result) for name, result in seen.items() if isinstance(result, IronicError)}
    assert errors == {}
    assert seen["power state"] in ("power on", "power off")
    assert seen["addresses"] == ["12:44:6a:3b:04:11"]
    inventory = seen["inventory"]
    assert inventory["memory"]["physical_mb"] == 96 * 1024
    assert inventory["disks"] and inventory["cpu"]["architecture"] == "x86_64"
    assert seen["sensors"]["Temperature"] or seen["sensors"]["Drive"]


def test_each_resource_may_be_missing(bmc: HostileBmc) -> None:
    whole = dict(bmc.documents)
    for place in used(bmc):
        bmc.documents = {path: document for path, document in whole.items() if path != place}
        seen = everything(bmc)
        if place not in ("/redfish/v1", MACHINE):
            assert not isinstance(seen["power state"], IronicError), place


@pytest.mark.parametrize("nonsense", [{}, [], {"Members": 1, "Status": 1, "Attributes": 1, "Boot": 1}])
def test_each_resource_may_be_nonsense(bmc: HostileBmc, nonsense: Any) -> None:
    whole = dict(bmc.documents)
    for place in used(bmc):
        bmc.documents = {**whole, place: nonsense}
        everything(bmc)
