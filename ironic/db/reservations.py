"""Reservations of nodes: reserve, release, and wake threads that wait for a release.

One conditional UPDATE decides, so only one host can win, and the row names it, so that others can see and release the
reservation of a dead conductor. A reservation has a token, which distinguishes it from a later one of the same host. It
is no change of the node and leaves `updated_at` as it is.

Most nodes are released by a thread of the same process, which wakes the waiting threads at once. Releases by another
process are found by polling, so nothing depends on being woken.
"""

import functools
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.clock import Clock
from ironic.core.errors import (
    IronicError,
    NodeLocked,
    NodeNotFound,
    NodeNotLocked,
    TakenOver,
)
from ironic.core.errors.call_errors import ConductorSuperseded
from ironic.core.permit import PERMIT
from ironic.db.node_waits import NodeWaits
from ironic.db.record import NodeRecord
from ironic.db.repository import Repository
from ironic.db.tables import conductors, nodes
from ironic.db.transactions import Transactions, repeatable_work


class Wakeups:
    """Which nodes were released while threads wait for a release."""

    def __init__(self, clock: Clock) -> None:
        self._changed = clock.condition()
        self._count = 0
        self._waiting = 0
        self._released: dict[int, int] = {}

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Record releases while the block runs."""
        with self._changed:
            self._waiting += 1
        try:
            yield
        finally:
            with self._changed:
                self._waiting -= 1
                if not self._waiting:
                    self._released.clear()

    def mark(self) -> int:
        """Return a mark for `wait`, which counts the releases after it."""
        with self._changed:
            return self._count

    def released(self, node_id: int) -> None:
        """Wake the threads that wait for this node."""
        with self._changed:
            self._count += 1
            if self._waiting:
                self._released[node_id] = self._count
                self._changed.notify_all()

    def wait(self, node_id: int, mark: int, timeout: float) -> bool:
        """Wait until the node is released after the mark, for so many seconds at most; return whether it was."""
        with PERMIT.waiting(), self._changed:
            return self._changed.wait_for(lambda: self._released.get(node_id, 0) > mark, timeout)


# The longest pause between two attempts, as a multiple of the first one.
_LONGEST_PAUSES: Final = 10

_FREE: Final[dict[str, Any]] = {"reservation": None, "reservation_purpose": None, "reservation_token": None}


class Reservations(Repository[NodeRecord], record=NodeRecord):
    """The part of the repository of nodes that reserves them."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions)
        self._wakeups = Wakeups(transactions.clock)
        self._waits = NodeWaits(transactions)

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a node that does not exist."""
        return NodeNotFound(node=ident)

    def reserve(
        self, ident: str | int, host: str, purpose: str | None = None, incarnation: str | None = None
    ) -> NodeRecord:
        """Reserve the node for a host; raises NodeLocked if it is reserved.

        With an incarnation, raises ConductorSuperseded unless that is the newest one of the host.
        """
        return self._reserve(ident, host, purpose, incarnation, uuid.uuid4().hex)

    @repeatable_work
    def _reserve(
        self,
        connection: Connection,
        ident: str | int,
        host: str,
        purpose: str | None,
        incarnation: str | None,
        token: str,
    ) -> NodeRecord:
        is_free = sa.and_(self._matches(ident), nodes.c.reservation.is_(None))
        reserved = sa.update(nodes).where(is_free, *_is_newest(host, incarnation))
        holder = {"reservation": host, "reservation_purpose": purpose and purpose[:255], "reservation_token": token}
        while True:
            won = connection.execute(reserved, holder).rowcount
            record = self.get(ident)
            # If the token is there, a first attempt stored it and lost its connection before the answer.
            if won or record.reservation_token == token:
                self.transactions.after_rollback(functools.partial(_set_reservation, record, None, None))
                _set_reservation(record, host, token)
                return record
            if record.reservation is not None:
                raise locked(record)
            if connection.execute(sa.select(sa.literal(1)).where(*_is_newest(host, incarnation))).first() is None:
                raise ConductorSuperseded(host=host)
            # The node was released between the statements.

    def reserve_waiting(
        self,
        ident: str | int,
        host: str,
        *,
        attempts: int,
        interval: float,
        purpose: str | None = None,
        incarnation: str | None = None,
        growth: float = 1,
    ) -> NodeRecord:
        """Reserve the node, with so many attempts every ``interval`` seconds; raises the error of the last one.

        A release in this process ends a pause at once. ``growth`` multiplies the interval after each attempt, so that
        many waiting threads do not query the database too often.
        """
        self._require_no_transaction()
        clock = self.transactions.clock
        until, pause = clock.monotonic() + (attempts - 1) * interval, interval
        with self._wakeups.waiting():
            while True:
                mark = self._wakeups.mark()
                try:
                    return self.reserve(ident, host, purpose, incarnation)
                except NodeLocked:
                    if (left := until - clock.monotonic()) <= 0:
                        raise
                self._wakeups.wait(self.row(("id",), ident)[0], mark, min(pause, left))
                pause = min(pause * growth, _LONGEST_PAUSES * interval)

    def wait_for_release(self, ident: str | int, seconds: float) -> None:
        """Wait until this process releases the node, for so many seconds at most; return at once if it is free."""
        self._require_no_transaction()
        with self._wakeups.waiting():
            mark = self._wakeups.mark()
            node_id, holder = self.row(("id", "reservation"), ident)
            if holder is not None:
                self._wakeups.wait(node_id, mark, seconds)

    def _require_no_transaction(self) -> None:
        if self.transactions.is_open:
            raise RuntimeError("Waiting for a node inside a transaction would block all other writers.")

    @repeatable_work
    def release(self, connection: Connection, node: NodeRecord | int, host: str) -> None:
        """Release the node; if the host does not hold it any more, nothing happens."""
        node_id = node if isinstance(node, int) else node.id
        token = None if isinstance(node, int) else node.held_token
        held = sa.update(nodes).where(nodes.c.id == node_id, *_is_held(host, token))
        released = bool(connection.execute(held, _FREE).rowcount)
        if released:
            self.transactions.after_commit(functools.partial(self._wakeups.released, node_id))
        if isinstance(node, NodeRecord):
            self._mark_released(node, _FREE if released else {})

    def _mark_released(self, record: NodeRecord, stored: Mapping[str, object]) -> None:
        restore = functools.partial(_set_reservation, record, record.held_by, record.held_token)
        self.transactions.after_rollback(restore)
        self.note_stored(record, dict(stored))
        _set_reservation(record, None, None)

    def save_and_release(self, record: NodeRecord) -> None:
        """Write the changed columns and release the node in one statement; raises NodeNotLocked or TakenOver."""
        if record.held_by is None:
            raise NodeNotLocked(node=record.uuid)
        changed = {name: value for name, value in record.stored_changes().items() if name not in _FREE}
        if changed or record.pending_waits:
            self._write_and_release(record, changed)
        else:
            self.release(record, record.held_by)

    @repeatable_work
    def _write_and_release(self, connection: Connection, record: NodeRecord, changed: Mapping[str, object]) -> None:
        stored = self._with_time(changed) | _FREE
        if not self._change(connection, self._writable(record), stored):
            raise self.write_conflict(record)
        self._write_waits(connection, record)
        self.transactions.after_commit(functools.partial(self._wakeups.released, record.id))
        self._mark_released(record, stored)

    # What a node waits for is stored with it

    def save(self, record: NodeRecord) -> None:
        """Write the changed columns and waits of a node; without a change there is no statement."""
        changed = record.stored_changes()
        if changed or record.pending_waits:
            self._write(record, changed)

    @repeatable_work
    def _write(self, connection: Connection, record: NodeRecord, changed: Mapping[str, object]) -> None:
        super()._write(record, changed)
        self._write_waits(connection, record)

    def _write_waits(self, connection: Connection, record: NodeRecord) -> None:
        pending = record.pending_waits
        if not pending:
            return
        self._waits.write(connection, record.id, pending)
        record.pending_waits = {}
        self.transactions.after_rollback(lambda: setattr(record, "pending_waits", {**pending, **record.pending_waits}))

    # Conditions of writing

    def require_held(self, record: NodeRecord) -> None:
        """Lock the node's row until the open transaction ends; raises TakenOver if the reservation has ended.

        For changes of rows in other tables that belong to the node.
        """
        held = sa.select(nodes.c.id).where(*self._writable(record)).with_for_update()
        if self.transactions.require_writing().execute(held).first() is None:
            raise self.write_conflict(record)

    def run_held(self, record: NodeRecord, work: Callable[[], None]) -> None:
        """Call ``work`` in a transaction of which `require_held` is the first act, and again after a deadlock."""

        def held(_connection: Connection) -> None:
            self.require_held(record)
            work()

        self.transactions.run(held)

    def _writable(self, record: NodeRecord) -> list[ColumnElement[bool]]:
        conditions = super()._writable(record)
        return conditions if record.held_by is None else [*conditions, *_is_held(record.held_by, record.held_token)]

    def write_conflict(self, record: NodeRecord) -> IronicError:
        """Return the error for a node that could not be written: it does not exist, or its reservation has ended."""
        if record.held_by is None:
            return self.not_found(record.uuid)
        return TakenOver(node=record.uuid, host=record.held_by)


def locked(record: NodeRecord) -> NodeLocked:
    """Return the error that names the holder of a node and the purpose."""
    purpose = {"purpose": record.reservation_purpose} if record.reservation_purpose else {}
    return NodeLocked(node=record.uuid, host=record.reservation, **purpose)


def _is_held(host: str, token: str | None) -> list[ColumnElement[bool]]:
    held = [nodes.c.reservation == host]
    return held if token is None else [*held, nodes.c.reservation_token == token]


def _is_newest(host: str, incarnation: str | None) -> list[ColumnElement[bool]]:
    if incarnation is None:
        return []
    newest = sa.select(conductors.c.id).where(conductors.c.hostname == host, conductors.c.incarnation == incarnation)
    return [newest.exists()]


def _set_reservation(record: NodeRecord, host: str | None, token: str | None) -> None:
    record.held_by, record.held_token = host, token
