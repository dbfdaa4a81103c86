"""Write an allocation together with its node.

A conductor binds the node that it has chosen; the API records an allocation for a deployed node, and deletes
allocations; every other change of a node updates its allocation. Source: doc/contract/allocations.md.
"""

import uuid
from collections.abc import Mapping
from typing import Any, Final

from ironic.core import allocation_matching as matching
from ironic.core import node_rules
from ironic.core.allocation_matching import AllocationRequest
from ironic.core.errors import Conflict, NodeAssociated
from ironic.core.errors.resource_errors import AllocationImpossible
from ironic.core.flows import states
from ironic.db import AllocationRecord, NodeRecord, Store
from ironic.services.node_changes import LockRetries, change_free
from ironic.services.row_limits import Room, check_room

# Fields of a node whose change its allocation follows.
FOLLOWED: Final = frozenset({"owner", "instance_uuid"})


def bind_node(store: Store, node_id: int, allocation: AllocationRecord, wanted: AllocationRequest) -> str | None:
    """Bind a node to an allocation if it is still free and fits; return the reason if not, else None.

    Part of the transaction that finishes the allocation.
    """
    node = store.nodes.lock_row(node_id)
    if node.reservation is not None:
        return f"it is in use by conductor {node.reservation}"
    traits = store.traits.of([node.id])[node.id] if wanted.traits else []
    if reason := matching.objection(wanted, node, traits):
        return reason
    values = {
        "instance_uuid": allocation.uuid,
        "allocation_id": allocation.id,
        "instance_info": node.instance_info | {"traits": allocation.traits},
    }
    if not store.nodes.update(node.id, values, where=matching.FREE):
        return "another request has just taken it"
    return None


def record_deployed(
    store: Store, ident: str, values: Mapping[str, Any], retries: LockRetries, room: Room | None = None
) -> AllocationRecord:
    """Create the allocation of a node that has an instance already; ``values`` are its columns.

    Raises AllocationImpossible, NodeAssociated, NodeLocked, or RowLimit without ``room``.
    """
    made: list[AllocationRecord] = []

    def bind(node: NodeRecord) -> None:
        _check_deployed(store, node, values)
        own = values.get("uuid") or node.instance_uuid or str(uuid.uuid4())
        of_node = {"uuid": own, "state": matching.ACTIVE, "node_id": node.id}
        if values.get("resource_class") is None:
            of_node["resource_class"] = node.resource_class
        check_room(store.allocations, room)
        made[:] = [store.allocations.create({**values, **of_node})]
        node.instance_uuid, node.allocation_id = own, made[0].id
        node.instance_info["traits"] = made[0].traits

    change_free(store, ident, bind, retries)
    return made[0]


def _check_deployed(store: Store, node: NodeRecord, values: Mapping[str, Any]) -> None:
    if node.allocation_id is not None:
        raise AllocationImpossible(node=node.uuid, reason="it has an allocation already")
    if values.get("uuid") is not None and node.instance_uuid not in (None, values["uuid"]):
        raise NodeAssociated(node=node.uuid, instance=node.instance_uuid)
    traits = values.get("traits", [])
    wanted = AllocationRequest(values.get("resource_class"), traits, values["candidate_nodes"], values["owner"])
    present = store.traits.of([node.id])[node.id] if traits else []
    if reason := matching.objection_to_deployed(wanted, node, present):
        raise AllocationImpossible(node=node.uuid, reason=reason)


def delete(store: Store, allocation: str, retries: LockRetries) -> None:
    """Delete an allocation, by its UUID, and release its node."""

    def release(node: NodeRecord) -> None:
        found = store.allocations.get(allocation)
        if node.allocation_id == found.id:
            node_rules.check_allocation_ends(node)
            release_node(store, node)
        else:
            store.allocations.delete(found.id)

    # Twice, because the allocation may get a node after the first read.
    for _ in range(2):
        (node,) = store.allocations.row(("node_uuid",), allocation)
        if node is not None:
            change_free(store, node, release, retries)
            return
        if store.allocations.delete_unmatched(allocation):
            return
    raise Conflict(f"Allocation {allocation} was changed by another request. Try again.")


def release_node(store: Store, node: NodeRecord) -> None:
    """Delete the allocation of a node, if it has one, with its instance and traits; the caller saves the node."""
    if node.allocation_id is not None:
        store.allocations.delete_of(node.id)
    node.instance_uuid = node.allocation_id = None
    # They were required by the allocation, not by the next instance.
    node.instance_info.pop("traits", None)


def follow_node_change(store: Store, node: NodeRecord, values: Mapping[str, object]) -> None:
    """Update the allocation for new values of its node, in the transaction that writes the node."""
    if node.allocation_id is None:
        return
    if "owner" in values and node.provision_state == states.ACTIVE:
        owned = any(allocation.owner is not None for allocation in store.allocations.find(node_id=node.id))
        node_rules.check_new_owner(node, allocated_to_project=owned)
    if "instance_uuid" in values and values["instance_uuid"] is None:
        release_node(store, node)
