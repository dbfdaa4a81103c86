"""Hook architecture: the CPU architecture becomes property cpu_arch (S85)."""

from ironic.core.errors import HardwareInspectionFailure
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.reading import text_at
from ironic.inspection.staged_task import StagedTask


class Architecture(InspectionHook):
    """Copy the CPU architecture to the node's properties."""

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the property, or fail when the inventory has none."""
        architecture = text_at(inventory, "cpu", "architecture")
        if not architecture:
            raise HardwareInspectionFailure(error="the inventory has no CPU architecture (cpu.architecture)")
        task.node.set_property("cpu_arch", architecture)
        task.node.save()
