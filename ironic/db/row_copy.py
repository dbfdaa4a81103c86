"""Row copy: all rows of tables go from one database, or one set of tables, into another, and are compared afterwards.

How it is used, by a copy, a restore, and a take-over, which reads old tables aside of the new ones:

    tables = [TableCopy(old, new, convert), ...]     # in the order of foreign keys: `metadata.sorted_tables`
    PROGRESS.create(target, checkfirst=True)         # on an engine
    for done in copy_rows(source, target, tables):   # source: a connection of `snapshot` or `latest`; target: an engine
        print(done.table, done.copied)
    with target.begin() as connection:
        faults = [each for each in compare(source, connection, tables) if each.differences]    # of `row_comparison`
        set_sequences(connection, new_tables)
    PROGRESS.drop(target)

Rows are read by their primary key, in batches, and written as they are stored: JSON stays text, nothing is encoded or
checked. Each batch is one transaction, which also stores the key of its last row in the table `PROGRESS` of the target.
So a process that is killed at any point leaves whole batches, and the same call goes on behind them. A call must find
the same tables in the same order as the call before. Two processes must not copy into one target at the same time:
`ironic.db.exclusive_use`.

A ``convert`` takes a row, as a dictionary by column, and returns the rows that the target gets for it: none, one or
several, all of one table with the same columns in the same order. Columns that it leaves out get the database's
defaults. It has to return the same for the same row, as the comparison asks it again; rows come in the order of the
key. Two copies into one table need keys that differ.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, Final

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.sql.elements import ColumnElement

from ironic.db import stored_sizes

Values = Mapping[str, object]
Convert = Callable[[Values], Sequence[Values]]
# The values of a row in the order of its columns; its primary key.
Row = tuple[object, ...]
Key = tuple[object, ...]

# A batch has so many rows at most, and so many bytes of long text if it has more than one row: a row may have a
# configuration drive of 64 MiB.
_MOST_ROWS: Final = 2000
_MOST_BYTES: Final = 4_000_000

# Likewise one statement that inserts rows. Some drivers count its values with 16 bits.
_MOST_VALUES: Final = 30_000
_MOST_CHARACTERS: Final = 1_000_000

# What SQLite keeps of a file in memory while rows are written to it, in KiB: indexes are filled at random places.
_CACHE: Final = 64 * 1024

_own = sa.MetaData()
# How far the copy of each table is; it is in the target for as long as a copy is not complete.
PROGRESS: Final = sa.Table(
    "row_copy_progress",
    _own,
    sa.Column("table_name", sa.String(128), primary_key=True),
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
    only: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """The values of columns that the rows to be copied have; other rows are not read."""
    called: str = ""
    """Its name in `PROGRESS` if it is not that of the target."""

    @property
    def name(self) -> str:
        """What it is called."""
        return self.called or self.target.name

    @cached_property
    def origin(self) -> sa.Table:
        """The table to read from, with values as they are stored."""
        return bare(self.source)

    @cached_property
    def destination(self) -> sa.Table:
        """The table to write to, with values as they are stored."""
        return bare(self.target)

    def read(self, connection: Connection, after: Key | None = None) -> Iterator[list[Row]]:
        """Yield the rows to be copied, see `read`."""
        return read(connection, self.origin, after, self.only)

    def converted(self, rows: Sequence[Row]) -> tuple[Sequence[str], Sequence[Row]]:
        """Return what the target gets for these rows: the names of columns, and their values."""
        names = self.origin.c.keys()
        if self.convert is None:
            return names, rows
        made = [one for row in rows for one in self.convert(dict(zip(names, row, strict=True)))]
        return list(made[0]) if made else [], [tuple(one.values()) for one in made]


@dataclass(frozen=True, slots=True)
class Copied:
    """How far the copy of one table is: rows read so far, and whether these are all."""

    table: str
    copied: int
    is_complete: bool


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Give a connection that sees the database as it was at its first statement, whatever others write meanwhile."""
    isolation = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with engine.connect().execution_options(**isolation) as connection:
        yield connection


@contextmanager
def latest(engine: Engine) -> Iterator[Connection]:
    """Give a connection each of whose statements sees what is stored by then.

    Between them it keeps no transaction open, which would have SQLite's log of what this process writes itself grow.
    """
    alone = {"begin": ""} if engine.dialect.name == "sqlite" else {"isolation_level": "AUTOCOMMIT"}
    with engine.connect().execution_options(**alone) as connection:
        yield connection


def copy_rows(source: Connection, target: Engine, tables: Sequence[TableCopy]) -> Iterator[Copied]:
    """Copy all rows, going on where an earlier call has ended; yield the progress after each batch, when it is stored.

    Raises ValueError for a table without a primary key.
    """
    with target.connect().execution_options(begin="IMMEDIATE") as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA cache_size=-{_CACHE}")
        begun = {name: (tuple(orjson.loads(at)), copied) for name, at, copied in connection.execute(_BEGUN)}
        connection.rollback()
        for each in tables:
            after, copied = begun.get(each.name, (None, 0))
            for rows in each.read(source, after):
                copied += len(rows)
                with connection.begin():
                    write(connection, each.destination, *each.converted(rows))
                    _keep(connection, each.name, key_of(each.origin, rows[-1]), copied)
                yield Copied(each.name, copied, False)
            yield Copied(each.name, copied, True)


_BEGUN: Final = sa.select(PROGRESS.c.table_name, PROGRESS.c.position, PROGRESS.c.copied)


def _keep(connection: Connection, name: str, last: Key, copied: int) -> None:
    values = {"position": orjson.dumps(last).decode(), "copied": copied}
    known = sa.update(PROGRESS).where(PROGRESS.c.table_name == name).values(values)
    if not connection.execute(known).rowcount:
        connection.execute(sa.insert(PROGRESS).values({**values, "table_name": name}))


def copy_at_once(source: Connection, target: Connection, tables: Iterable[TableCopy]) -> Iterator[Copied]:
    """Copy all rows in the transaction of the caller, and yield the progress after each batch."""
    for each in tables:
        copied = 0
        for rows in each.read(source):
            write(target, each.destination, *each.converted(rows))
            copied += len(rows)
            yield Copied(each.name, copied, False)
        yield Copied(each.name, copied, True)


def write(connection: Connection, table: sa.Table, names: Sequence[str], rows: Sequence[Row]) -> None:
    """Insert rows into a `bare` table; ``names`` are those of the columns.

    The statements are made here: SQLAlchemy looks at each value several times, and drivers send each row by itself.
    """
    if not rows:
        return
    dialect = connection.dialect
    columns = ", ".join(map(dialect.identifier_preparer.format_column, [table.c[name] for name in names]))
    into = f"INSERT INTO {dialect.identifier_preparer.format_table(table)} ({columns}) VALUES "
    rows = _as_bound(connection, table, names, rows)
    if dialect.name == "sqlite":
        connection.exec_driver_sql(f"{into}({', '.join('?' * len(names))})", list(rows))
        return
    marks = f"({', '.join(['%s'] * len(names))})"
    for some in _statements(rows):
        values = tuple([value for row in some for value in row])
        connection.exec_driver_sql(into + ", ".join([marks] * len(some)), values)


def _as_bound(connection: Connection, table: sa.Table, names: Sequence[str], rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows with values as the driver takes them."""
    dialect = connection.dialect
    found = [table.c[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names]
    converting = [(place, convert) for place, convert in enumerate(found) if convert is not None]
    if not converting:
        return rows
    bound = []
    for row in rows:
        values = list(row)
        for place, convert in converting:
            values[place] = convert(values[place])
        bound.append(tuple(values))
    return bound


def _statements(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Yield the rows of each statement."""
    most = max(1, _MOST_VALUES // len(rows[0]))
    first = length = 0
    for number, row in enumerate(rows):
        own = sum([len(value) for value in row if isinstance(value, str)])
        if number > first and (length + own > _MOST_CHARACTERS or number - first == most):
            yield rows[first:number]
            first, length = number, 0
        length += own
    yield rows[first:]


def read(
    connection: Connection,
    table: sa.Table,
    after: Key | None = None,
    only: Mapping[str, Sequence[object]] | None = None,
) -> Iterator[list[Row]]:
    """Yield the rows of a `bare` table in batches, ordered by the primary key.

    ``after`` is the key to begin behind; ``only`` are the values that columns have in the rows that are wanted.
    """
    keys = list(table.primary_key.columns)
    if not keys:
        raise ValueError(f"Table {table.name} has no primary key, so its rows can't be copied.")
    statement = sa.select(table).order_by(*keys)
    for name, values in (only or {}).items():
        statement = statement.where(table.c[name].in_(values))
    while True:
        wanted = statement if after is None else statement.where(_behind(keys, after))
        size = _fitting(connection, table, wanted)
        rows = fetched(connection, wanted.limit(size))
        if rows:
            yield rows
        if len(rows) < size:
            return
        after = key_of(table, rows[-1])


def _fitting(connection: Connection, table: sa.Table, wanted: sa.Select[Any]) -> int:
    """Return how many of the next rows make a batch."""
    unbounded = [stored_sizes.size(column) for column in table.c if isinstance(column.type, sa.Text)]
    if not unbounded:
        return _MOST_ROWS
    sizes = wanted.with_only_columns(sum(unbounded[1:], unbounded[0]).label("bytes")).limit(_MOST_ROWS)
    # Most often all of them fit: a driver that is written in Python takes long for each row of an answer.
    if (connection.execute(sa.select(sa.func.sum(sizes.subquery().c.bytes))).scalar() or 0) <= _MOST_BYTES:
        return _MOST_ROWS
    whole = 0
    for number, (size,) in enumerate(connection.execute(sizes).all()):
        whole += size
        if number and whole > _MOST_BYTES:
            return number
    return _MOST_ROWS


def fetched(connection: Connection, statement: sa.Select[Any]) -> list[Row]:
    """Return all rows that a statement finds."""
    return list(map(tuple, connection.execute(statement).all()))


def key_of(table: sa.Table, row: Row) -> Key:
    """Return the primary key of a row of all columns."""
    names = table.c.keys()
    return tuple([row[names.index(column.name)] for column in table.primary_key.columns])


def key_getter(table: sa.Table, names: Sequence[str]) -> Callable[[Row], object]:
    """Return a function from the values of some columns to the primary key: one value, or a tuple of several."""
    return itemgetter(*[names.index(column.name) for column in table.primary_key.columns])


def _behind(keys: Sequence[sa.Column[object]], after: Key) -> ColumnElement[bool]:
    """Return the condition for rows with a larger key, in a form for which every server uses the index of the key."""
    (first, *others), (value, *rest) = keys, after
    if not others:
        return first > value
    return sa.and_(first >= value, sa.or_(first > value, _behind(others, tuple(rest))))


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
