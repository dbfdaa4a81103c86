"""Enrolling nodes and changing them while nobody holds them.

A node that another operation holds is waited for a moment, then refused. Who holds the node has a task for it and does
not ask here.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ironic.core import node_rules
from ironic.core.errors import NodeLocked
from ironic.core.lock_purpose import is_in_background
from ironic.db import NodeRecord, Store


class Patience(NamedTuple):
    """How often a node that is held is tried, and how many seconds lie between."""

    attempts: int
    interval: float


# How many times longer background work is waited for than other users: it ends soon, and nobody shall hear of it.
_FOR_BACKGROUND: Final = 10


def enroll(
    store: Store, values: Mapping[str, object], refer: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> NodeRecord:
    """Create a node; ``refer`` looks up what its values refer to and returns what the row holds in their place."""
    return store.run(lambda _: store.nodes.create(refer(values)))


def change_free(store: Store, ident: str, change: Callable[[NodeRecord], None], patience: Patience) -> NodeRecord:
    """Change a node that nobody holds, in one transaction; NodeLocked when it is held for too long.

    ``change`` judges the record, which is held still, and sets what is to be stored; it may be called several times.
    """
    begun, seconds = time.monotonic(), (patience.attempts - 1) * patience.interval
    while True:
        try:
            # Done again, from reading on, where a server chose this transaction to end a deadlock.
            return store.run(lambda _: _change_now(store, ident, change))
        except NodeLocked as error:
            longer = _FOR_BACKGROUND if is_in_background(error) else 1
            if (left := begun + seconds * longer - time.monotonic()) <= 0:
                raise
        # Outside the transaction, which on SQLite holds up every other writer.
        store.nodes.wait_released(ident, min(patience.interval, left))


def _change_now(store: Store, ident: str, change: Callable[[NodeRecord], None]) -> NodeRecord:
    record = store.nodes.lock_row(ident)
    if record.reservation is not None:
        raise NodeLocked(node=record.uuid, host=record.reservation, purpose=record.reservation_purpose)
    change(record)
    record.save()
    return record


def set_values(record: NodeRecord, values: Mapping[str, object]) -> None:
    """Set values of a node with all that changes along; the caller saves."""
    for name, value in {**values, **node_rules.consequences(values, record.instance_name)}.items():
        setattr(record, name, value)


def set_maintenance(store: Store, ident: str, patience: Patience, *, on: bool, reason: str | None = None) -> None:
    """Take a node out of service, or put it back, which ends its fault as well."""
    values = {"maintenance": True, "maintenance_reason": reason} if on else {"maintenance": False}
    change_free(store, ident, lambda record: set_values(record, values), patience)
