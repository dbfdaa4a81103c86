"""Row copy: all rows of tables go from one database, or one set of tables, into another, and are compared afterwards.

How it is used, by a copy, a backup, or a change of the schema that reads old tables aside of the new ones:

    tables = [TableCopy(old, new, convert), ...]     # in the order of foreign keys: `metadata.sorted_tables`
    PROGRESS.create(target, checkfirst=True)         # on an engine
    for done in copy_rows(source, target, tables):   # source: a connection, see `snapshot`; target: an engine
        print(done.table, done.copied)
    with target.begin() as connection:
        faults = [each for each in compare(source, connection, tables) if each.differences]
        set_sequences(connection, new_tables)
    PROGRESS.drop(target)

Rows are read by their primary key, in batches, and written as they are stored: JSON stays text, nothing is encoded or
checked. Each batch is one transaction, which also stores the key of its last row in the table `PROGRESS` of the target.
So a process that is killed at any point leaves whole batches, and the same call goes on behind them. A call must find
the same tables in the same order as the call before. Two processes must not copy into one target at the same time:
`ironic.db.database_lock`.

A ``convert`` takes a row, as a dictionary by column, and returns the rows that the target gets for it: none, one or
several, all of one table with the same columns. Columns that it leaves out get the database's defaults. It has to
return the same for the same row, as the comparison asks it again. It is written for tables that are no other's: two
copies into one table need keys that differ.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.sql.elements import ColumnElement

Values = Mapping[str, object]
Convert = Callable[[Values], Sequence[Values]]
Key = tuple[object, ...]

# A batch has so many rows at most, and about so many characters: a row may have a configuration drive of 64 MiB.
_MOST_ROWS: Final = 1000
_CHARACTERS: Final = 4_000_000
_FIRST_ROWS: Final = 100

# How many keys of rows that differ are kept of each table.
_SHOWN: Final = 5

_own = sa.MetaData()
# How far the copy of each table is; it is in the target for as long as a copy is not complete.
PROGRESS: Final = sa.Table(
    "row_copy_progress",
    _own,
    sa.Column("table_name", sa.String(64), primary_key=True),
    # The primary key of the last row that was read, a JSON array.
    sa.Column("position", sa.Text(), nullable=False),
    sa.Column("copied", sa.BigInteger(), nullable=False),
    mysql_engine="InnoDB",
    mysql_charset="utf8mb4",
)


def bare(table: sa.Table) -> sa.Table:
    """Return a table with the same columns, whose values are those that are stored, without any conversion."""
    columns = [
        sa.Column(
            column.name,
            column.type.impl_instance if isinstance(column.type, sa.types.TypeDecorator) else column.type,
            primary_key=column.primary_key,
            autoincrement=False,
        )
        for column in table.c
    ]
    return sa.Table(table.name, sa.MetaData(), *columns, schema=table.schema)


@dataclass(frozen=True)
class TableCopy:
    """One table to copy: where its rows are, where they go, and what becomes of each; both have a primary key."""

    source: sa.Table
    target: sa.Table
    convert: Convert | None = None

    @cached_property
    def origin(self) -> sa.Table:
        """The table to read from, with values as they are stored."""
        return bare(self.source)

    @cached_property
    def destination(self) -> sa.Table:
        """The table to write to, with values as they are stored."""
        return bare(self.target)

    def converted(self, rows: Sequence[Values]) -> Sequence[Values]:
        """Return what the target gets for these rows."""
        convert = self.convert
        return rows if convert is None else [made for row in rows for made in convert(row)]


@dataclass(frozen=True, slots=True)
class Copied:
    """How far the copy of one table is: rows read so far, and whether these are all."""

    table: str
    copied: int
    is_complete: bool


@dataclass(slots=True)
class Compared:
    """The comparison of one table: rows that should be in the target, rows that differ, and the first keys of these.

    A row differs that is missing, has another value in one of its columns, or should not be there.
    """

    table: str
    rows: int = 0
    differences: int = 0
    keys: list[Key] = field(default_factory=list)

    def note(self, key: Key) -> None:
        """Note a row that is missing or has other values."""
        self.differences += 1
        if len(self.keys) < _SHOWN:
            self.keys.append(key)


class Digest:
    """The number of rows and a hash of all their values; their order does not matter, that of the columns does."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def add(self, rows: Iterable[Values]) -> None:
        """Add rows."""
        for row in rows:
            self.rows += 1
            self._sum += int.from_bytes(hashlib.sha256(orjson.dumps(list(row.values()))).digest())

    @property
    def hexadecimal(self) -> str:
        """The hash."""
        return f"{self._sum % 2**256:064x}"


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Give a connection that sees the database as it was at its first statement, whatever others write meanwhile."""
    isolation = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with engine.connect().execution_options(**isolation) as connection:
        yield connection


def copy_rows(source: Connection, target: Engine, tables: Sequence[TableCopy]) -> Iterator[Copied]:
    """Copy all rows, going on where an earlier call has ended; yield the progress after each batch, when it is stored.

    Raises ValueError for a table without a primary key.
    """
    with target.connect() as connection:
        begun = {name: (tuple(orjson.loads(position)), copied) for name, position, copied in connection.execute(_BEGUN)}
    writer = target.execution_options(begin="IMMEDIATE")
    for each in tables:
        name = each.destination.name
        after, copied = begun.get(name, (None, 0))
        for rows in read(source, each.origin, after):
            copied += len(rows)
            position = orjson.dumps(key_of(each.origin, rows[-1])).decode()
            with writer.begin() as connection:
                write(connection, each.destination, each.converted(rows))
                _keep(connection, name, position, copied)
            yield Copied(name, copied, False)
        yield Copied(name, copied, True)


_BEGUN: Final = sa.select(PROGRESS.c.table_name, PROGRESS.c.position, PROGRESS.c.copied)


def _keep(connection: Connection, name: str, position: str, copied: int) -> None:
    known = sa.update(PROGRESS).where(PROGRESS.c.table_name == name).values(position=position, copied=copied)
    if not connection.execute(known).rowcount:
        connection.execute(sa.insert(PROGRESS).values(table_name=name, position=position, copied=copied))


def write(connection: Connection, table: sa.Table, rows: Sequence[Values]) -> None:
    """Insert rows into a `bare` table."""
    if rows:
        connection.execute(sa.insert(table), rows)


def read(connection: Connection, table: sa.Table, after: Key | None = None) -> Iterator[list[dict[str, object]]]:
    """Yield all rows of a `bare` table in batches, ordered by the primary key; ``after`` is the key to begin behind."""
    keys = list(table.primary_key.columns)
    if not keys:
        raise ValueError(f"Table {table.name} has no primary key, so its rows can't be copied.")
    statement = sa.select(table).order_by(*keys)
    unbounded = [column.name for column in table.c if isinstance(column.type, sa.Text)]
    size = _FIRST_ROWS
    while True:
        wanted = statement if after is None else statement.where(_behind(keys, after))
        rows = _rows(connection, wanted.limit(size))
        if rows:
            yield rows
        if len(rows) < size:
            return
        after = key_of(table, rows[-1])
        length = sum(len(str(row[name] or "")) for row in rows for name in unbounded)
        size = max(1, min(_MOST_ROWS, size * 4, size * _CHARACTERS // max(1, length)))


def _rows(connection: Connection, statement: sa.Select[tuple[object, ...]]) -> list[dict[str, object]]:
    found = connection.execute(statement)
    names = tuple(found.keys())
    return [dict(zip(names, row, strict=True)) for row in found.all()]


def key_of(table: sa.Table, row: Values) -> Key:
    """Return the primary key of a row."""
    return tuple([row[column.name] for column in table.primary_key.columns])


def _behind(keys: Sequence[sa.Column[object]], after: Key) -> ColumnElement[bool]:
    """Return the condition for rows with a larger key, in a form for which every server uses the index of the key."""
    (first, *others), (value, *rest) = keys, after
    if not others:
        return first > value
    return sa.and_(first >= value, sa.or_(first > value, _behind(others, tuple(rest))))


def compare(source: Connection, target: Connection, tables: Sequence[TableCopy]) -> Iterator[Compared]:
    """Read all rows of both sides, compare value by value, and yield the result of each table."""
    for each in tables:
        found = Compared(each.destination.name)
        present = 0
        for rows in read(source, each.origin):
            expected = {key_of(each.destination, row): row for row in each.converted(rows)}
            found.rows += len(expected)
            if not expected:
                continue
            stored = _by_key(target, each.destination, expected)
            present += len(stored)
            for key, row in expected.items():
                if stored.get(key) != row:
                    found.note(key)
        count = target.execute(sa.select(sa.func.count()).select_from(each.destination)).scalar_one()
        found.differences += max(0, count - present)
        yield found


def _by_key(connection: Connection, table: sa.Table, expected: Mapping[Key, Values]) -> dict[Key, dict[str, object]]:
    keys = list(table.primary_key.columns)
    columns = [table.c[name] for name in next(iter(expected.values()))]
    if len(keys) == 1:
        wanted = keys[0].in_([key for (key,) in expected])
    else:
        wanted = sa.tuple_(*keys).in_(list(expected))
    return {key_of(table, row): row for row in _rows(connection, sa.select(*columns).where(wanted))}


def set_sequences(connection: Connection, tables: Iterable[sa.Table]) -> None:
    """Have PostgreSQL give new rows numbers above those of the copied ones; the other databases do it by themselves."""
    if connection.dialect.name != "postgresql":
        return
    for table in tables:
        column = table.autoincrement_column
        if column is None:
            continue
        name = connection.dialect.identifier_preparer.format_table(table)
        found = sa.select(sa.func.pg_get_serial_sequence(name, column.name))
        sequence: str | None = connection.execute(found).scalar_one()
        if sequence is None:
            continue
        last = connection.exec_driver_sql(f"SELECT last_value FROM {sequence}").scalar_one()
        highest = connection.execute(sa.select(sa.func.max(column))).scalar_one()
        # Never back: a transaction that fails would leave the sequence there.
        if highest is not None and highest >= last:
            connection.execute(sa.select(sa.func.setval(sequence, highest)))
