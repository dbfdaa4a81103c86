"""What a BMC knows about its machine, in the form in which ramdisks report theirs.

Every branch of the Redfish tree may be missing or broken; what can't be read is left out, and whoever needs it decides
what that means. The same shape as an in-band inventory, so the same hooks and rules work on it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import sushy

from ironic.drivers.modules.redfish.connection import System
from ironic.drivers.modules.redfish.optional import optional

Inventory = dict[str, Any]
Found = dict[str, object]

# By what BMCs say of instruction sets, then of architectures: nobody puts a 32-bit processor behind Redfish.
_ARCHITECTURES: Final[Mapping[str, str]] = {
    "x86-64": "x86_64",
    "x86": "x86_64",
    "ARM-A64": "aarch64",
    "ARM-A32": "armv7l",
    "ARM": "aarch64",
    "IA-64": "ia64",
    "PowerISA": "ppc64le",
    "Power": "ppc64le",
}
_MODES: Final = {sushy.BOOT_SOURCE_MODE_UEFI: "uefi", sushy.BOOT_SOURCE_MODE_BIOS: "bios"}
_MIB_PER_GIB: Final = 1024


def inventory_of(system: System) -> Inventory:
    """Return everything that is known of a machine."""
    found: Inventory = {
        "interfaces": _list(_interfaces, system),
        "cpu": _dict(_cpu, system),
        "memory": _dict(_memory, system),
        "disks": [*_list(_drives, system), *_list(_simple_disks, system)],
        "boot": _dict(_boot, system),
        "system_vendor": _known(
            manufacturer=system.manufacturer, product_name=system.model, serial_number=system.serial_number
        ),
    }
    return {key: value for key, value in found.items() if value or key in ("interfaces", "disks")}


def _list(find: Callable[[System], Iterable[Found]], system: System) -> list[Found]:
    nothing: list[Found] = []
    return optional(lambda: list(find(system)), nothing)


def _dict(find: Callable[[System], Found], system: System) -> Found:
    nothing: Found = {}
    return optional(lambda: find(system), nothing)


def _interfaces(system: System) -> Iterable[Found]:
    for interface in system.ethernet_interfaces.get_members():
        state = interface.status.state if interface.status is not None else None
        if interface.mac_address and state in (None, sushy.STATE_ENABLED):
            yield _known(
                name=interface.identity or interface.name,
                mac_address=interface.mac_address.lower(),
                speed_mbps=interface.speed_mbps,
            )


def _cpu(system: System) -> Found:
    processors = system.processors.get_members()
    threads = [one.total_threads for one in processors if one.total_threads]
    first = processors[0] if processors else None
    return _known(
        count=sum(threads) or None,
        architecture=next(filter(None, map(_architecture, processors)), None),
        model_name=first and first.model,
        frequency=first and first.max_speed_mhz,
        socket_count=len(processors) or None,
    )


def _architecture(processor: Any) -> str | None:
    said = (_word(processor.instruction_set), _word(processor.processor_architecture))
    return next((_ARCHITECTURES[word] for word in said if word is not None and word in _ARCHITECTURES), None)


def _memory(system: System) -> Found:
    size = system.memory_summary.size_gib if system.memory_summary is not None else None
    return _known(physical_mb=int(size * _MIB_PER_GIB) if size else None)


def _drives(system: System) -> Iterable[Found]:
    for controller in system.storage.get_members():
        yield from _list(_drives_of, controller)


def _drives_of(controller: Any) -> Iterable[Found]:
    for drive in controller.drives:
        yield _known(
            name=drive.name or drive.identity,
            size=drive.capacity_bytes,
            serial=drive.serial_number,
            model=drive.model,
            vendor=drive.manufacturer,
            rotational={"HDD": True, "SSD": False}.get(_word(drive.media_type) or ""),
        )


def _simple_disks(system: System) -> Iterable[Found]:
    for controller in system.simple_storage.get_members():
        for device in controller.devices or ():
            yield _known(name=device.name, size=device.capacity_bytes)


def _boot(system: System) -> Found:
    return _known(current_boot_mode=_MODES.get(system.boot.mode) if system.boot is not None else None)


def _word(value: object) -> str | None:
    """Return what stands in the document, for the library turns known words into names of its own."""
    return None if value is None else str(getattr(value, "value", value))


def _known(**values: Any) -> Found:
    return {key: value for key, value in values.items() if value is not None}
