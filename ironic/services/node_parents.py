"""Parent nodes: which one a node may get, and what keeps a node with children."""

from typing import Final

from ironic.core.errors import Conflict, InvalidParameterValue, NodeNotFound
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


def check_childless(store: Store, node: NodeRecord) -> None:
    """Refuse to delete a node with child nodes, and name them; they would be in no plain list any more."""
    children = store.nodes.rows(("uuid", "owner"), filters={"parent_node": node.uuid})
    if children:
        # The name of a node whose owner has changed since is not for this owner.
        own = [uuid for uuid, owner in children if owner == node.owner][:_MOST_NAMED]
        named = f", such as {', '.join(own)}" if own else ""
        raise Conflict(
            f"Node {node.uuid} is parent_node of {len(children)} nodes{named}. Delete them, or remove their "
            "parent_node, first."
        )
