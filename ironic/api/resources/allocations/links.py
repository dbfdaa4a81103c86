"""What binds a node and its allocation, seen from the node; always inside the transaction that writes the node."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ironic.core import node_rules, states

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store


def undo(store: "Store", node: "NodeRecord") -> None:
    """Free a node from its allocation, which is gone then; the node is to be saved by the caller."""
    store.allocations.delete_of(node.id)
    node.instance_uuid = node.allocation_id = None
    # They were the allocation's wish; another instance may have none.
    node.instance_info.pop("traits", None)


def follow(store: "Store", node: "NodeRecord", values: Mapping[str, Any]) -> None:
    """Do to the allocation what new values of its node mean for it."""
    if node.allocation_id is None:
        return
    if "owner" in values and node.provision_state == states.ACTIVE:
        owned = any(allocation.owner is not None for allocation in store.allocations.find(node_id=node.id))
        node_rules.check_new_owner(node, allocated_to_project=owned)
    if "instance_uuid" in values and values["instance_uuid"] is None:
        undo(store, node)
