"""Limits of rows: how many of one kind a project may have, and how many parts one of its nodes.

A row counts where it is created and where it moves to. The check and the row are in one transaction in which no other
one can count, so requests of the same moment do not pass the limit together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ironic.conf import CONF
from ironic.core.errors import RowLimit
from ironic.db import NodeRecord, Store
from ironic.db.repository import R, Repository


@dataclass(frozen=True)
class Room:
    """At most ``most`` rows (0: any number) that match; ``kind``, ``whose`` and ``option`` are for the refusal."""

    most: int
    kind: str
    option: str
    whose: str = "The project owns"
    filters: Mapping[str, object] = field(default_factory=dict)
    # The id of the node whose parts they are.
    of_node: int | None = None


def of_parts(most: int, kind: str, node_id: int) -> Room:
    """Return the room for parts of one kind, such as "ports", of a node."""
    return Room(most, kind, "[api]parts_per_node", "The node has", of_node=node_id)


def check_found_ports(store: Store, node: NodeRecord, more: int) -> None:
    """Raise RowLimit if a node of a project would have too many ports with so many that its machine reports."""
    if node.owner is not None:
        check_room(store.ports, of_parts(CONF.api.parts_per_node, "ports", node.id), more)


def check_room(rows: Repository[R], room: Room | None, more: int = 1) -> None:
    """Raise RowLimit if there is no room for so many more rows; part of the transaction that stores them."""
    if room is None or not room.most:
        return
    if rows.count_others(None, of_node=room.of_node, **room.filters) + more > room.most:
        raise RowLimit(count=room.most, kind=room.kind, option=room.option, whose=room.whose)
