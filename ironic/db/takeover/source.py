"""Read the tables of the reference, at their own place or aside, by the columns that they have."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import IronicError
from ironic.db.schema_version import VERSION_TABLE
from ironic.db.tables import metadata
from ironic.db.takeover import aside
from ironic.db.takeover.rows import NOT_READ, READINGS, Known, Reading

# All of its tables that are moved; older releases do not have all of them.
THEIRS: Final = tuple(dict.fromkeys((*(one.source for one in READINGS), *NOT_READ, VERSION_TABLE)))


class UnreadableTime(IronicError):
    """SQLite holds a time that is none."""

    text = "A time in table {table}, behind the row {position}, can't be read: {fault}. Correct it."


class TheirTables:
    """The reference's tables in one database, where they are: `is_aside` or at their own place."""

    def __init__(self, connection: Connection, *, is_aside: bool) -> None:
        """Look which tables and columns are there."""
        self._inspector = sa.inspect(connection)
        self._dialect = connection.dialect.name
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
        """Return the table with the columns that it has, typed as ours; truth values are read as they are."""
        ours = metadata.tables.get(name)
        columns = []
        for found in self._inspector.get_columns(actual, schema=schema):
            one = found["name"]
            known = ours is not None and one in ours.c and not isinstance(ours.c[one].type, sa.Boolean)
            columns.append(sa.Column(one, ours.c[one].type if known and ours is not None else sa.types.NullType()))
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

    def batch(
        self, connection: Connection, reading: Reading, after: Sequence[object] | None
    ) -> list[Mapping[str, Any]]:
        """Return the next rows of a reading behind a position, in the order of the key; none when it is at its end."""
        table = self._tables[reading.source]
        keys = [table.c[name] for name in key_of(reading)]
        statement = sa.select(table).order_by(*keys).limit(reading.batch)
        if after is not None:
            statement = statement.where(_behind(keys, after))
        try:
            rows = connection.execute(statement).all()
        except ValueError as fault:
            raise UnreadableTime(table=reading.source, position=after or "0", fault=fault) from None
        names = list(table.c.keys())
        return [dict(zip(names, row, strict=True)) for row in rows]


def key_of(reading: Reading) -> list[str]:
    """Return the names of the columns of the source's key, which are the same in both."""
    return [str(column.name) for column in metadata.tables[reading.source].primary_key]


def batches(source: TheirTables, connection: Connection, reading: Reading) -> Iterator[list[Mapping[str, Any]]]:
    """Give all rows of a reading."""
    after: list[object] | None = None
    while rows := source.batch(connection, reading, after):
        yield rows
        after = position(reading, rows)


def position(reading: Reading, rows: Sequence[Mapping[str, Any]]) -> list[object]:
    """Return the place behind the last of some rows."""
    return [rows[-1][name] for name in key_of(reading)]


def _behind(keys: Sequence[sa.ColumnElement[Any]], after: Sequence[object]) -> sa.ColumnElement[bool]:
    """Return the condition for a key behind a position; servers use the index for the first column."""
    first, value = keys[0], after[0]
    if len(keys) == 1:
        return first > value
    return sa.and_(first >= value, sa.or_(first > value, _behind(keys[1:], after[1:])))
