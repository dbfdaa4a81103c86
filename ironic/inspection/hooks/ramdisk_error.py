"""Hook ramdisk-error: an inspection whose ramdisk reports an error has failed (S84)."""

from ironic.core.errors import HardwareInspectionFailure
from ironic.core.plain_text import plain
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.staged_task import StagedTask

_LONGEST = 2000  # characters of an error that are worth keeping


class RamdiskError(InspectionHook):
    """Fail when the ramdisk sent an error."""

    def preprocess(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Fail before anything is made of the data."""
        if error := plugin_data.get("error"):
            raise HardwareInspectionFailure(error=f"the ramdisk reported: {plain(error, _LONGEST)}")

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Do nothing."""
