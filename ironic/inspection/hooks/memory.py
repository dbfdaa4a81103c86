"""Hook memory: the size of the memory becomes property memory_mb (S93)."""

from ironic.core.errors import HardwareInspectionFailure
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.reading import whole_number_at
from ironic.inspection.staged_task import StagedTask


class Memory(InspectionHook):
    """Copy the size of the memory to the node's properties."""

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the property, or fail when the inventory has no size."""
        size = whole_number_at(inventory, "memory", "physical_mb")
        if not size:
            raise HardwareInspectionFailure(error="the inventory has no size of the memory (memory.physical_mb)")
        task.node.set_property("memory_mb", size)
        task.node.save()
