"""Who holds a node.

One conditional UPDATE decides, so two can't win, and the row names the winner, so that the lock of a conductor that
died can be seen and freed by others. A reservation is no change of the node: it leaves `updated_at` alone.
"""

import functools
import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import IronicError, NodeLocked, NodeNotFound, NodeNotLocked, TakenOver
from ironic.db.node_record import NodeRecord
from ironic.db.repository import Repository
from ironic.db.tables import nodes
from ironic.db.transactions import Transactions, unit_of_work
from ironic.db.wakeups import Wakeups


class Reservations(Repository[NodeRecord], table=nodes, record=NodeRecord):
    """Taking, keeping and giving back nodes."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions)
        self._wakeups = Wakeups()

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for a node that is not there."""
        return NodeNotFound(node=ident)

    @unit_of_work
    def reserve(self, connection: Connection, ident: str | int, host: str) -> NodeRecord:
        """Take the node for one host, or say who has it."""
        free = sa.update(nodes).where(self._is(ident), nodes.c.reservation.is_(None))
        while True:
            won = connection.execute(free.values(reservation=host)).rowcount
            record = self.get(ident)
            if won:
                return self._held(record, host)
            if record.reservation is not None:  # else it was released between the two statements
                raise NodeLocked(node=record.uuid, host=record.reservation)

    def _held(self, record: NodeRecord, host: str) -> NodeRecord:
        self.transactions.after_rollback(functools.partial(setattr, record, "held_by", None))
        record.held_by = host
        return record

    def reserve_waiting(self, ident: str | int, host: str, *, attempts: int, interval: float) -> NodeRecord:
        """Take the node, trying as often as said; a release in this process is noticed at once."""
        self._refuse_inside_transaction()
        until = time.monotonic() + (attempts - 1) * interval
        with self._wakeups.waiting():
            while True:
                mark = self._wakeups.mark()
                try:
                    return self.reserve(ident, host)
                except NodeLocked:
                    if (left := until - time.monotonic()) <= 0:
                        raise
                self._wakeups.wait(self.row(("id",), ident)[0], mark, min(interval, left))

    def wait_released(self, ident: str | int, seconds: float) -> None:
        """Wait until nobody holds the node, at most so long; only a release in this process ends it early."""
        self._refuse_inside_transaction()
        with self._wakeups.waiting():
            mark = self._wakeups.mark()
            node_id, holder = self.row(("id", "reservation"), ident)
            if holder is not None:
                self._wakeups.wait(node_id, mark, seconds)

    def _refuse_inside_transaction(self) -> None:
        if self.transactions.is_open:
            raise RuntimeError("Waiting for a node inside a transaction would keep everybody else waiting too.")

    @unit_of_work
    def release(self, connection: Connection, node: NodeRecord | int, host: str) -> None:
        """Give the node back; if the host no longer holds it, nothing happens."""
        node_id = node if isinstance(node, int) else node.id
        mine = sa.update(nodes).where(nodes.c.id == node_id, nodes.c.reservation == host)
        released = bool(connection.execute(mine.values(reservation=None)).rowcount)
        if released:
            self.transactions.after_commit(functools.partial(self._wakeups.released, node_id))
        if isinstance(node, NodeRecord):
            self._given_back(node, {"reservation": None} if released else {})

    def _given_back(self, record: NodeRecord, stored: dict[str, Any]) -> None:
        self.transactions.after_rollback(functools.partial(setattr, record, "held_by", record.held_by))
        self.note_stored(record, stored)
        record.held_by = None

    def save_and_release(self, record: NodeRecord) -> None:
        """Write what changed and give the node back, in one statement."""
        if record.held_by is None:
            raise NodeNotLocked(node=record.uuid)
        changed = record.stored_changes()
        changed.pop("reservation", None)
        if changed:
            self._write_and_release(record, changed)
        else:
            self.release(record, record.held_by)

    @unit_of_work
    def _write_and_release(self, connection: Connection, record: NodeRecord, changed: dict[str, Any]) -> None:
        stored = self._touched(changed) | {"reservation": None}
        if not self._change(connection, self._writable(record), stored):
            raise self.write_refused(record)
        self.transactions.after_commit(functools.partial(self._wakeups.released, record.id))
        self._given_back(record, stored)

    @unit_of_work
    def release_all(self, connection: Connection, host: str) -> int:
        """Free whatever a host holds, for a conductor that starts anew under its name; return how many."""
        held = sa.update(nodes).where(nodes.c.reservation == host)
        return connection.execute(held.values(reservation=None)).rowcount

    # The fence

    def _writable(self, record: NodeRecord) -> list[ColumnElement[bool]]:
        conditions = super()._writable(record)
        return conditions if record.held_by is None else [*conditions, nodes.c.reservation == record.held_by]

    def write_refused(self, record: NodeRecord) -> IronicError:
        """Return the error for a node that could not be written: gone, or in other hands."""
        return self.missing(record.uuid) if record.held_by is None else TakenOver(node=record.uuid, host=record.held_by)
