"""Conductors: which of them are alive, and what each of them serves.

A conductor updates its row periodically (its heartbeat); one whose row is older than the time-out counts as dead. Both
times are those of the database server, as the clocks of two hosts may differ by more than the time-out. A row stays
when its conductor leaves, so that the nodes it had reserved are distinguishable from free ones.
"""

import itertools
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import ConductorNotFound, IronicError
from ironic.core.errors.call_errors import ConductorSuperseded
from ironic.core.hardware_interfaces import InterfaceRow, with_fixed
from ironic.db.column_types import decode_json, encode_json
from ironic.db.record import Record
from ironic.db.repository import Repository
from ironic.db.row_selection import Filter, any_of
from ironic.db.tables import ConductorColumns, conductors, nodes
from ironic.db.tables import conductor_hardware_interfaces as served
from ironic.db.transactions import unit_of_work


class ServedInterface(NamedTuple):
    """An InterfaceRow with the conductor that serves it."""

    hostname: str
    conductor_group: str
    hardware_type: str
    interface_type: str
    interface_name: str | None
    default: bool
    listed: bool = True
    facts: str = ""


class ConductorLife(NamedTuple):
    """What the table has of the process that has a conductor's name: its id, last heartbeat, whether it is alive."""

    incarnation: str | None
    heartbeat: datetime | None
    is_alive: bool


class ConductorRecord(Record, ConductorColumns):
    """One conductor."""


# The drivers and their rows in one statement: between two, a conductor that registers would seem to have no rows.
_SERVED = (
    sa.select(
        conductors.c.hostname,
        conductors.c.conductor_group,
        conductors.c.drivers,
        *(served.c[name] for name in InterfaceRow._fields),
    )
    .outerjoin(served, conductors.c.id == served.c.conductor_id)
    .order_by(conductors.c.hostname, served.c.id)
)


# UTC without a time zone, as times are stored.
_SERVER_TIME: Final[Mapping[str, sa.Select[Any]]] = {
    "mysql": sa.select(sa.func.utc_timestamp(6)),
    "postgresql": sa.select(sa.func.timezone("utc", sa.func.clock_timestamp())),
}


class Conductors(Repository[ConductorRecord], record=ConductorRecord, key="hostname"):
    """All conductors, dead ones included."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "hostname": any_of(conductors.c.hostname),
    }

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a conductor that does not exist."""
        return ConductorNotFound(conductor=ident)

    @unit_of_work
    def begin(self, connection: Connection, hostname: str, after: str | None = None) -> str:
        """Begin a new incarnation of a conductor and return its id; writes of earlier incarnations are refused.

        Raise ConductorSuperseded if the newest one is not ``after`` any more.
        """
        incarnation = uuid.uuid4().hex
        known = sa.update(conductors).where(*_is_incarnation(hostname, after))
        if not connection.execute(known.values(incarnation=incarnation)).rowcount:
            self._refuse_older(hostname, after)
            self.create({"hostname": hostname, "online": False, "incarnation": incarnation})
        return incarnation

    def life(self, hostname: str, max_age_seconds: float) -> ConductorLife | None:
        """Return the newest life of a conductor, None of an unknown one; it is alive as in `alive`."""
        columns = conductors.c.incarnation, conductors.c.updated_at, self._is_alive(max_age_seconds)
        with self.transactions.reading() as connection:
            found = connection.execute(sa.select(*columns).where(conductors.c.hostname == hostname)).one_or_none()
        return ConductorLife(found[0], found[1], bool(found[2])) if found else None

    def is_newest(self, hostname: str, incarnation: str | None) -> bool:
        """Return whether no newer incarnation has begun; without an incarnation, or a row, there is none."""
        try:
            return incarnation is None or self.row(("incarnation",), hostname)[0] == incarnation
        except ConductorNotFound:
            return True

    @unit_of_work
    def register(
        self,
        connection: Connection,
        hostname: str,
        group: str,
        drivers: Sequence[str],
        interfaces: Sequence[InterfaceRow],
        incarnation: str | None = None,
    ) -> int:
        """Store a conductor and all it serves, in place of its earlier registration; return its id."""
        values = {
            "conductor_group": group,
            "drivers": encode_json(list(drivers)),
            "online": True,
            "updated_at": self._server_time(),
        }
        known = sa.update(conductors).where(*_is_incarnation(hostname, incarnation))
        if connection.execute(known.values(values)).rowcount:
            conductor_id: int = self.row(("id",), hostname)[0]
        else:
            self._refuse_older(hostname, incarnation)
            conductor_id = self.create({"hostname": hostname, "incarnation": incarnation, **values}).id
        connection.execute(sa.delete(served).where(served.c.conductor_id == conductor_id))
        if interfaces:
            rows = [{"conductor_id": conductor_id, **InterfaceRow(*row)._asdict()} for row in interfaces]
            connection.execute(sa.insert(served), rows)
        return conductor_id

    @unit_of_work
    def touch(self, connection: Connection, hostname: str, incarnation: str | None = None) -> None:
        """Record a heartbeat; raises ConductorSuperseded if a newer incarnation has begun."""
        self._set_online(connection, hostname, True, incarnation)

    @unit_of_work
    def unregister(self, connection: Connection, hostname: str, incarnation: str | None = None) -> None:
        """Record that a conductor has ended in order; its row stays."""
        self._set_online(connection, hostname, False, incarnation)

    def _set_online(self, connection: Connection, hostname: str, online: bool, incarnation: str | None) -> None:
        one = sa.update(conductors).where(*_is_incarnation(hostname, incarnation))
        if not connection.execute(one.values(online=online, updated_at=self._server_time())).rowcount:
            self._refuse_older(hostname, incarnation)
            raise self.not_found(hostname)

    def _refuse_older(self, hostname: str, incarnation: str | None) -> None:
        if not self.is_newest(hostname, incarnation):
            raise ConductorSuperseded(host=hostname)

    def remove_stale(self, max_age_seconds: float, limit: int) -> list[str]:
        """Remove conductors whose last heartbeat is older, the oldest first, none that holds a node; return the names.

        Each is a transaction of its own, which checks the heartbeat again.
        """
        oldest = self.oldest_alive(max_age_seconds)
        heartbeat = sa.func.coalesce(conductors.c.updated_at, conductors.c.created_at)
        holds = sa.exists().where(nodes.c.reservation == conductors.c.hostname)
        stale = sa.select(conductors.c.hostname).where(heartbeat < oldest, ~holds).order_by(heartbeat).limit(limit)
        with self.transactions.reading() as connection:
            names = list(connection.execute(stale).scalars())
        return [name for name in names if self._delete_where(conductors.c.hostname == name, heartbeat < oldest)]

    @unit_of_work
    def _delete_where(self, connection: Connection, *conditions: ColumnElement[bool]) -> bool:
        return bool(connection.execute(sa.delete(conductors).where(*conditions)).rowcount)

    def alive(self, max_age_seconds: float) -> list[ConductorRecord]:
        """Return the conductors whose last heartbeat is not older than this."""
        statement = self._listing.select(self._form.names).where(self._is_alive(max_age_seconds))
        with self.transactions.reading() as connection:
            return [self._from_row(row) for row in connection.execute(statement.order_by(conductors.c.id))]

    def served_interfaces(self, max_age_seconds: float) -> list[ServedInterface]:
        """Return what the live conductors serve, the fixed interfaces of classic drivers included."""
        with self.transactions.reading() as connection:
            found = connection.execute(_SERVED.where(self._is_alive(max_age_seconds))).all()
        offered: list[ServedInterface] = []
        for (host, group, drivers), rows in itertools.groupby(found, key=lambda row: tuple(row[:3])):
            # A conductor without rows, which serves classic drivers or nothing, is one row of nulls.
            own = [InterfaceRow(*row[3:]) for row in rows if row[3] is not None]
            names = decode_json(drivers) if drivers else []
            offered += (ServedInterface(host, group, *row) for row in with_fixed(names, own))
        return offered

    def _is_alive(self, max_age_seconds: float) -> ColumnElement[bool]:
        return sa.and_(conductors.c.online.is_(True), conductors.c.updated_at >= self.oldest_alive(max_age_seconds))

    def oldest_alive(self, max_age_seconds: float) -> datetime:
        """Return the time of the oldest heartbeat that is not older than this.

        The time that the server took to answer is left out: while it was away, no conductor could renew its row.
        """
        asked = self.transactions.clock.monotonic()
        now = self._server_time()
        return now - timedelta(seconds=max_age_seconds + self.transactions.clock.monotonic() - asked)

    def _server_time(self) -> datetime:
        """Return the time by the clock of the database server; that of this host for a file."""
        statement = _SERVER_TIME.get(self.transactions.dialect)
        if statement is None:
            return self.now()
        return cast(datetime, self.transactions.read(lambda connection: connection.execute(statement).scalar_one()))


def _is_incarnation(hostname: str, incarnation: str | None) -> list[ColumnElement[bool]]:
    by_name = [conductors.c.hostname == hostname]
    return by_name if incarnation is None else [*by_name, conductors.c.incarnation == incarnation]
