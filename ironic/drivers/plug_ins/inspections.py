"""The stored data of an inspection, and ports for MAC addresses, as third-party inspect interfaces ask for them."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors.resource_errors import MACAlreadyExists, NodeInventoryNotFound
from ironic.core.texts import syntax
from ironic.db.column_types import decode_json
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.agent import ramdisk_boot
from ironic.drivers.plug_ins.records import Port
from ironic.inspection import inventory_storage, posted_data
from ironic.inspection.hooks.base import load_hooks
from ironic.inspection.staged_task import StagedTask, flush_running
from ironic.services import process_store

LOG = logging.getLogger(__name__)

CALLBACK_API_ENDPOINT: Final = "/v1/continue_inspection"


def get_inspection_data(node: Node, _context: object) -> dict[str, Any]:
    """Return the inventory and the plug-in data of the last inspection; raises NodeInventoryNotFound."""
    flush_running()
    store = process_store.database().store
    texts = inventory_storage.backend_from_conf().texts(store, node.id, node.uuid)
    if texts is None:
        raise NodeInventoryNotFound(node=node.uuid)
    plugin_data = posted_data.processed_part(decode_json(texts.plugin_data))
    return {"inventory": decode_json(texts.inventory), "plugin_data": plugin_data}


def store_inspection_data(
    node: Node, inventory: Mapping[str, object], plugin_data: Mapping[str, object], _context: object
) -> None:
    """Store an inventory and plug-in data in place of the earlier ones; raises HardwareInspectionFailure."""
    texts = inventory_storage.texts_of(inventory, plugin_data, CONF.inventory.size_limit)
    staged = StagedTask(_of_node(node))
    inventory_storage.backend_from_conf().keep(staged, texts)
    staged.flush()


def create_ports_if_not_exist(task: Task, macs: Sequence[str] | None = None) -> None:
    """Create a port for each MAC address that has none; None asks the management interface for the addresses.

    A wrong address is skipped with a warning, and so is one that another node has.
    """
    for mac in task.management.get_mac_addresses(task) if macs is None else macs:
        if syntax.mac_of(mac) is None:
            LOG.warning("Node %s: %r is no MAC address, so there is no port for it", task.node.uuid, str(mac)[:64])
            continue
        try:
            Port(task.context, node_id=task.node.id, address=mac).create()
        except MACAlreadyExists as error:
            LOG.info("Node %s: no new port: %s", task.node.uuid, error)
    task.ports = None


def get_inspection_callback(url: str | None = None) -> str:
    """Return the URL to which a ramdisk sends its data, below the URL of this service."""
    return f"{(url or ramdisk_boot.service_url()).rstrip('/')}{CALLBACK_API_ENDPOINT}"


def validate_inspection_hooks(names: Sequence[str]) -> None:
    """Raise HookLoadError with every reason why these hooks can't be loaded in this order."""
    load_hooks(names)


class _OfNode:
    """What storing an inventory takes of a task."""

    context: object = None
    ports: object = ()

    def __init__(self, node: Node) -> None:
        self.node = node
        self.store = process_store.database().store


def _of_node(node: Node) -> Any:
    return _OfNode(node)
