"""The hooks that options enable for an inspect interface, and how those of a BMC differ.

A BMC may not say what some hooks need, as a ramdisk does; they are left out then, and the inspection goes on. After the
hooks, `pxe_enabled` of ports is set by what the BMC says of the firmware. Inspections and dry runs both read it here.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from ironic.conf import CONF
from ironic.inspection.hooks import base
from ironic.inspection.hooks.base import InspectionHook, Inventory, NamedHook, PluginData
from ironic.inspection.incomplete_lists import INTERFACES, missing_in
from ironic.inspection.reported_data import list_at, value_at
from ironic.inspection.staged_task import StagedTask

IN_BAND: Final = "agent"
OF_BMC: Final = "redfish"

# The option with the hooks, by the inspect interface.
OPTIONS: Final = {IN_BAND: ("inspector", "hooks"), OF_BMC: ("redfish", "inspection_hooks")}

# Key of the inventory's "boot" with the MAC addresses of all network cards that the firmware boots from.
BOOT_CARDS: Final = "pxe_interfaces"

# Hooks that read what only a ramdisk sends.
OF_RAMDISKS: Final = frozenset({"parse-lldp", "extra-hardware"})

_NO_ARCHITECTURE: Final = (
    "the BMC does not report the architecture of the CPU; property cpu_arch stays as it is. Set it by hand where it is "
    "needed."
)
_NO_CARD: Final = (
    "the BMC shows no network card with a MAC address; its ports stay as they are. Create them by hand, or choose "
    f"inspect interface {IN_BAND}."
)


def names(interface: str) -> list[str]:
    """Return the names of the hooks that the option of an inspect interface enables, in order."""
    group, option = OPTIONS[interface]
    return base.hook_names(CONF[group][option])


def lacking_data(inventory: Mapping[str, object]) -> dict[str, str]:
    """Return the hooks that can't process what a BMC has reported, each with what is missing."""
    without: dict[str, str] = {}
    if not value_at(inventory, "cpu", "architecture"):
        without["architecture"] = _NO_ARCHITECTURE
    if not inventory.get("interfaces"):
        without |= {"validate-interfaces": _NO_CARD, "ports": _NO_CARD}
    return without


class Port(Protocol):
    """What is looked at of a port."""

    address: str
    pxe_enabled: bool


def pxe_flags(ports: Iterable[Port]) -> NamedHook:
    """Return what follows the hooks on data of a BMC; ``ports`` are those before the inspection."""
    return NamedHook(OF_BMC, _PxeFlags({port.address: port.pxe_enabled for port in ports}))


class _PxeFlags(InspectionHook):
    """Set `pxe_enabled` of ports by what the firmware boots from, or leave it where the BMC does not say that."""

    runs_dry = True

    def __init__(self, before: dict[str, bool]) -> None:
        self._before = before

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        booted = list_at(inventory, "boot", BOOT_CARDS)
        # The card that the firmware boots from may be one that could not be read.
        may_update = CONF.inspector.update_pxe_enabled and not missing_in(plugin_data, INTERFACES)
        for port in task.ports:
            is_kept = port.address in self._before and not may_update
            if booted and not is_kept:
                port.pxe_enabled = port.address in booted
            else:
                port.pxe_enabled = self._before.get(port.address, True)
