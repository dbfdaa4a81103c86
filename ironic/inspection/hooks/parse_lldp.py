"""Hook parse-lldp: what switches say of themselves, readable, by interface (S94)."""

from typing import Any

from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.lldp import frames_of, parse


class ParseLldp(InspectionHook):
    """Make LLDP data readable."""

    def __call__(self, task: Any, inventory: Inventory, plugin_data: PluginData) -> None:
        """Put `parsed_lldp` into the plug-in data when there is something to read."""
        parsed = {name: parse(frame) for name, frame in frames_of(inventory, plugin_data).items()}
        if found := {name: facts for name, facts in parsed.items() if facts}:
            plugin_data["parsed_lldp"] = found
