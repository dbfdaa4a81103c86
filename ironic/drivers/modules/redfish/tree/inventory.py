"""The inventory that a Redfish BMC reports of its machine, in the form of a ramdisk's, and what is missing in it.

Every branch of the Redfish tree may be missing or broken; what can't be read is left out.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import sushy

from ironic.core.readings import Seen
from ironic.drivers.modules.redfish.tree import bmc_devices
from ironic.drivers.modules.redfish.tree.boot_settings import boot_of
from ironic.drivers.modules.redfish.tree.certainty import Document, Resource
from ironic.drivers.modules.redfish.tree.inventory_values import Found, known, word_of
from ironic.drivers.modules.redfish.tree.members import is_there, seen_drives, seen_members
from ironic.drivers.modules.redfish.tree.network_cards import network_cards, seen_cards
from ironic.drivers.modules.redfish.tree.processors_and_memory import cpu_of, memory_of
from ironic.drivers.modules.redfish.wire.bmc_system import System, optional
from ironic.drivers.modules.redfish.wire.document_faults import fault_at
from ironic.inspection import incomplete_lists

Inventory = dict[str, Any]

_MODES: Final = {sushy.BOOT_SOURCE_MODE_UEFI: "uefi", sushy.BOOT_SOURCE_MODE_BIOS: "bios"}


def inventory_of(system: System) -> Inventory:
    """Return the inventory that the BMC reports, in the form of a ramdisk's; interfaces and disks may be empty."""
    nothing: Found = {}
    found: Inventory = {
        "interfaces": _list(_interfaces, system),
        "cpu": optional(lambda: cpu_of(system), nothing),
        "memory": optional(lambda: memory_of(system), nothing),
        "disks": list(_disks(system).items),
        "storage_controllers": _list(bmc_devices.storage_controllers, system),
        "pci_devices": list(bmc_devices.pci_devices(system).items),
        "boot": optional(lambda: _boot(system), nothing),
        "system_vendor": known(
            manufacturer=system.manufacturer,
            product_name=system.model,
            serial_number=system.serial_number,
            system_uuid=system.uuid,
        ),
    }
    return {key: value for key, value in found.items() if value or key in ("interfaces", "disks")}


def lldp_of(system: System) -> dict[str, Found]:
    """Return what the switches at its ports say, by port; empty where the BMC does not show it."""
    nothing: dict[str, Found] = {}
    return optional(lambda: bmc_devices.parsed_lldp(system), nothing)


def _list(find: Callable[[Any], Iterable[Found]], resource: Any) -> list[Found]:
    nothing: list[Found] = []
    return optional(lambda: list(find(resource)), nothing)


def _interfaces(system: System) -> Iterable[Found]:
    for card in network_cards(system):
        yield known(name=card.name, mac_address=card.mac_address, speed_mbps=card.speed_mbps)


def _disks(system: System) -> Seen[Found]:
    """Return the drives of storage controllers and the devices of simple ones, and what can't be read of them."""
    found, missing = list[Found](), list[str]()
    for name, part in (("storage", _drives), ("simple_storage", _simple_devices)):
        controllers = seen_members(system, name)
        missing += controllers.missing
        for controller in controllers.items:
            unread: Seen[Found] = Seen((), (f"the disks of {controller.path} can't be read",))
            disks = optional(partial(part, controller), unread)
            found += disks.items
            missing += disks.missing
    return Seen(found, missing)


def _drives(controller: Any) -> Seen[Found]:
    seen = seen_drives(controller)
    drives = [drive for drive in seen.items if is_there(drive)]
    found = [
        known(
            name=drive.name or drive.identity,
            size=drive.capacity_bytes,
            serial=drive.serial_number,
            model=drive.model,
            vendor=drive.manufacturer,
            rotational={"HDD": True, "SSD": False}.get(word_of(drive.media_type) or ""),
        )
        for drive in drives
    ]
    return Seen(found, seen.missing).with_missing(*_odd_sizes(drives))


def _simple_devices(controller: Any) -> Seen[Found]:
    fault = fault_at(controller.json, "Devices")
    missing = () if fault is None else (f"Devices of {controller.path} {fault}",)
    found = [known(name=device.name, size=device.capacity_bytes) for device in controller.devices or ()]
    odd = [Document(controller.path, device) for device in controller.json.get("Devices", ())]
    return Seen(found, missing).with_missing(*_odd_sizes(odd))


def _odd_sizes(disks: Iterable[Resource]) -> list[str]:
    faults = ((disk.path, fault_at(disk.json, "CapacityBytes")) for disk in disks)
    return [f"CapacityBytes of {path} {fault}" for path, fault in faults if fault is not None]


def missing_of(system: System) -> dict[str, tuple[str, ...]]:
    """Return what can't be read of the lists by which something may be taken back, or chosen."""
    return {
        incomplete_lists.INTERFACES: seen_cards(system).missing,
        incomplete_lists.DISKS: _disks(system).missing,
        incomplete_lists.PCI_DEVICES: bmc_devices.pci_devices(system).missing,
    }


def _boot(system: System) -> Found:
    return known(current_boot_mode=_MODES.get(boot_of(system).mode.shown(None)))
