"""Versions of firmware: of each component, and before and after an update.

Where the task of an update does not say that it was done, another version than before it shows that.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeGuard

import sushy

from ironic.drivers.modules.redfish.tree.members import bmc_of, seen_chassis, seen_managers, seen_members
from ironic.drivers.modules.redfish.tree.network_cards import is_chassis_of_one
from ironic.drivers.modules.redfish.wire.bmc_system import System, optional

BIOS: Final = "bios"
BMC: Final = "bmc"
NIC: Final = "nic:"

_LONGEST: Final = 255
_VERSION: Final = re.compile("(?=[^-])(?=.*[1-9])")
# Stands for bytes that are no text.
_REPLACED: Final = "\ufffd"


def versions_of(system: System) -> dict[str, str]:
    """Return the versions that the BMC shows: of `bios`, and of `bmc` and `nic` with their paths after a blank."""
    return {name: version for name, version in _shown(system) if is_version(version)}


def is_version(value: object) -> TypeGuard[str]:
    """Return whether a value is a version: "N/A", "0.0" and broken text are none, and would look like a flash."""
    return isinstance(value, str) and value.isprintable() and _REPLACED not in value and bool(_VERSION.match(value))


def has_changed(before: Mapping[str, str], now: Mapping[str, str], component: str | None) -> bool:
    """Return whether a component, or any without one, has another version; one that was not shown before has not."""
    kind = (component or "").partition(":")[0]
    changed = [name for name, version in now.items() if before.get(name, version) != version]
    return any(name.partition(" ")[0] == kind or not kind for name in changed)


def _shown(system: System) -> Iterator[tuple[str, object]]:
    yield "bios", system.bios_version
    for manager in seen_managers(system).items:
        yield f"bmc {manager.path}", manager.firmware_version
    for chassis in filter(partial(is_chassis_of_one, system), seen_chassis(system).items):
        for adapter in seen_members(chassis, "network_adapters").items:
            for number, controller in enumerate(adapter.controllers or ()):
                yield f"nic {adapter.path} {number}", controller.firmware_package_version


def bmc_version(system: System) -> str:
    """Return the version of the first manager that may be a BMC, empty where it shows none."""
    kinds = (None, sushy.ManagerType.BMC)
    versions = [manager.firmware_version for manager in seen_managers(system).items if manager.manager_type in kinds]
    return str(versions[0] or "") if versions else ""


def components_of(system: System) -> list[dict[str, str | None]]:
    """Return the components that have a version, as rows of the table of firmware components."""
    found = [_item(BIOS, system.bios_version)]
    # Another manager's version would be a flash of the BMC that never was.
    if (manager := optional(lambda: bmc_of(system), None)) is not None:
        found.append(_item(BMC, manager.firmware_version, model=manager.model))
    # HPE answers with an error while the machine is off.
    adapters = _adapters(system)
    serials = Counter(adapter.serial_number for adapter in adapters)
    for adapter in adapters:
        # Some BMCs give all cards one number, as "N/A".
        is_named = (adapter.serial_number or "").strip() and serials[adapter.serial_number] == 1
        name = adapter.serial_number if is_named else adapter.identity
        versions = [controller.firmware_package_version for controller in adapter.controllers or ()]
        version = next((version for version in versions if version), None)
        found.append(
            _item(
                f"{NIC}{name}",
                version,
                model=adapter.model,
                vendor=adapter.manufacturer,
                serial_number=adapter.serial_number,
            )
        )
    return [item for item in found if is_version(item["current_version"])]


def _adapters(system: System) -> tuple[Any, ...]:
    """Return the network adapters of the first chassis that has any and no other machine, of those that can be read.

    Where the machine does not say which its chassis are, one that says whose it is can be taken as well.
    """
    own = (chassis for chassis in seen_chassis(system).items if is_chassis_of_one(system, chassis))
    seen = (seen_members(chassis, "network_adapters") for chassis in own)
    first = next((one for one in seen if one.items or one.missing), None)
    return first.items if first is not None else ()


def _item(component: str, version: object, **more: object) -> dict[str, str | None]:
    values = {"component": component, "current_version": version, **more}
    return {name: value[:_LONGEST] if isinstance(value, str) else None for name, value in values.items()}
