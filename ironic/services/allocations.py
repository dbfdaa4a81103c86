"""What binds a node and its allocation: both are always written together.

A conductor that looks for a node for an allocation gives it one here; the API writes down what is deployed already, and
ends allocations; whatever else changes the node has its allocation follow. Source: doc/contract/allocations.md.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from ironic.core import allocation as matching
from ironic.core import node_rules, states
from ironic.core.allocation import Wanted
from ironic.core.errors import Conflict, NodeAssociated
from ironic.core.resource_errors import AllocationImpossible
from ironic.db import AllocationRecord, NodeRecord, Store
from ironic.services.nodes import Patience, change_free


def take_node(store: Store, node_id: int, allocation: AllocationRecord, wanted: Wanted) -> str | None:
    """Give an allocation a node that is still free and fits, or return what stands against it.

    Part of the transaction in which the allocation is finished.
    """
    node = store.nodes.lock_row(node_id)
    if node.reservation is not None:
        return f"it is locked by host {node.reservation}"
    traits = store.traits.of([node.id])[node.id] if wanted.traits else []
    if reason := matching.objection(wanted, node, traits):
        return reason
    values = {
        "instance_uuid": allocation.uuid,
        "allocation_id": allocation.id,
        "instance_info": node.instance_info | {"traits": allocation.traits},
    }
    return None if store.nodes.update(node.id, values, where=matching.FREE) else "it was taken in this moment"


def write_down(store: Store, ident: str, values: Mapping[str, Any], patience: Patience) -> AllocationRecord:
    """Create the allocation of a node that has its instance already; ``values`` are its columns."""
    made: list[AllocationRecord] = []

    def bind(node: NodeRecord) -> None:
        _check_deployed(store, node, values)
        own = values.get("uuid") or node.instance_uuid or str(uuid.uuid4())
        made[:] = [store.allocations.create({**values, "uuid": own, "state": matching.ACTIVE, "node_id": node.id})]
        node.instance_uuid, node.allocation_id = own, made[0].id
        node.instance_info["traits"] = made[0].traits

    change_free(store, ident, bind, patience)
    return made[0]


def _check_deployed(store: Store, node: NodeRecord, values: Mapping[str, Any]) -> None:
    if node.allocation_id is not None:
        raise AllocationImpossible(node=node.uuid, reason="it has an allocation already")
    if values.get("uuid") is not None and node.instance_uuid not in (None, values["uuid"]):
        raise NodeAssociated(node=node.uuid, instance=node.instance_uuid)
    traits = values.get("traits", [])
    wanted = Wanted(values.get("resource_class"), traits, values["candidate_nodes"], values["owner"])
    present = store.traits.of([node.id])[node.id] if traits else []
    if reason := matching.objection_to_deployed(wanted, node, present):
        raise AllocationImpossible(node=node.uuid, reason=reason)


def end(store: Store, allocation: str, patience: Patience) -> None:
    """End an allocation, by its UUID, and free its node."""
    # A second look, because it may get a node after the first.
    for _ in range(2):
        (node,) = store.allocations.row(("node_uuid",), allocation)
        if node is not None:
            change_free(store, node, lambda record: _free(store, record, allocation), patience)
            return
        if store.allocations.delete_unmatched(allocation):
            return
    raise Conflict(f"Allocation {allocation} is changed by somebody else in this moment. Try again.")


def _free(store: Store, node: NodeRecord, allocation: str) -> None:
    found = store.allocations.get(allocation)
    if node.allocation_id == found.id:
        node_rules.check_allocation_ends(node)
        undo(store, node)
    else:
        store.allocations.delete(found.id)


def undo(store: Store, node: NodeRecord) -> None:
    """Free a node from its allocation, if it has one, which is gone then; the caller saves the node."""
    if node.allocation_id is not None:
        store.allocations.delete_of(node.id)
    node.instance_uuid = node.allocation_id = None
    # They were the allocation's wish; another instance may have none.
    node.instance_info.pop("traits", None)


def follow(store: Store, node: NodeRecord, values: Mapping[str, object]) -> None:
    """Do to the allocation what new values of its node mean for it; part of the transaction that writes the node."""
    if node.allocation_id is None:
        return
    if "owner" in values and node.provision_state == states.ACTIVE:
        owned = any(allocation.owner is not None for allocation in store.allocations.find(node_id=node.id))
        node_rules.check_new_owner(node, allocated_to_project=owned)
    if "instance_uuid" in values and values["instance_uuid"] is None:
        undo(store, node)
