"""Hook boot-mode: the mode that the ramdisk was booted in becomes capability boot_mode (S89)."""

from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.hooks.capabilities import set_capabilities
from ironic.inspection.reading import text_at
from ironic.inspection.staged_task import StagedTask


class BootMode(InspectionHook):
    """Note the boot mode as a capability."""

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the capability; without a mode nothing happens."""
        if mode := text_at(inventory, "boot", "current_boot_mode"):
            set_capabilities(task, {"boot_mode": mode})
