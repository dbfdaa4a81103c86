"""Inspect interface `redfish`: ask the BMC what it knows; the machine is not touched.

The findings go through the hooks of [redfish]inspection_hooks and, where [inspection_rules]supported_interfaces allows
it, the rules, exactly as those of a ramdisk. A BMC that does not say everything is no failure: what it leaves out stays
as it is on the node.
"""

import logging
from collections.abc import Mapping
from typing import Final

from ironic.conf import CONF
from ironic.core import states
from ironic.core.root_device_hints import GIB
from ironic.drivers.interfaces import InspectInterface
from ironic.drivers.modules.redfish.access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.connection import read
from ironic.drivers.modules.redfish.inventory import Inventory, inventory_of
from ironic.drivers.task import Task
from ironic.inspection.hooks import root_device
from ironic.inspection.hooks.base import InspectionHook, PluginData
from ironic.inspection.hooks.base import Inventory as HookInventory
from ironic.inspection.hooks.loading import NamedHook, load, names_of
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.rules import RuleBook
from ironic.inspection.rules import load as load_rules
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

_ARCHITECTURE: Final = "architecture"
# Smaller ones are no place for a system; ramdisks choose likewise.
_SMALLEST_DISK: Final = 4 * GIB


class RedfishInspect(InspectInterface):
    """Out-of-band inspection."""

    def __init__(self) -> None:
        self.hooks = load(names_of(CONF.redfish.inspection_hooks))
        self.book = RuleBook(load_rules(CONF.inspection_rules.built_in))

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        """Raise when the BMC could not be asked."""
        access_of(task.node)

    def inspect_hardware(self, task: Task) -> str:
        """Ask the BMC and make something of the answers, all at once."""
        inventory = read(task.node, "reading the inventory", inventory_of)
        plugin_data: PluginData = {}
        _set_properties(task, inventory, plugin_data)
        before = {port.address: port.pxe_enabled for port in task.ports}
        hooks = [one for one in self.hooks if one.name != _ARCHITECTURE or _tells_architecture(task, inventory)]
        Pipeline([*hooks, NamedHook("redfish", _PxeAsBefore(before))], self.book).run(task, inventory, plugin_data)
        return states.MANAGEABLE


class _PxeAsBefore(InspectionHook):
    """Undo guesses about network boot: a BMC does not know which card that was."""

    def __init__(self, before: dict[str, bool]) -> None:
        self._before = before

    def __call__(self, task: StagedTask, inventory: HookInventory, plugin_data: PluginData) -> None:
        for port in task.ports:
            port.pxe_enabled = self._before.get(port.address, True)


def root_disk(inventory: Inventory, properties: Mapping[str, object]) -> object:
    """Return the disk that hints choose, or else the smallest one that is large enough; None when there is none."""
    hints, skipped = properties.get("root_device") or {}, properties.get("skip_block_devices") or []
    large = [disk for disk in inventory["disks"] if (disk.get("size") or 0) >= _SMALLEST_DISK]
    ordered = {"disks": sorted(large, key=lambda disk: disk["size"])}
    return root_device.chosen(ordered, {}, hints, skipped)


def _set_properties(task: Task, inventory: Inventory, plugin_data: PluginData) -> None:
    """Set what schedulers look at; stored with the first phase, or not at all."""
    node = task.node
    # Hints that fit no disk end it here, before anything is set.
    disk = root_disk(inventory, node.properties) if inventory["disks"] else None
    if size := inventory.get("memory", {}).get("physical_mb"):
        node.set_property("memory_mb", size)
    if disk:
        plugin_data["root_disk"] = disk
        node.set_property("local_gb", root_device.local_gb(disk, CONF.inspector.disk_partitioning_spacing))


def _tells_architecture(task: Task, inventory: Inventory) -> bool:
    if inventory.get("cpu", {}).get("architecture"):
        return True
    LOG.warning(
        "Node %s: the BMC does not tell the architecture of the CPU; property cpu_arch stays as it is. Set it by hand "
        "where it is needed.",
        task.node.uuid,
    )
    return False
