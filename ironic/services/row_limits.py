"""Limits of rows: how many of one kind a project may have, and how many parts one of its nodes.

The check and the new row are in one transaction in which no other one can count, so requests of the same moment do not
pass the limit together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ironic.core.errors import RowLimit
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


def check_room(rows: Repository[R], room: Room | None) -> None:
    """Raise RowLimit if there is no room for another row; the first statement of the transaction that creates it."""
    if room is None or not room.most:
        return
    if rows.count_others(None, of_node=room.of_node, **room.filters) >= room.most:
        raise RowLimit(count=room.most, kind=room.kind, option=room.option, whose=room.whose)
