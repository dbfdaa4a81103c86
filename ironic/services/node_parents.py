"""Parent nodes: which one a node may get, and what keeps a node with children.

Both are checked in the transaction that writes, with the rows locked on which the answer depends. So two changes at
once make no circle, and a node that is being deleted gets no child.
"""

from typing import Final

from ironic.core import node_rules
from ironic.core.errors import Conflict, InvalidParameterValue, IronicError, NodeNotFound
from ironic.db import NodeRecord, Store

# Generations above a node; each costs a statement here, and a lock when its power changes.
_MOST_GENERATIONS: Final = 16

_MOST_NAMED: Final = 5


def check_parent(store: Store, node: str, parent: str) -> None:
    """Refuse a parent that is missing, is the node itself or stands below it; both are UUIDs.

    Locks the parent and all nodes above it until the open transaction ends. Raises InvalidParameterValue.
    """
    if parent == node:
        raise InvalidParameterValue(err="A node can't be its own parent_node.")
    above = parent
    for _ in range(_MOST_GENERATIONS):
        try:
            next_one = store.nodes.lock_row(above).parent_node
        except NodeNotFound:
            if above == parent:
                raise InvalidParameterValue(err="parent_node names no node.") from None
            return  # a parent that was deleted
        if next_one is None:
            return
        above = next_one
        if above == node:
            raise InvalidParameterValue(err=f"Node {parent} can't be parent_node of node {node}: it stands below it.")
    raise InvalidParameterValue(err=f"More than {_MOST_GENERATIONS} nodes stand above node {parent}.")


def check_children(store: Store, node: NodeRecord, *, available_too: bool) -> None:
    """Refuse to delete a node whose child nodes are in use, and name them; in maintenance it is deleted all the same.

    Part of the transaction that deletes the node, which has its row locked; the rows of the children are locked too.
    A child is in use if it could not be deleted itself; ``available_too`` is as for `node_rules.check_deletable`.
    """
    if node.maintenance:
        return
    in_use = []
    for (child_id,) in store.nodes.rows(("id",), filters={"parent_node": node.uuid}):
        try:
            child = store.nodes.lock_row(child_id)
        except NodeNotFound:
            continue
        if child.parent_node != node.uuid:
            continue
        try:
            node_rules.check_deletable(child, available_too=available_too)
        except IronicError:
            in_use.append(child)
    if in_use:
        # The name of a node whose owner has changed since is not for this owner.
        own = [child.uuid for child in in_use if child.owner == node.owner][:_MOST_NAMED]
        named = f", such as {', '.join(own)}" if own else ""
        raise Conflict(
            f"Node {node.uuid} is parent_node of {len(in_use)} nodes in use{named}. Release them, or remove their "
            "parent_node, first."
        )
