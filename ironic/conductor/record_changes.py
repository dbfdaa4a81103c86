"""Changes of records that need the node's lock: delete a node, change and delete ports and port groups, bind VIFs.

The API has checked the form of a change; here the node's state and its network interface are asked. What the ports of a
group share is written to them together with the group. Source: doc/contract/states.md#ports-and-port-groups.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Final

from ironic.conductor import consoles
from ironic.conductor.node_events import add_history
from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core import node_rules
from ironic.core.errors import ChangedMeanwhile, IronicError, TakenOver
from ironic.core.errors.failure_texts import failure_text
from ironic.core.errors.resource_errors import PortgroupNotFound, PortNotFound
from ironic.core.flows.flow import FLOWS
from ironic.core.texts.syntax import plain_text
from ironic.db import PortgroupRecord, PortRecord
from ironic.db.repository import R, Repository
from ironic.inspection import inventory_storage
from ironic.services import node_parents, row_changes
from ironic.services.row_limits import check_room, of_parts

LOG = logging.getLogger(__name__)


@rpc_method
def destroy_node(task: TaskManager) -> None:
    """Delete the node with all that belongs to it, or raise the reason against it."""
    available_too = CONF.conductor.allow_deleting_available_nodes
    node_rules.check_deletable(task.node, available_too=available_too)

    def check_children() -> None:
        node_parents.check_children(task.store, task.node, available_too=available_too)

    task.write(check_children)
    try:
        inventory_storage.backend_from_conf().forget(task.node.uuid)
    except IronicError as error:
        # A node in maintenance is deleted even if its inventory, which may be stored elsewhere, can't be.
        if not task.node.maintenance:
            raise
        LOG.warning("Node %s is deleted, but its inventory could not be: %s", task.node.uuid, error)
    consoles.close_for_deletion(task)
    freed: list[str] = []

    def delete() -> None:
        # Again: since the first check, which keeps the inventory of a node that stays, nodes may have become children.
        check_children()
        freed[:] = task.store.nodes.delete_held(task.node)

    task.write(delete)
    LOG.info("Node %s is deleted", task.node.uuid)
    if freed:
        LOG.warning("Node %s was parent_node of nodes that have none now: %s", task.node.uuid, ", ".join(freed))


_NETWORK: Final = "network"
_LONGEST_NAME: Final = 64

_CONNECTIVITY: Final = ("portgroup_id", "pxe_enabled", "local_link_connection", "physical_network")

# Keys of a port under which a network interface keeps the virtual interface that uses it.
_VIF_KEYS: Final = tuple(
    f"{network}_vif_port_id" for network in ("tenant", *dict.fromkeys(each.network for each in FLOWS if each.network))
)


@rpc_method
def update_port(
    task: TaskManager,
    port_id: str,
    changes: dict[str, object],
    seen: dict[str, object] | None = None,
    most: int | None = None,
) -> None:
    """Change a port that is as it was seen, if the node's state and its network interface allow it."""
    port = _port_of(task, port_id)
    _check_as_seen(port, f"port {port_id}", seen or {})
    if changes.get("address", port.address) != port.address:
        node_rules.check_port_address(task.node)
    changed = [name for name in _CONNECTIVITY if name in changes and changes[name] != getattr(port, name)]
    node_rules.check_connectivity(task.node, changed)
    for name, value in changes.items():
        setattr(port, name, value)
    group_id = port.portgroup_id if {"portgroup_id", "physical_network"} & set(changed) else None
    if group_id is not None:
        # Checked before the network is changed, and again when it is stored: a new port needs no lock of the node.
        group = task.store.portgroups.get(group_id)
        row_changes.check_group_network(task.store, group, port.physical_network, port.id)
    task.network.port_changed(task, port)

    def write() -> None:
        _check_room(task, port, task.store.ports, "ports", most)
        if group_id is not None:
            row_changes.join_group(
                task.store,
                group_id,
                port.physical_network,
                node_id=port.node_id,
                pxe_enabled=port.pxe_enabled and "portgroup_id" in changed,
                port_id=port.id,
            )
        port.save()

    task.write(write)


@rpc_method
def destroy_port(task: TaskManager, port_id: str) -> None:
    """Delete a port without an attached virtual interface."""
    port = _port_of(task, port_id)
    node_rules.check_unbound(task.node, f"Port {port.uuid}", is_attached(port))
    task.write(lambda: task.store.ports.delete(port.id))


@rpc_method
def list_vifs(task: TaskManager) -> list[dict[str, object]]:
    """Return the virtual interfaces (VIFs) of the node, as its network interface knows them."""
    return task.validated(task.network).vif_list(task)


@rpc_method
def attach_vif(task: TaskManager, vif: dict[str, object]) -> None:
    """Bind a virtual interface to a port that the network interface chooses."""
    _with_history(task, "attaching", vif.get("id"), lambda: task.validated(task.network).vif_attach(task, vif))


@rpc_method
def detach_vif(task: TaskManager, vif_id: str) -> None:
    """Unbind a virtual interface from its port."""
    _with_history(task, "detaching", vif_id, lambda: task.validated(task.network).vif_detach(task, vif_id))


def _with_history(task: TaskManager, what: str, vif: object, act: Callable[[], None]) -> None:
    """Do something with a virtual interface; a failure is in node history as well, which outlasts the answer."""
    try:
        act()
    except TakenOver:
        raise
    except Exception as error:
        headline = f"{what.capitalize()} virtual interface (VIF) {plain_text(str(vif), _LONGEST_NAME)} failed"
        text = failure_text(headline, error, task.node.uuid)
        LOG.warning("Node %s: %s", task.node.uuid, text)
        add_history(task, _NETWORK, text, severity="ERROR")
        raise


def is_attached(record: PortRecord | PortgroupRecord) -> bool:
    """Return whether a virtual interface is bound to a port or port group."""
    return any(record.internal_info.get(key) for key in _VIF_KEYS)


def _check_as_seen(record: PortRecord | PortgroupRecord, what: str, seen: Mapping[str, object]) -> None:
    if any(getattr(record, name) != value for name, value in seen.items()):
        raise ChangedMeanwhile(what=what)


def _port_of(task: TaskManager, port_id: str) -> PortRecord:
    """Return one of the node's ports, read with the node locked, or raise PortNotFound."""
    for port in task.ports:
        if port.uuid == port_id:
            return port
    raise PortNotFound(port=port_id)


@rpc_method
def update_portgroup(
    task: TaskManager,
    portgroup_id: str,
    changes: dict[str, object],
    seen: dict[str, object] | None = None,
    most: int | None = None,
) -> None:
    """Change a port group that is as it was seen, if its ports, the node's state and its network interface allow it."""
    group = _portgroup_of(task, portgroup_id)
    _check_as_seen(group, f"port group {portgroup_id}", seen or {})
    row_changes.members_of(task.store, group, changes)
    if changes.get("node_id", task.node.id) != task.node.id:
        node_rules.check_portgroup_leaves(task.node)
    for name, value in changes.items():
        setattr(group, name, value)
    task.network.portgroup_changed(task, group)

    def write() -> None:
        _check_room(task, group, task.store.portgroups, "portgroups", most)
        row_changes.save_group(task.store, group, changes, group.save)

    task.write(write)


@rpc_method
def destroy_portgroup(task: TaskManager, portgroup_id: str) -> None:
    """Delete a port group without ports and without an attached virtual interface."""
    group = _portgroup_of(task, portgroup_id)
    node_rules.check_unbound(task.node, f"Port group {group.uuid}", is_attached(group))
    task.write(lambda: task.store.portgroups.delete(group.id))


def _check_room(
    task: TaskManager, part: PortRecord | PortgroupRecord, rows: Repository[R], kind: str, most: int | None
) -> None:
    """Raise RowLimit if the part moves to another node that has ``most`` of its kind."""
    if part.node_id != task.node.id:
        check_room(rows, of_parts(most or 0, kind, part.node_id))


def _portgroup_of(task: TaskManager, portgroup_id: str) -> PortgroupRecord:
    """Return one of the node's port groups, read with the node locked, or raise PortgroupNotFound."""
    for group in task.portgroups:
        if group.uuid == portgroup_id:
            return group
    raise PortgroupNotFound(portgroup=portgroup_id)
