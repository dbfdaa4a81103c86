"""Which port belongs to which of the interfaces that validate-interfaces has left; several hooks complete ports."""

from collections.abc import Mapping

from ironic.db import PortRecord
from ironic.inspection.hooks.base import PluginData
from ironic.inspection.reading import at, text_at
from ironic.inspection.staged_task import StagedTask


def interfaces_of(plugin_data: PluginData) -> dict[str, Mapping[str, object]]:
    """Return all interfaces by name."""
    found = at(plugin_data, "all_interfaces")
    return {name: one for name, one in found.items() if isinstance(one, Mapping)} if isinstance(found, Mapping) else {}


def ports_by_interface(task: StagedTask, plugin_data: PluginData) -> dict[str, PortRecord]:
    """Return the port of each interface that has one; bonds and VLANs share that of their card."""
    ports: dict[str | None, PortRecord] = {port.address: port for port in task.ports}
    owned = {name: ports.get(text_at(one, "mac_address")) for name, one in interfaces_of(plugin_data).items()}
    return {name: port for name, port in owned.items() if port is not None}
