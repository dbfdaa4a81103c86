"""Every read, on all public mock-ups in packages of the tests (`recorded_machines`), and the emulator's.

They are served as they are, in variants, and with each resource missing or replaced by nonsense in turn: every read
gives a result or a clear error.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import IronicError
from ironic.drivers.contract.interfaces.base_interface import BaseInterface
from ironic.drivers.modules.bmc.bmc_gateway import RECENT
from ironic.drivers.modules.redfish import inspect as redfish_inspect
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.firmware import RedfishFirmware
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.raid import RedfishRAID
from ironic.drivers.modules.redfish.tree import bios_attributes, bmc_devices, boot_cards
from ironic.drivers.modules.redfish.tree.inventory import inventory_of
from ironic.drivers.modules.redfish.virtual_media_boot import RedfishVirtualMediaBoot
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.drivers.modules.redfish.wire.bmc_system import optional
from ironic.tests.functional.drivers.hostile_bmc import HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.recorded_machines import (
    DELL_MACHINE,
    INTEL_MACHINE,
    MACHINE,
    expanded,
    of_dell,
    of_intel,
    tree,
    with_another_bios,
    with_chassis,
)
from ironic.tests.redfish_bmc import redfish_bmc
from ironic.tests.unit.drivers.machine import Work, work_on

SURVEYED: dict[str, BaseInterface] = {
    "bios": RedfishBIOS(),
    "boot": RedfishVirtualMediaBoot(),
    "firmware": RedfishFirmware(),
    "inspect": redfish_inspect.RedfishInspect(),
    "management": RedfishManagement(),
    "power": RedfishPower(),
    "raid": RedfishRAID(),
}


def switches(system: Any) -> dict[str, dict[str, object]]:
    nothing: dict[str, dict[str, object]] = {}
    return optional(lambda: bmc_devices.parsed_lldp(system), nothing)


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
    "described BIOS settings": lambda task: read(task, "reading the BIOS settings", bios_attributes.rows_of),
    "firmware": RedfishFirmware().cache_firmware_components,
    "switches": lambda task: read(task, "reading the switches", switches),
    "boot cards": lambda task: read(
        task,
        "reading the boot cards",
        lambda system: boot_cards.booted_from(task.node, system, {"1": "12:44:6a:3b:04:11"}),
    ),
    "inventory": lambda task: read(task, "reading the inventory", inventory_of),
    "validation": lambda task: SURVEY.findings(task, SURVEYED),
}


TREES: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "as it is": (tree, MACHINE),
    "another release": (
        lambda: tree("systemv1_20.json", "managerv1_18.json", "storage_controller_settings.json"),
        MACHINE,
    ),
    "a manager without systems": (lambda: tree("system_managedby_missing_manager_present.json"), MACHINE),
    "several storages, no inventory": (
        lambda: tree("storage_collection_multiple.json", "updateservice_no_inv.json"),
        MACHINE,
    ),
    "the smallest root": (lambda: tree("bare_minimum_root.json"), MACHINE),
    "another BIOS": (with_another_bios, MACHINE),
    "expanded collections": (expanded, MACHINE),
    "a whole chassis": (lambda: with_chassis(tree(), "/redfish/v1/Chassis/1U"), MACHINE),
    "a machine of Dell": (of_dell, DELL_MACHINE),
    "a machine of Intel": (of_intel, INTEL_MACHINE),
}


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    with hostile_bmc() as running:
        running.documents = tree()
        yield running


@pytest.fixture(autouse=True)
def _at_once(conf: Callable[..., Any]) -> None:
    conf(redfish__connection_attempts=1)


def everything(bmc: HostileBmc, machine: str = MACHINE) -> dict[str, Any]:
    """Return what each read gives: a result, or the text of its error."""
    return reads_of(work_on(driver_info={"redfish_address": bmc.address, "redfish_system_id": machine}))


def reads_of(task: Work) -> dict[str, Any]:
    seen: dict[str, Any] = {}
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


@pytest.mark.parametrize("name", TREES)
def test_a_whole_tree_can_be_read(bmc: HostileBmc, name: str) -> None:
    make, machine = TREES[name]
    bmc.documents = make()
    seen = everything(bmc, machine)
    errors = {name: str(result) for name, result in seen.items() if isinstance(result, IronicError)}
    assert errors == {}
    assert seen["power state"] in ("power on", "power off")
    assert seen["addresses"] == ["aa:bb:cc:dd:ee:ff" if machine == INTEL_MACHINE else "12:44:6a:3b:04:11"]
    inventory = seen["inventory"]
    assert inventory["memory"]["physical_mb"] in (16 * 1024, 96 * 1024, 192 * 1024)
    assert inventory["disks"] and inventory["cpu"]["architecture"] == "x86_64"
    assert seen["sensors"]["Temperature"] or seen["sensors"]["Drive"]


def test_a_whole_chassis_has_sensors_and_switches(bmc: HostileBmc) -> None:
    bmc.documents = with_chassis(tree(), "/redfish/v1/Chassis/1U")
    seen = everything(bmc)
    assert all(seen["sensors"][kind] for kind in ("Fan", "Temperature", "Power", "Drive"))
    assert seen["switches"]
    # No function of an adapter states a boot mode, and nothing else names a card.
    assert seen["boot cards"] == []


def test_a_registry_describes_the_settings_of_its_bios(bmc: HostileBmc) -> None:
    bmc.documents = with_another_bios()
    rows = {row["name"]: row for row in everything(bmc)["described BIOS settings"]}
    assert rows["TCG003"]["allowable_values"] == ["Disable", "Enable"]
    assert rows["TCG003"]["attribute_type"] == "Enumeration"
    assert rows["TCG002"]["value"] == "Enabled" and rows["TCG002"]["attribute_type"] is None


def test_a_drive_that_is_listed_and_missing_hides_no_other(bmc: HostileBmc) -> None:
    seen = everything(bmc)
    storage = f"{MACHINE}/Storage/1/Drives"
    listed = [link["@odata.id"] for link in bmc.documents[f"{MACHINE}/Storage/1"]["Drives"]]
    present = [path for path in listed if path in bmc.documents]
    assert len(listed) > len(present) > 1 and all(path.startswith(storage) for path in present)
    (controller,) = seen["inventory"]["storage_controllers"]
    assert len(controller["drives"]) == len(present)
    names = {drive["name"] for drive in controller["drives"]}
    assert names <= {disk["name"] for disk in seen["inventory"]["disks"]}


@pytest.mark.parametrize("extended", [False, True])
def test_the_emulator_can_be_read(tmp_path: Path, extended: bool) -> None:
    with redfish_bmc(tmp_path, extended=extended) as emulator:
        seen = reads_of(work_on(driver_info=emulator.driver_info()))
    # Its fake machines have no BIOS settings.
    assert {name for name, result in seen.items() if isinstance(result, IronicError)} == {
        "BIOS settings",
        "described BIOS settings",
    }
    assert seen["addresses"] == emulator.mac_addresses()
    assert seen["sensors"]["Fan"] and seen["virtual media"]


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
