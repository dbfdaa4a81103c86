"""Versions of firmware before and after an update, which show whether it was done where its task does not say so."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final, TypeGuard

from ironic.drivers.modules.redfish.tree.members import seen_chassis, seen_managers, seen_members
from ironic.drivers.modules.redfish.tree.network_cards import is_chassis_of_one
from ironic.drivers.modules.redfish.wire.bmc_connection import System

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
