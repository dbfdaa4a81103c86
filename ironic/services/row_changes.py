"""Change chassis, allocations, step lists, ports, port groups, and volumes of unlocked nodes in one transaction.

The functions that are passed in may be called several times: a transaction is repeated after a deadlock.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ironic.core import node_rules
from ironic.core.errors import Conflict
from ironic.core.errors.resource_errors import PortgroupNotEmpty
from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store
from ironic.db.record import Record
from ironic.db.repository import Repository
from ironic.db.step_lists import NamedSteps
from ironic.services.node_changes import LockRetries, change_free
from ironic.services.row_limits import Room, check_room

R = TypeVar("R", bound=Record)


def change(store: Store, rows: Repository[R], ident: str, revise: Callable[[R], Mapping[str, object]]) -> R:
    """Change a row; ``revise`` gets the locked record and returns the columns to change."""

    def write(_connection: object) -> R:
        record = rows.lock_row(ident)
        for name, value in revise(record).items():
            setattr(record, name, value)
        record.save()
        return record

    return store.run(write)


def add_step_list(
    store: Store,
    lists: NamedSteps[R],
    columns: Mapping[str, object],
    steps: Sequence[Mapping[str, object]],
    room: Room | None,
) -> R:
    """Create a deploy template or runbook with its steps; raises RowLimit if there is no room for it."""

    def write(_connection: object) -> R:
        check_room(lists, room)
        return lists.create_with(columns, steps)

    return store.run(write)


def change_step_list(
    store: Store,
    lists: NamedSteps[Any],
    ident: str,
    revise: Callable[[Any], Mapping[str, Any]],
    room: Callable[[str], Room | None],
) -> Any:
    """Change a deploy template or runbook; ``revise`` returns its columns, and ``steps`` if it gets a new list.

    ``room`` gets a new owner and returns the limit of its rows, which raises RowLimit.
    """

    def write(_connection: object) -> Any:
        record = lists.lock_row(ident)
        values = dict(revise(record))
        if (owner := values.get("owner")) is not None and owner != record.owner:
            check_room(lists, room(owner))
        if values:
            if "steps" in values:
                lists.steps.replace(record.id, values.pop("steps"))
            for name, value in values.items():
                setattr(record, name, value)
            # Steps are rows of their own, but updated_at is a column of their list.
            record.updated_at = record.now()
            record.save()
        return record

    return store.run(write)


def add(
    store: Store,
    rows: Repository[R],
    values: Mapping[str, Any],
    refer: Callable[[dict[str, Any]], Mapping[str, Any]],
    room: Callable[[Mapping[str, Any]], Room | None] = lambda columns: None,
) -> R:
    """Create a row; ``refer`` gets a copy of the values, and returns columns with the ids of what they refer to.

    ``room`` gets these columns and returns the limit of such rows, which raises RowLimit.
    """

    def write(_connection: object) -> R:
        columns = refer(dict(values))
        check_room(rows, room(columns))
        return rows.create(columns)

    return store.run(write)


def check_group_network(store: Store, group: PortgroupRecord, network: str | None, port_id: int | None = None) -> bool:
    """Check that a port fits its port group, all of whose members share one physical network; raises Conflict.

    ``port_id`` is None for a new port. Returns whether the group takes the network of its first member.
    """
    members = store.ports.rows(("id", "physical_network"), filters={"portgroup_id": group.id})
    of_members = {used for member, used in members if member != port_id}
    shared = {group.physical_network} if group.physical_network else of_members
    if shared and network not in shared:
        expected = " or ".join(sorted(used or "none" for used in shared))
        raise Conflict(
            f"The ports of port group {group.uuid} share one physical network ({expected}); "
            f"physical_network of the port is {network or 'none'}. Change one of them first."
        )
    return bool(network) and not shared


def join_group(
    store: Store, group_id: int, network: str | None, *, node_id: int, pxe_enabled: bool, port_id: int | None = None
) -> None:
    """Check a port likewise as a member, and give the network of a first member to the group; in an open transaction.

    Raises Conflict as well if the group is another node's, or has no standalone ports and the port boots.
    """
    # Locked before the checks: of two first members at the same time, the second one meets the network of the first.
    group = store.portgroups.lock_row(group_id)
    if group.node_id != node_id:
        raise Conflict(f"Port group {group.uuid} was moved to another node by another request. Choose another one.")
    if pxe_enabled and not group.standalone_ports_supported:
        raise Conflict(f"Port group {group.uuid} has no standalone ports; set pxe_enabled of the port to false.")
    if check_group_network(store, group, network, port_id):
        group.physical_network = network
        group.save()


def members_of(store: Store, group: PortgroupRecord, changes: Mapping[str, object]) -> list[PortRecord]:
    """Return the ports of a group; raise PortgroupNotEmpty or Conflict if they forbid the changes of it."""
    ports = store.ports.find(portgroup_id=group.id)
    if ports and changes.get("node_id", ports[0].node_id) != ports[0].node_id:
        raise PortgroupNotEmpty(portgroup=group.uuid)
    if changes.get("standalone_ports_supported") is False and any(port.pxe_enabled for port in ports):
        raise Conflict(f"Ports of port group {group.uuid} boot by themselves; set their pxe_enabled to false first.")
    return ports


def save_group(store: Store, group: PortgroupRecord, changes: Mapping[str, object], save: Callable[[], None]) -> None:
    """Store the changes of a group, which ``save`` writes, and what its ports share; in an open transaction."""
    # Checked with the group locked: a new port needs no lock of the node.
    store.portgroups.lock_row(group.id)
    members = members_of(store, group, changes)
    save()
    if "physical_network" in changes:
        for port in members:
            port.physical_network = group.physical_network
            port.save()


def change_volume(
    store: Store,
    volumes: Repository[Any],
    ident: str,
    what: str,
    revise: Callable[[Any, NodeRecord], Mapping[str, Any]],
    retries: LockRetries,
    room: Callable[[Mapping[str, Any]], Room | None],
) -> None:
    """Change a connector or target (``what``) of a node that is unlocked and powered off.

    ``revise`` gets the record and its node and returns the columns to change; ``room`` is as for `add`, for a new node.
    """

    def change(node: NodeRecord) -> None:
        node_rules.check_volume_unused(node, f"{what} update", deleting=False)
        record = _still_there(volumes, node, ident, what)
        columns = revise(record, node)
        if columns.get("node_id", node.id) != node.id:
            check_room(volumes, room(columns))
        for name, value in columns.items():
            setattr(record, name, value)
        record.save()

    (node,) = volumes.row(("node_uuid",), ident)
    change_free(store, node, change, retries)


def delete_volume(store: Store, volumes: Repository[Any], ident: str, what: str, retries: LockRetries) -> None:
    """Delete a connector or target (``what``) of a node that is unlocked and does not use it."""

    def delete(node: NodeRecord) -> None:
        node_rules.check_volume_unused(node, f"{what} deletion", deleting=True)
        _still_there(volumes, node, ident, what)
        volumes.delete(ident)

    (node,) = volumes.row(("node_uuid",), ident)
    change_free(store, node, delete, retries)


def _still_there(volumes: Repository[Any], node: NodeRecord, ident: str, what: str) -> Any:
    """Return the record if it still belongs to the node; else raise Conflict."""
    record = volumes.get(ident)
    if record.node_id != node.id:
        raise Conflict(f"The {what} was moved to another node by another request. Try again.")
    return record
