"""Hook local-link-connection: from LLDP to the switch and port that a network card is connected to (S92)."""

import logging
from collections.abc import Sequence
from typing import Final

from ironic.db import PortRecord
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.hooks.interface_ports import ports_by_interface
from ironic.inspection.lldp import Frame, MalformedFrame, decode, frames_of, identifiers
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

_READERS: Final = {
    1: ("switch_id", identifiers.chassis_mac),
    2: ("port_id", identifiers.port),
    5: ("switch_info", identifiers.text),
}
_END: Final = 0


class LocalLinkConnection(InspectionHook):
    """Note where ports are connected."""

    dependencies = ("validate-interfaces",)

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Complete `local_link_connection` of existing ports; what is set stays."""
        frames = frames_of(inventory, plugin_data)
        for name, port in ports_by_interface(task, plugin_data).items():
            if name in frames:
                _complete(task, name, port, frames[name])


def connection(frame: Frame) -> dict[str, str]:
    """Return what a frame says about switch and port; of values of one type the first counts."""
    found: dict[str, str] = {}
    for kind, data in frame:
        if kind == _END:
            break
        key, read = _READERS.get(kind, ("", identifiers.text))
        if key and key not in found and (text := read(data)):
            found[key] = text
    return found


def _complete(task: StagedTask, name: str, port: PortRecord, raw: Sequence[object]) -> None:
    try:
        found = connection(decode(raw))
    except MalformedFrame as error:
        LOG.warning("Node %s: LLDP data of interface %s are not used: %s", task.node.uuid, name[:32], error)
        return
    missing = {key: value for key, value in found.items() if not port.local_link_connection.get(key)}
    if missing:
        port.local_link_connection.update(missing)
        port.save()
