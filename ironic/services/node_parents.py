"""Parent nodes: which one a node may get, and what keeps a node with children."""

from typing import Final

from ironic.core import node_rules
from ironic.core.errors import Conflict, InvalidParameterValue, IronicError, NodeNotFound
from ironic.db import NodeRecord, Store

# Generations above a node; each costs a statement here, and a lock when its power changes.
_MOST_GENERATIONS: Final = 16

_MOST_NAMED: Final = 5


def check_parent(store: Store, node: str, parent: str) -> None:
    """Refuse a parent that is the node itself or stands below it; both are UUIDs. Raises InvalidParameterValue."""
    if parent == node:
        raise InvalidParameterValue(err="A node can't be its own parent_node.")
    above = parent
    for _ in range(_MOST_GENERATIONS):
        try:
            (next_one,) = store.nodes.row(("parent_node",), above)
        except NodeNotFound:
            return  # a parent that was deleted
        if next_one is None:
            return
        above = str(next_one)
        if above == node:
            raise InvalidParameterValue(err=f"Node {parent} can't be parent_node of node {node}: it stands below it.")
    raise InvalidParameterValue(err=f"More than {_MOST_GENERATIONS} nodes stand above node {parent}.")


def check_children(store: Store, node: NodeRecord, *, available_too: bool) -> None:
    """Refuse to delete a node whose child nodes are in use, and name them; in maintenance it is deleted all the same.

    A child is in use if it could not be deleted itself; ``available_too`` is as for `node_rules.check_deletable`.
    """
    if node.maintenance:
        return
    in_use = []
    for row in store.nodes.rows(node_rules.COLUMNS, filters={"parent_node": node.uuid}):
        child = node_rules.of_row(row)
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
