"""Hook parse-lldp: what switches say of themselves, readable, by interface (S94)."""

from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.lldp import frames_of, parse
from ironic.inspection.staged_task import StagedTask


class ParseLldp(InspectionHook):
    """Make LLDP data readable."""

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Put `parsed_lldp` into the plug-in data when there is something to read."""
        parsed = {name: parse(frame) for name, frame in frames_of(inventory, plugin_data).items()}
        if found := {name: facts for name, facts in parsed.items() if facts}:
            plugin_data["parsed_lldp"] = found
