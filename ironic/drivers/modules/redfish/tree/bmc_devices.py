"""Devices of a Redfish machine for its inventory: storage controllers, PCI devices, and the switches at its ports."""

from collections.abc import Iterable
from typing import Any, Final

from ironic.core.readings import Seen
from ironic.drivers.modules.redfish.tree.inventory_values import Found, word_of
from ironic.drivers.modules.redfish.tree.members import seen_chassis, seen_drives, seen_members
from ironic.drivers.modules.redfish.wire.bmc_system import System

# Names in parsed_lldp, and where the library has the values.
_LLDP: Final = {
    "switch_chassis_id": "chassis_id",
    "switch_port_id": "port_id",
    "switch_system_name": "system_name",
    "switch_system_description": "system_description",
    "switch_vlan_id": "management_vlan_id",
}
_PCI: Final = {
    "product_id": "device_id",
    "vendor_id": "vendor_id",
    "subsystem_id": "subsystem_id",
    "subsystem_vendor_id": "subsystem_vendor_id",
    "revision": "revision_id",
}


def storage_controllers(system: System) -> Iterable[Found]:
    """Yield each storage with its controllers and drives."""
    for storage in seen_members(system, "storage").items:
        yield {
            "id": storage.identity,
            "name": storage.name,
            "storage_controllers": [
                {
                    "member_id": one.member_id,
                    "name": one.name,
                    "raid_types": _words(one.raid_types),
                    "speed_gbps": one.speed_gbps,
                    "controller_protocols": _words(one.controller_protocols),
                    "device_protocols": _words(one.device_protocols),
                    "status": _status(one.status),
                }
                for one in storage.storage_controllers or ()
            ],
            "drives": [_drive(one) for one in seen_drives(storage).items],
        }


def _drive(drive: Any) -> Found:
    return {
        "name": drive.name,
        "size": drive.capacity_bytes,
        "id": drive.identity,
        "media_type": word_of(drive.media_type),
        "serial_number": drive.serial_number,
        "manufacturer": drive.manufacturer,
        "model": drive.model,
        "revision": drive.revision,
        "protocol": word_of(drive.protocol),
        "status": _status(drive.status),
    }


def pci_devices(system: System) -> Seen[Found]:
    """Return the functions of PCI devices, and what can't be read of them; the class is the plain word of Redfish."""
    devices = seen_members(system, "pcie_devices")
    functions = [seen_members(device, "pcie_functions") for device in devices.items]
    found = [
        {"class": word_of(one.device_class), **{name: getattr(one, attribute) for name, attribute in _PCI.items()}}
        for each in functions
        for one in each.items
    ]
    return Seen(found, (*devices.missing, *(text for each in functions for text in each.missing)))


def parsed_lldp(system: System) -> dict[str, Found]:
    """Return what switches say about the ports that they are connected to, by port; ports without it are left out."""
    found: dict[str, Found] = {}
    for chassis in seen_chassis(system).items:
        for adapter in seen_members(chassis, "network_adapters").items:
            for port in seen_members(adapter, "ports").items:
                received = port.ethernet.lldp_receive if port.ethernet is not None else None
                if received is None:
                    continue
                values = {name: getattr(received, attribute) for name, attribute in _LLDP.items()}
                if known := {name: value for name, value in values.items() if value is not None}:
                    # Adapters may have ports of the same ids.
                    is_taken = port.identity in found
                    found[f"{adapter.identity}.{port.identity}" if is_taken else port.identity] = known
    return found


def _status(status: Any) -> Found:
    if status is None:
        return {}
    values = {name: word_of(getattr(status, name)) for name in ("health", "state", "health_rollup")}
    return {name: value for name, value in values.items() if value is not None}


def _words(values: Iterable[object] | None) -> list[str | None]:
    return [word_of(value) for value in values or ()]
