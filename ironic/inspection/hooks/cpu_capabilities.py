"""Hook cpu-capabilities: flags of the CPU become capabilities (S90)."""

from collections.abc import Iterable, Mapping

from ironic.conf import CONF
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.hooks.capabilities import set_capabilities
from ironic.inspection.reading import list_at
from ironic.inspection.staged_task import StagedTask


class CpuCapabilities(InspectionHook):
    """Note what the CPU can do as capabilities."""

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the capabilities; those that the CPU has not got are left as they are."""
        if found := capabilities_of(list_at(inventory, "cpu", "flags"), CONF.inspector.cpu_capabilities):
            set_capabilities(task, found)


def capabilities_of(flags: Iterable[object], meanings: Mapping[str, str]) -> dict[str, str]:
    """Return the capabilities that some flag stands for."""
    present = {flag for flag in flags if isinstance(flag, str)}
    return {capability: "true" for flag, capability in meanings.items() if flag in present}
