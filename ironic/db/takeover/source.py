"""Read the tables of the reference, at their own place or aside, by the columns that they have."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import IronicError
from ironic.db.column_types import UtcDateTime
from ironic.db.row_copy import TableCopy, key_of
from ironic.db.schema_version import VERSION_TABLE
from ironic.db.tables import metadata
from ironic.db.takeover import aside
from ironic.db.takeover.findings import Findings
from ironic.db.takeover.rows import NOT_READ, READINGS, Conversion, Known

# All of its tables that are moved; older releases do not have all of them.
THEIRS: Final = tuple(dict.fromkeys((*(one.source for one in READINGS), *NOT_READ, VERSION_TABLE)))


class UnreadableTime(IronicError):
    """A driver can't read a time, such as one before Christ."""

    text = "A time in table {table}, behind the row {position}, can't be read: {fault}. Correct it."


class TheirTables:
    """The reference's tables in one database, where they are: `is_aside` or at their own place."""

    def __init__(self, connection: Connection, *, is_aside: bool) -> None:
        """Look which tables and columns are there."""
        self._inspector = sa.inspect(connection)
        self._dialect = connection.dialect.name
        if self._dialect == "sqlite":
            _read_any_text(connection)
        self._is_aside = is_aside
        there = {name: self._place(name) for name in THEIRS}
        self._tables = {
            name: self._declared(name, schema, actual)
            for name, (schema, actual) in there.items()
            if self._inspector.has_table(actual, schema=schema)
        }

    def _place(self, name: str) -> tuple[str | None, str]:
        return aside.place(self._dialect, name) if self._is_aside else (None, name)

    def _declared(self, name: str, schema: str | None, actual: str) -> sa.Table:
        """Return the table with those of our columns that it has; what SQLite may hold otherwise is read as it is."""
        found = [str(column["name"]) for column in self._inspector.get_columns(actual, schema=schema)]
        ours = metadata.tables.get(name)
        if ours is None:
            return sa.Table(actual, sa.MetaData(), *[sa.Column(one) for one in found], schema=schema)
        as_it_is = (sa.Boolean, UtcDateTime) if self._dialect == "sqlite" and name not in NOT_READ else sa.Boolean
        columns = [
            sa.Column(
                one.name,
                sa.types.NullType() if isinstance(one.type, as_it_is) else one.type,
                primary_key=one.primary_key,
            )
            for one in ours.c
            if one.name in found
        ]
        return sa.Table(actual, sa.MetaData(), *columns, schema=schema)

    @property
    def names(self) -> list[str]:
        """The names of the tables that are there, as the reference names them."""
        return list(self._tables)

    def has(self, name: str) -> bool:
        """Return whether the release has this table."""
        return name in self._tables

    def count(self, connection: Connection, name: str) -> int:
        """Return the number of rows of a table."""
        return int(connection.execute(sa.select(sa.func.count()).select_from(self._tables[name])).scalar_one())

    def alive(self, connection: Connection, since: datetime) -> list[str]:
        """Return the names of conductors that gave a sign of life since a time, and have not said that they end."""
        if not self.has("conductors"):
            return []
        rows = self._tables["conductors"].c
        found = connection.execute(sa.select(rows.hostname, rows.online).where(rows.updated_at >= since))
        return [hostname for hostname, online in found if online]

    def known(self, connection: Connection, *, inspector_to_agent: bool) -> Known:
        """Return what the conversion of rows has to know beforehand."""
        known = Known(inspector_to_agent=inspector_to_agent)
        if self.has("node_inventory"):
            rows = self._tables["node_inventory"].c
            newest = connection.execute(sa.select(sa.func.max(rows.id)).group_by(rows.node_id))
            known.newest_inventories = frozenset(row_id for (row_id,) in newest)
        if self.has("runbook_traits"):
            found = connection.execute(sa.select(self._tables["runbook_traits"].c.runbook_id).distinct())
            known.runbooks_with_traits = frozenset(row_id for (row_id,) in found)
        return known

    def copies(self, known: Known, findings: Findings) -> list[TableCopy]:
        """Return what becomes of the rows, for one pass through all of them, which adds to what is known and found."""
        return [
            TableCopy(
                self._tables[reading.source],
                reading.into,
                Conversion(reading, known, findings).of,
                reading.only,
                reading.name,
            )
            for reading in READINGS
            if self.has(reading.source)
        ]


def _read_any_text(connection: Connection) -> None:
    """Have bytes that are no UTF-8 read as halves of characters, which the conversion names with their row."""
    driver: Any = connection.connection.driver_connection
    driver.text_factory = lambda stored: stored.decode(errors="surrogateescape")


def read_all(connection: Connection, copies: Iterable[TableCopy]) -> None:
    """Read and convert all rows; raises UnreadableTime."""
    for each in copies:
        last: object = "0"
        try:
            for rows in each.read(connection):
                last = key_of(each.origin, rows[-1])
                each.converted(rows)
        except ValueError as fault:
            raise UnreadableTime(table=each.name, position=last, fault=fault) from None
