"""Hook cpus: the number of CPUs becomes property cpus; nobody needs it any more, so it is off by default (S99)."""

from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.reading import whole_number_at
from ironic.inspection.staged_task import StagedTask


class Cpus(InspectionHook):
    """Copy the number of CPUs to the node's properties."""

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the property; without a number nothing happens."""
        if count := whole_number_at(inventory, "cpu", "count"):
            task.node.set_property("cpus", count)
            task.node.save()
