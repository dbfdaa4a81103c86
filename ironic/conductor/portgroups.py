"""Changing and deleting port groups, where their ports, the node's state and its network have a say.

What the ports of a group share is written to them together with the group. The caller has checked the form of the
change. Source: doc/contract/states.md#ports-and-port-groups.
"""

from collections.abc import Mapping, Sequence

from ironic.conductor import ports
from ironic.conductor.answering import answers
from ironic.conductor.task import Task
from ironic.core import node_rules
from ironic.core.errors import Conflict
from ironic.core.resource_errors import PortgroupNotEmpty, PortgroupNotFound
from ironic.db import PortgroupRecord, PortRecord


@answers
def update_portgroup(task: Task, portgroup_id: str, changes: dict[str, object]) -> None:
    """Change a port group, once its ports, its node and its network agree."""
    group = _belonging_to(task, portgroup_id)
    members = [port for port in task.ports if port.portgroup_id == group.id]
    _check_move(task, group, members, changes)
    _check_boots(group, members, changes)
    for name, value in changes.items():
        setattr(group, name, value)
    task.network.portgroup_changed(task, group)
    with task.writing():
        group.save()
        if "physical_network" in changes:
            _share_network(members, group.physical_network)


@answers
def destroy_portgroup(task: Task, portgroup_id: str) -> None:
    """Delete a port group that has no ports and that nothing is attached to."""
    group = _belonging_to(task, portgroup_id)
    node_rules.check_unbound(task.node, f"Port group {group.uuid}", ports.is_attached(group))
    with task.writing():
        task.store.portgroups.delete(group.id)


def _belonging_to(task: Task, portgroup_id: str) -> PortgroupRecord:
    """Return one of the node's port groups as it is now that the node is locked."""
    for group in task.portgroups:
        if group.uuid == portgroup_id:
            return group
    raise PortgroupNotFound(portgroup=portgroup_id)


def _check_move(
    task: Task, group: PortgroupRecord, members: Sequence[PortRecord], changes: Mapping[str, object]
) -> None:
    if changes.get("node_id", group.node_id) == group.node_id:
        return
    if members:
        raise PortgroupNotEmpty(portgroup=group.uuid)
    node_rules.check_portgroup_leaves(task.node)


def _check_boots(group: PortgroupRecord, members: Sequence[PortRecord], changes: Mapping[str, object]) -> None:
    if changes.get("standalone_ports_supported") is False and any(port.pxe_enabled for port in members):
        raise Conflict(f"Ports of port group {group.uuid} boot by themselves; set their pxe_enabled to false first.")


def _share_network(members: Sequence[PortRecord], physical_network: str | None) -> None:
    for port in members:
        port.physical_network = physical_network
        port.save()
