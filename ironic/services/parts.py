"""Ports, port groups and volumes: what a node has parts of, each a row with a reference to it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ironic.core import node_rules
from ironic.core.errors import Conflict
from ironic.db import NodeRecord, Store
from ironic.db.record import Record
from ironic.db.repository import Repository
from ironic.services.nodes import Patience, change_free

R = TypeVar("R", bound=Record)


def add(store: Store, parts: Repository[R], refer: Callable[[], Mapping[str, object]]) -> R:
    """Create a part; ``refer`` looks up, in the same transaction, what it refers to and returns its columns."""
    with store.writing():
        return parts.create(refer())


def change_volume(
    store: Store,
    volumes: Repository[Any],
    ident: str,
    what: str,
    revise: Callable[[Any, NodeRecord], Mapping[str, Any]],
    patience: Patience,
) -> None:
    """Change a connector or target (``what``) of a node that nobody holds and that is powered off.

    ``revise`` gets the record and its node and returns the columns to change.
    """

    def change(node: NodeRecord) -> None:
        node_rules.check_volume_unused(node, f"changing a {what}", deleting=False)
        record = _still_there(volumes, node, ident, what)
        for name, value in revise(record, node).items():
            setattr(record, name, value)
        record.save()

    (node,) = volumes.row(("node_uuid",), ident)
    change_free(store, node, change, patience)


def delete_volume(store: Store, volumes: Repository[Any], ident: str, what: str, patience: Patience) -> None:
    """Delete a connector or target (``what``) of a node that nobody holds and whose machine can't be using it."""

    def delete(node: NodeRecord) -> None:
        node_rules.check_volume_unused(node, f"deleting a {what}", deleting=True)
        _still_there(volumes, node, ident, what)
        volumes.delete(ident)

    (node,) = volumes.row(("node_uuid",), ident)
    change_free(store, node, delete, patience)


def _still_there(volumes: Repository[Any], node: NodeRecord, ident: str, what: str) -> Any:
    """Return it if it belongs to the node yet; between two looks it may have moved."""
    record = volumes.get(ident)
    if record.node_id != node.id:
        raise Conflict(f"The {what} was moved to another node in this moment. Try again.")
    return record
