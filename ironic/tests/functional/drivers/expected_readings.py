"""What each reading of a machine has to show, all of it, from the documents alone and without the product."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ironic.tests.functional.drivers.shown_documents import Documents, object_of

_Resource = Mapping[str, Any]

_ROOT = "/redfish/v1"
_HEALTH = ("OK", "Warning", "Critical")
_ARCHITECTURES = {"x86-64": "x86_64", "x86": "x86_64", "ARM-A64": "aarch64"}
_BOOT_MODES = {"UEFI": "uefi", "Legacy": "bios"}
_SMALLEST_DISK, _GIB = 4 * 1024**3, 1024**3

# Fields by what documents have for them: shown also when they are null.
_STATUS = {"state": "State", "health": "Health"}
_FAN = {
    "identity": "MemberId", "max_reading_range": "MaxReadingRange", "min_reading_range": "MinReadingRange",
    "reading": "Reading", "reading_units": "ReadingUnits", "serial_number": "SerialNumber",
    "physical_context": "PhysicalContext",
}  # fmt: skip
_TEMPERATURE = {
    "identity": "MemberId", "max_reading_range_temp": "MaxReadingRangeTemp",
    "min_reading_range_temp": "MinReadingRangeTemp", "reading_celsius": "ReadingCelsius",
    "physical_context": "PhysicalContext", "sensor_number": "SensorNumber",
}  # fmt: skip
_SUPPLY = {
    "power_capacity_watts": "PowerCapacityWatts", "line_input_voltage": "LineInputVoltage",
    "last_power_output_watts": "LastPowerOutputWatts", "serial_number": "SerialNumber",
}  # fmt: skip
_DRIVE = {"name": "Name", "model": "Model", "capacity_bytes": "CapacityBytes"}
_DRIVE_OF_CONTROLLER = {
    "name": "Name", "size": "CapacityBytes", "id": "Id", "media_type": "MediaType", "serial_number": "SerialNumber",
    "manufacturer": "Manufacturer", "model": "Model", "revision": "Revision", "protocol": "Protocol",
}  # fmt: skip
_PCI = {
    "class": "DeviceClass", "product_id": "DeviceId", "vendor_id": "VendorId", "subsystem_id": "SubsystemId",
    "subsystem_vendor_id": "SubsystemVendorId", "revision": "RevisionId",
}  # fmt: skip
_SETTING = {
    "attribute_type": "Type", "lower_bound": "LowerBound", "upper_bound": "UpperBound", "min_length": "MinLength",
    "max_length": "MaxLength", "read_only": "ReadOnly", "reset_required": "ResetRequired",
    "unique": "IsSystemUniqueProperty",
}  # fmt: skip
# Shown where they are not null.
_DISK = {"name": "Name", "size": "CapacityBytes", "serial": "SerialNumber", "model": "Model", "vendor": "Manufacturer"}
_MACHINE = {
    "manufacturer": "Manufacturer", "product_name": "Model", "serial_number": "SerialNumber", "system_uuid": "UUID",
}  # fmt: skip
_SWITCH = {
    "switch_chassis_id": "ChassisId", "switch_port_id": "PortId", "switch_system_name": "SystemName",
    "switch_system_description": "SystemDescription", "switch_vlan_id": "ManagementVlanId",
}  # fmt: skip


def _all(names: Mapping[str, str], said: _Resource) -> dict[str, Any]:
    # What has no name is called by its id, and a number in quotes is one.
    own = {"Name": said.get("Name") or said.get("Id") or said.get("MemberId")}
    if str(number := said.get("SensorNumber")).isdecimal():
        own["SensorNumber"] = int(str(number))
    return {name: {**said, **own}.get(named) for name, named in names.items()}


def _known(names: Mapping[str, str], said: _Resource) -> dict[str, Any]:
    return {name: value for name, value in _all(names, said).items() if value is not None}


def _state(part: _Resource) -> object:
    return object_of(part.get("Status")).get("State")


def _listed(found: Documents, owner: _Resource, name: str) -> list[_Resource]:
    return list(found.members(owner, name).values())


def _objects(said: object) -> list[_Resource]:
    return [object_of(one) for one in said] if isinstance(said, list) else []


def health(found: Documents) -> object:
    """Return the worse of the healths of the machine and of its parts, in capital letters."""
    status = object_of(found.system.get("Status"))
    said = [status[name] for name in ("Health", "HealthRollup") if status.get(name) in _HEALTH]
    return max(said, key=_HEALTH.index).upper() if said else None


def vendor(found: Documents) -> object:
    """Return who made the BMC, or else the machine."""
    names = [found.object_at(_ROOT).get("Vendor"), found.system.get("Manufacturer")]
    return next((" ".join(name.split()) for name in names if isinstance(name, str) and name.strip()), None)


# Network cards


def _cards(found: Documents) -> dict[str, _Resource]:
    """Return the cards by MAC address, from the first place that has any."""
    parts = [
        (owner, name)
        for chassis in found.chassis.values()
        for owner in _listed(found, chassis, "NetworkAdapters")
        for name in ("NetworkDeviceFunctions", "Ports", "NetworkPorts")
    ]
    for owner, name in [(found.system, "EthernetInterfaces"), *parts]:
        cards = {address: card for card in _listed(found, owner, name) for address in _addresses_in(card)}
        if cards:
            return cards
    return {}


def _addresses_in(card: _Resource) -> Iterator[str]:
    said = {**card, **object_of(card.get("Ethernet"))}
    several = said.get("AssociatedMACAddresses") or said.get("AssociatedNetworkAddresses") or []
    for value in [said.get("MACAddress") or said.get("PermanentMACAddress"), *several]:
        digits = re.sub("[^0-9a-f]", "", str(value or "").lower())
        if len(digits) == 12 and int(digits, 16):
            yield ":".join(re.findall("..", digits))


def addresses(found: Documents) -> list[str]:
    """Return the MAC addresses of the cards that are not switched off."""
    return [address for address, card in _cards(found).items() if _state(card) in (None, "Enabled")]


# Disks


def _storages(found: Documents) -> list[tuple[_Resource, list[_Resource]]]:
    """Return the controllers with their drives."""
    return [(one, _listed(found, one, "Drives")) for one in _listed(found, found.system, "Storage")]


def _devices(found: Documents) -> list[_Resource]:
    """Return the disks of simple controllers."""
    return [device for one in _listed(found, found.system, "SimpleStorage") for device in _objects(one.get("Devices"))]


def _disks(found: Documents) -> list[dict[str, Any]]:
    drives = [drive for _, each in _storages(found) for drive in each if _state(drive) != "Absent"]
    kinds = {"HDD": {"rotational": True}, "SSD": {"rotational": False}}
    listed = [_known(_DISK, drive) | kinds.get(str(drive.get("MediaType")), {}) for drive in drives]
    return listed + [_known({"name": "Name", "size": "CapacityBytes"}, device) for device in _devices(found)]


# Sensors


def sensors(found: Documents) -> dict[str, list[dict[str, Any]]]:
    """Return the sensors of each type, in the order of the documents; `Extra` is the machine."""
    thermal = [found.behind(one, "Thermal") for one in found.chassis.values()]
    power = [found.behind(one, "Power") for one in found.chassis.values()]
    drives = [drive for _, each in _storages(found) for drive in each if drive.get("CapacityBytes")]
    devices = [device for device in _devices(found) if device.get("CapacityBytes")]
    return {
        "Fan": _readings(_FAN, (fan for one in thermal for fan in _objects(one.get("Fans")))),
        "Temperature": _readings(_TEMPERATURE, (each for one in thermal for each in _objects(one.get("Temperatures")))),
        "Power": _readings(_SUPPLY, (each for one in power for each in _objects(one.get("PowerSupplies")))),
        "Drive": _readings(_DRIVE, drives or devices),
        "Extra": [_all({name: name for name in ("Manufacturer", "Model", "UUID")}, found.system)],
    }


def _readings(names: Mapping[str, str], sensors: Iterable[_Resource]) -> list[dict[str, Any]]:
    made = []
    for sensor in sensors:
        status = _all(_STATUS, object_of(sensor.get("Status"))) if "Status" in sensor else {}
        if status and status["state"] is None and status["health"] is not None:
            status["state"] = "Enabled"
        made.append(_all(names, sensor) | status)
    return made


# Inspection


def inventory(found: Documents) -> dict[str, Any]:
    """Return the inventory, what is set of the properties, and the addresses of the ports."""
    disks, cpu, size, mode = _disks(found), _cpu(found), _memory(found), found.boot.get("BootSourceOverrideMode")
    large = [disk for disk in disks if disk.get("size", 0) >= _SMALLEST_DISK]
    root = min(large, key=lambda disk: disk["size"]) if large else None
    boot_mode = _BOOT_MODES.get(str(mode))
    properties = {
        "memory_mb": size,
        "local_gb": root and root["size"] // _GIB - 1,
        "capabilities": boot_mode and f"boot_mode:{boot_mode}",
        "cpu_arch": cpu.get("architecture"),
    }
    lists = {
        "storage_controllers": [_controller(*each) for each in _storages(found)],
        "pci_devices": [
            _all(_PCI, function)
            for device in _listed(found, found.system, "PCIeDevices")
            for function in _listed(found, device, "PCIeFunctions")
        ],
        "cpu": cpu,
        "memory": {"physical_mb": size} if size else {},
        "boot": {"current_boot_mode": boot_mode} if boot_mode else {},
    }
    return {
        "properties": {name: value for name, value in properties.items() if value is not None},
        "ports": list(_cards(found)),
        "interfaces": [
            _known({"name": "Id", "speed_mbps": "SpeedMbps"}, card) | {"mac_address": address}
            for address, card in _cards(found).items()
        ],
        "disks": disks,
        "system_vendor": _known(_MACHINE, found.system),
        "switches": _switches(found),
        "root_disk": root,
        **{name: value for name, value in lists.items() if value},
    }


def _cpu(found: Documents) -> dict[str, Any]:
    listed = _listed(found, found.system, "Processors")
    cpus = [one for one in listed if one.get("ProcessorType") in (None, "CPU") and _state(one) != "Absent"]
    summary, first = object_of(found.system.get("ProcessorSummary")), cpus[0] if cpus else {}
    words = [one.get(name) for one in cpus for name in ("InstructionSet", "ProcessorArchitecture")]
    said = {
        "count": sum(int(one["TotalThreads"]) for one in cpus) if cpus else summary.get("LogicalProcessorCount"),
        "architecture": next((_ARCHITECTURES[word] for word in words if word in _ARCHITECTURES), None),
        "model_name": first.get("Model") or summary.get("Model"),
        "frequency": first.get("MaxSpeedMHz"),
        "socket_count": len(cpus) or summary.get("Count"),
    }
    return {name: value for name, value in said.items() if value is not None}


def _memory(found: Documents) -> int | None:
    size = object_of(found.system.get("MemorySummary")).get("TotalSystemMemoryGiB")
    modules = sum(module.get("CapacityMiB") or 0 for module in _listed(found, found.system, "Memory"))
    return int(size * 1024) if size else modules or None


def _status(part: _Resource) -> dict[str, Any]:
    return _known(_STATUS | {"health_rollup": "HealthRollup"}, object_of(part.get("Status")))


def _controller(storage: _Resource, drives: Iterable[_Resource]) -> dict[str, Any]:
    controllers = [
        {
            **_all({"member_id": "MemberId", "name": "Name", "speed_gbps": "SpeedGbps"}, one),
            "raid_types": one.get("SupportedRAIDTypes") or [],
            "controller_protocols": one.get("SupportedControllerProtocols") or [],
            "device_protocols": one.get("SupportedDeviceProtocols") or [],
            "status": _status(one),
        }
        for one in _objects(storage.get("StorageControllers"))
    ]
    shown = [_all(_DRIVE_OF_CONTROLLER, drive) | {"status": _status(drive)} for drive in drives]
    return _all({"id": "Id", "name": "Name"}, storage) | {"storage_controllers": controllers, "drives": shown}


def _switches(found: Documents) -> dict[str, Any]:
    ports = [
        port
        for chassis in found.chassis.values()
        for adapter in _listed(found, chassis, "NetworkAdapters")
        for port in _listed(found, adapter, "Ports")
    ]
    said = {port["Id"]: object_of(object_of(port.get("Ethernet")).get("LLDPReceive")) for port in ports}
    return {name: _known(_SWITCH, one) for name, one in said.items() if _known(_SWITCH, one)}


# Virtual drives, BIOS settings, firmware


def shown_drives(found: Documents) -> dict[str, dict[str, Any]]:
    """Return what is shown of the virtual drives by their paths: those of the machine, or else of what manages it."""
    own = found.members(found.system, "VirtualMedia") or found.drives
    return {
        path: {
            "media_types": drive.get("MediaTypes") or None,
            "inserted": drive.get("Inserted") or None,
            "image": drive.get("Image") or None,
        }
        for path, drive in own.items()
    }


def settings(found: Documents) -> dict[str, Any]:
    """Return the values of the BIOS settings as texts, and what the registry of the BMC says of them."""
    attributes = object_of(found.bios.get("Attributes"))
    values = {name: None if value is None else str(value) for name, value in attributes.items()}
    entries = {str(one.get("AttributeName")): one for one in _registry(found)}
    words = {name: _said_of(entries[name]) for name in attributes if name in entries}
    return {"BIOS": values, "BIOS_words": {name: said for name, said in words.items() if said}}


def _registry(found: Documents) -> list[_Resource]:
    wanted = found.bios.get("AttributeRegistry")
    files = [
        one
        for one in _listed(found, found.object_at(_ROOT), "Registries")
        if wanted in (one.get("Registry"), one.get("Id"))
    ]
    places = [object_of(place).get("Uri") for one in files for place in one.get("Location") or ()]
    return next(
        (_objects(object_of(found.object_at(uri).get("RegistryEntries")).get("Attributes")) for uri in places), []
    )


def _said_of(entry: _Resource) -> dict[str, Any]:
    said = {name: value for name, value in _all(_SETTING, entry).items() if value}
    values = [value["ValueName"] for value in _objects(entry.get("Value"))]
    return said | ({"allowable_values": values} if values else {})


def firmware(found: Documents) -> dict[str, str]:
    """Return the versions by component: BIOS, BMC, and the network adapters of the first chassis that has any."""
    managers = found.members(object_of(found.system.get("Links")), "ManagedBy") or found.below("/Managers/[^/]+")
    adapters = [one for chassis in found.chassis.values() for one in _listed(found, chassis, "NetworkAdapters")]
    said = {
        "bios": found.system.get("BiosVersion"),
        "bmc": next(iter(managers.values()), {}).get("FirmwareVersion"),
        **{
            f"nic:{one.get('SerialNumber') or one['Id']}": controller.get("FirmwarePackageVersion")
            for one in adapters
            for controller in _objects(one.get("Controllers"))[:1]
        },
    }
    return {name: version for name, version in said.items() if version}
