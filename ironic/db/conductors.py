"""Conductors: who is there, and what each of them serves.

A conductor says again and again that it is alive; whoever has not said so for a while is taken for dead. Rows stay when
a conductor leaves, so that the nodes it held can be told apart from free ones.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import ClassVar, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import ConductorNotFound, ConductorSuperseded, IronicError
from ironic.core.interface_choice import InterfaceRow
from ironic.db.filters import Filter, any_of
from ironic.db.record import Record
from ironic.db.repository import Repository
from ironic.db.stored_text import encode
from ironic.db.tables import ConductorColumns, conductors, nodes
from ironic.db.tables import conductor_hardware_interfaces as served
from ironic.db.transactions import unit_of_work


class ServedInterface(NamedTuple):
    """An InterfaceRow with the conductor that offers it."""

    hostname: str
    conductor_group: str
    hardware_type: str
    interface_type: str
    interface_name: str
    default: bool
    listed: bool = True


class ConductorRecord(Record, ConductorColumns):
    """One conductor."""


_SERVED = (
    sa.select(conductors.c.hostname, conductors.c.conductor_group, *(served.c[name] for name in InterfaceRow._fields))
    .join(conductors, conductors.c.id == served.c.conductor_id)
    .order_by(conductors.c.hostname, served.c.id)
)


class Conductors(Repository[ConductorRecord], record=ConductorRecord, key="hostname"):
    """All conductors, the dead ones too."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "hostname": any_of(conductors.c.hostname),
    }

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for a conductor that is not there."""
        return ConductorNotFound(conductor=ident)

    @unit_of_work
    def begin(self, connection: Connection, hostname: str) -> str:
        """Begin a new life under a name and return its mark; what an earlier one still says is refused from now on."""
        incarnation = uuid.uuid4().hex
        again = sa.update(conductors).where(conductors.c.hostname == hostname)
        if not connection.execute(again.values(incarnation=incarnation)).rowcount:
            self.create({"hostname": hostname, "online": False, "incarnation": incarnation})
        return incarnation

    def is_newest(self, hostname: str, incarnation: str | None) -> bool:
        """Tell whether no newer life has begun under this name; nobody's mark is never outdated."""
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
        """Announce a conductor and all it serves, in place of what was known under its name; return its id."""
        conductor_id = self._announced(connection, hostname, group, drivers, incarnation)
        connection.execute(sa.delete(served).where(served.c.conductor_id == conductor_id))
        if interfaces:
            rows = [{"conductor_id": conductor_id, **InterfaceRow(*row)._asdict()} for row in interfaces]
            connection.execute(sa.insert(served), rows)
        return conductor_id

    def _announced(
        self, connection: Connection, hostname: str, group: str, drivers: Sequence[str], incarnation: str | None
    ) -> int:
        said = {"conductor_group": group, "drivers": encode(list(drivers)), "online": True, "updated_at": self.now()}
        again = sa.update(conductors).where(*_is_life(hostname, incarnation))
        if not connection.execute(again.values(said)).rowcount:
            self._refuse_older(hostname, incarnation)
            return self.create({"hostname": hostname, "incarnation": incarnation, **said}).id
        conductor_id: int = self.row(("id",), hostname)[0]
        return conductor_id

    @unit_of_work
    def touch(self, connection: Connection, hostname: str, incarnation: str | None = None) -> None:
        """Say that a conductor is alive; ConductorSuperseded if another life has begun under its name."""
        self._set_online(connection, hostname, True, incarnation)

    @unit_of_work
    def unregister(self, connection: Connection, hostname: str, incarnation: str | None = None) -> None:
        """Say that a conductor has gone, in order; its row stays."""
        self._set_online(connection, hostname, False, incarnation)

    def _set_online(self, connection: Connection, hostname: str, online: bool, incarnation: str | None) -> None:
        one = sa.update(conductors).where(*_is_life(hostname, incarnation))
        if not connection.execute(one.values(online=online, updated_at=self.now())).rowcount:
            self._refuse_older(hostname, incarnation)
            raise self.missing(hostname)

    def _refuse_older(self, hostname: str, incarnation: str | None) -> None:
        if not self.is_newest(hostname, incarnation):
            raise ConductorSuperseded(host=hostname)

    def remove_silent(self, max_age_seconds: float, limit: int) -> list[str]:
        """Remove conductors not heard of for so long, oldest first and none that holds a node; return their names."""
        oldest = self.now() - timedelta(seconds=max_age_seconds)
        holds = sa.exists().where(nodes.c.reservation == conductors.c.hostname)
        heard = sa.func.coalesce(conductors.c.updated_at, conductors.c.created_at)
        gone = sa.select(conductors.c.hostname).where(heard < oldest, ~holds).order_by(heard).limit(limit)
        with self.transactions.reading() as connection:
            names = list(connection.execute(gone).scalars())
        return [name for name in names if self._removed(name, oldest)]

    @unit_of_work
    def _removed(self, connection: Connection, hostname: str, oldest: datetime) -> bool:
        heard = sa.func.coalesce(conductors.c.updated_at, conductors.c.created_at)
        one = sa.delete(conductors).where(conductors.c.hostname == hostname, heard < oldest)
        return bool(connection.execute(one).rowcount)

    def alive(self, max_age_seconds: float) -> list[ConductorRecord]:
        """Return the conductors that have said so within this time."""
        return self._found(self._listing.select(self._form.names).where(self._is_alive(max_age_seconds)))

    def _found(self, statement: sa.Select[tuple[object, ...]]) -> list[ConductorRecord]:
        with self.transactions.reading() as connection:
            return [self._made(row) for row in connection.execute(statement.order_by(conductors.c.id))]

    def served_interfaces(self, max_age_seconds: float) -> list[ServedInterface]:
        """Return what the conductors that are alive serve."""
        with self.transactions.reading() as connection:
            rows = connection.execute(_SERVED.where(self._is_alive(max_age_seconds)))
            return [ServedInterface(*row) for row in rows]

    def _is_alive(self, max_age_seconds: float) -> ColumnElement[bool]:
        oldest = self.now() - timedelta(seconds=max_age_seconds)
        return sa.and_(conductors.c.online.is_(True), conductors.c.updated_at >= oldest)


def _is_life(hostname: str, incarnation: str | None) -> list[ColumnElement[bool]]:
    same = [conductors.c.hostname == hostname]
    return same if incarnation is None else [*same, conductors.c.incarnation == incarnation]
