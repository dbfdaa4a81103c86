"""Who holds a node, and what for.

One conditional UPDATE decides, so two can't win, and the row names the winner, so that the lock of a conductor that
died can be seen and freed by others. Each reservation has a token of its own, by which it is told from a later one of
the same host. A reservation is no change of the node: it leaves `updated_at` alone.
"""

import functools
import time
import uuid
from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import (
    ConductorSuperseded,
    IronicError,
    NodeLocked,
    NodeNotFound,
    NodeNotLocked,
    TakenOver,
)
from ironic.db.node_record import NodeRecord
from ironic.db.repository import Repository
from ironic.db.tables import conductors, nodes
from ironic.db.transactions import Transactions, repeatable_work, unit_of_work
from ironic.db.wakeups import Wakeups

# How many times the first pause the longest one is.
_LONGEST_PAUSES: Final = 10

_FREE: Final[dict[str, Any]] = {"reservation": None, "reservation_purpose": None, "reservation_token": None}


class Reservations(Repository[NodeRecord], record=NodeRecord):
    """Taking, keeping and giving back nodes."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions)
        self._wakeups = Wakeups()

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for a node that is not there."""
        return NodeNotFound(node=ident)

    def reserve(
        self, ident: str | int, host: str, purpose: str | None = None, incarnation: str | None = None
    ) -> NodeRecord:
        """Take the node for one host, or say who has it; with an incarnation only while it is the host's newest."""
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
        taken = sa.update(nodes).where(self._is(ident), nodes.c.reservation.is_(None), *_is_newest(host, incarnation))
        taken = taken.values(reservation=host, reservation_purpose=purpose and purpose[:255], reservation_token=token)
        while True:
            won = connection.execute(taken).rowcount
            record = self.get(ident)
            # A token that is there already was written by a first attempt whose answer got lost.
            if won or record.reservation_token == token:
                return self._held(record, host)
            if record.reservation is not None:
                raise locked(record)
            if connection.execute(sa.select(sa.literal(1)).where(*_is_newest(host, incarnation))).first() is None:
                raise ConductorSuperseded(host=host)
            # It was released between the statements.

    def _held(self, record: NodeRecord, host: str) -> NodeRecord:
        self.transactions.after_rollback(functools.partial(_let_go, record))
        record.held_by, record.held_token = host, record.reservation_token
        return record

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
        """Take the node, trying for as long as said; a release in this process is noticed at once.

        With a growth the pauses get longer and longer, so that many who wait long do not ask too often.
        """
        self._refuse_inside_transaction()
        until, pause = time.monotonic() + (attempts - 1) * interval, interval
        with self._wakeups.waiting():
            while True:
                mark = self._wakeups.mark()
                try:
                    return self.reserve(ident, host, purpose, incarnation)
                except NodeLocked:
                    if (left := until - time.monotonic()) <= 0:
                        raise
                self._wakeups.wait(self.row(("id",), ident)[0], mark, min(pause, left))
                pause = min(pause * growth, _LONGEST_PAUSES * interval)

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

    @repeatable_work
    def release(self, connection: Connection, node: NodeRecord | int, host: str) -> None:
        """Give the node back; if the host no longer holds it, nothing happens."""
        node_id = node if isinstance(node, int) else node.id
        token = None if isinstance(node, int) else node.held_token
        mine = sa.update(nodes).where(nodes.c.id == node_id, *_is_held(host, token))
        released = bool(connection.execute(mine.values(_FREE)).rowcount)
        if released:
            self.transactions.after_commit(functools.partial(self._wakeups.released, node_id))
        if isinstance(node, NodeRecord):
            self._given_back(node, _FREE if released else {})

    def _given_back(self, record: NodeRecord, stored: Mapping[str, object]) -> None:
        self.transactions.after_rollback(functools.partial(_hold, record, record.held_by, record.held_token))
        self.note_stored(record, dict(stored))
        _let_go(record)

    def save_and_release(self, record: NodeRecord) -> None:
        """Write what changed and give the node back, in one statement."""
        if record.held_by is None:
            raise NodeNotLocked(node=record.uuid)
        changed = record.stored_changes()
        changed = {name: value for name, value in changed.items() if name not in _FREE}
        if changed:
            self._write_and_release(record, changed)
        else:
            self.release(record, record.held_by)

    @repeatable_work
    def _write_and_release(self, connection: Connection, record: NodeRecord, changed: Mapping[str, object]) -> None:
        stored = self._touched(changed) | _FREE
        if not self._change(connection, self._writable(record), stored):
            raise self.write_refused(record)
        self.transactions.after_commit(functools.partial(self._wakeups.released, record.id))
        self._given_back(record, stored)

    @unit_of_work
    def release_all(self, connection: Connection, host: str) -> int:
        """Free whatever a host holds, for a conductor that starts anew under its name; return how many."""
        held = sa.update(nodes).where(nodes.c.reservation == host)
        return connection.execute(held.values(_FREE)).rowcount

    # The fence

    def require_held(self, record: NodeRecord) -> None:
        """Keep the node in the hands it is in until the open transaction ends, or raise TakenOver.

        For changes of what belongs to a node and stands in other tables.
        """
        mine = sa.select(nodes.c.id).where(*self._writable(record)).with_for_update()
        if self.transactions.require_writing().execute(mine).first() is None:
            raise self.write_refused(record)

    def _writable(self, record: NodeRecord) -> list[ColumnElement[bool]]:
        conditions = super()._writable(record)
        return conditions if record.held_by is None else [*conditions, *_is_held(record.held_by, record.held_token)]

    def write_refused(self, record: NodeRecord) -> IronicError:
        """Return the error for a node that could not be written: gone, or in other hands."""
        return self.missing(record.uuid) if record.held_by is None else TakenOver(node=record.uuid, host=record.held_by)


def locked(record: NodeRecord) -> NodeLocked:
    """Return the error that says who holds a node and what for."""
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


def _hold(record: NodeRecord, host: str | None, token: str | None) -> None:
    record.held_by, record.held_token = host, token


def _let_go(record: NodeRecord) -> None:
    _hold(record, None, None)
