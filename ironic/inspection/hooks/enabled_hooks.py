"""The hooks that options enable for an inspect interface, and how those of a BMC differ.

A BMC may not say what some hooks need, as a ramdisk does; they are left out then, and the inspection goes on. After the
hooks, `pxe_enabled` of ports is set by what the BMC says of the firmware. Inspections and dry runs both read it here.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from ironic.conf import CONF
from ironic.conf.inspection import HOOK_OPTIONS
from ironic.inspection.hooks import base
from ironic.inspection.hooks.base import InspectionHook, Inventory, NamedHook, PluginData
from ironic.inspection.incomplete_lists import INTERFACES as CARDS
from ironic.inspection.incomplete_lists import missing_in
from ironic.inspection.reported_data import list_at, value_at
from ironic.inspection.staged_task import StagedTask

# The inspect interfaces whose reports hooks process; the first one's come from a ramdisk, those of others from a BMC.
INTERFACES: Final = tuple(HOOK_OPTIONS)
OF_RAMDISKS: Final = INTERFACES[0]

# Key of the inventory's "boot" with the MAC addresses of all network cards that the firmware boots from.
BOOT_CARDS: Final = "pxe_interfaces"


def names(interface: str) -> list[str]:
    """Return the names of the hooks that the option of an inspect interface enables, in order."""
    group, option = HOOK_OPTIONS[interface]
    return base.hook_names(CONF[group][option])


def lacking_data(hooks: Iterable[NamedHook], inventory: Mapping[str, object]) -> dict[str, str]:
    """Return the names of hooks that can't process what a BMC has reported, each with what is missing."""
    needs = {name: hook.needs for name, hook in hooks if hook.needs is not None}
    return {name: need.without for name, need in needs.items() if not value_at(inventory, *need.keys)}


class Port(Protocol):
    """What is looked at of a port."""

    address: str
    pxe_enabled: bool


def pxe_flags(name: str, ports: Iterable[Port]) -> NamedHook:
    """Return what follows the hooks on data of a BMC; ``ports`` are those before the inspection."""
    return NamedHook(name, _PxeFlags({port.address: port.pxe_enabled for port in ports}))


class _PxeFlags(InspectionHook):
    """Set `pxe_enabled` of ports by what the firmware boots from, or leave it where the BMC does not say that."""

    runs_dry = True

    def __init__(self, before: dict[str, bool]) -> None:
        self._before = before

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        booted = list_at(inventory, "boot", BOOT_CARDS)
        # The card that the firmware boots from may be one that could not be read.
        may_update = CONF.inspector.update_pxe_enabled and not missing_in(plugin_data, CARDS)
        for port in task.ports:
            is_kept = port.address in self._before and not may_update
            if booted and not is_kept:
                port.pxe_enabled = port.address in booted
            else:
                port.pxe_enabled = self._before.get(port.address, True)
