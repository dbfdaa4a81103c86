"""Transfer: all rows of a database go into an empty one, of the same kind or another.

The target says from the first change to the last that it is not complete (`schema_version.UNFINISHED`), so no service
serves on it. A transfer that was killed at any point is taken up by the same call: behind the last batch, or from the
beginning where tables were still being created or rows of the source have changed since they were copied.
"""

import os
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import quote

import sqlalchemy as sa
from oslo_db.exception import DBDuplicateEntry, DBReferenceError
from sqlalchemy.engine import Connection, Engine

from ironic.core.errors import IronicError
from ironic.db import engines, row_copy, schema
from ironic.db.exclusive_use import locked
from ironic.db.row_copy import PROGRESS, Compared, Copied, TableCopy
from ironic.db.schema_version import UNFINISHED, VERSION_TABLE, unfinished
from ironic.db.tables import metadata

# The phases: tables are created, rows are copied, all is done but for the removal of the mark.
_TABLES: Final = "tables"
_ROWS: Final = "rows"
_DONE: Final = "done"


class TargetRefused(IronicError):
    """The target of a transfer is not empty."""

    text = "{database} {why}. Nothing was changed there: name an empty database."


class RowsDiffer(IronicError):
    """The comparison has found rows that are not the same on both sides."""

    text = (
        "{database} is not the same as {origin}: {differences}. Something has written to {origin} meanwhile. Stop all "
        "services that use it, the API included, and run this again: it begins anew."
    )


class RowRefused(IronicError):
    """The target does not take a row."""

    text = (
        "{database} refuses a row of {origin}: {reason}. Either something has written to {origin} between two "
        "attempts, or the two kinds of databases compare text in different ways. Run this again, it begins anew; if it "
        "ends here once more, change the row."
    )


@dataclass(frozen=True)
class Origin:
    """Where rows come from: the database, its name for messages, and those of its tables that hold rows to copy."""

    engine: Engine
    name: str
    tables: Sequence[sa.Table]

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """Return a whole database with the schema of this release."""
        return cls(engine, engines.shown(engine.url), metadata.sorted_tables)

    @property
    def copies(self) -> list[TableCopy]:
        """What has to be copied, in the order of foreign keys."""
        return [TableCopy(table, metadata.tables[table.name]) for table in self.tables]


def tables_in(engine: Engine) -> set[str]:
    """Return the names of all tables of a database, without changing it; a file that does not exist has none.

    Raises sqlite3.DatabaseError for a file that is no SQLite database.
    """
    path = engine.url.database or ""
    if engine.dialect.name != "sqlite":
        with engine.connect() as connection:
            return set(sa.inspect(connection).get_table_names())
    if not os.path.exists(path) or not os.path.getsize(path):
        return set()
    # Another program's file must not be changed by looking, as by the engine's journal mode.
    with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro&immutable=1", uri=True)) as seen:
        return {name for (name,) in seen.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def refuse_filled(engine: Engine, names: set[str]) -> None:
    """Raise TargetRefused unless a database has no tables, or the mark of a transfer."""
    if names and UNFINISHED.name not in names:
        found = ", ".join(sorted(names)[:3])
        raise TargetRefused(database=engines.shown(engine.url), why=f"has tables already ({found} ...)")


def transfer(origin: Origin, target: Engine, work: str, remedy: str) -> Generator[Copied | Compared, None, None]:
    """Copy all rows and compare them; yield the progress.

    ``work`` and the name of the origin are what a repeated call has to have in common; ``remedy`` says to operators how
    they end it. Raises TargetRefused, DatabaseLocked, RowsDiffer or RowRefused.
    """
    try:
        refuse_filled(target, tables_in(target))
    except sqlite3.DatabaseError as error:
        raise TargetRefused(database=engines.shown(target.url), why=f"is no SQLite database ({error})") from None
    with locked(target):
        phase = _begin(target, origin, work, remedy)
        if phase == _TABLES:
            _make_tables(target)
        if phase != _DONE:
            yield from _copy(origin, target)
            yield from _compare(origin, target)
        with _writing(target) as connection:
            PROGRESS.drop(connection, checkfirst=True)
            # What ends the mark is the last change.
            UNFINISHED.drop(connection)


def _writing(target: Engine) -> AbstractContextManager[Connection]:
    return target.execution_options(begin="IMMEDIATE").begin()


def _begin(target: Engine, origin: Origin, work: str, remedy: str) -> str:
    """Mark the target, or find the mark of an earlier call, and return the phase."""
    with _writing(target) as connection:
        mark = unfinished(connection)
        if mark is None:
            refuse_filled(target, set(sa.inspect(connection).get_table_names()) - {UNFINISHED.name})
            UNFINISHED.create(connection, checkfirst=True)
            new = {"id": 1, "work": work, "origin": origin.name, "phase": _TABLES, "remedy": remedy}
            connection.execute(sa.insert(UNFINISHED).values(new))
            return _TABLES
        if (mark.work, mark.origin) != (work, origin.name):
            raise TargetRefused(
                database=engines.shown(target.url), why=f"is half of a {mark.work} of another source: {mark.origin}"
            )
        return str(mark.phase)


def _set_phase(connection: Connection, phase: str) -> None:
    connection.execute(sa.update(UNFINISHED).values(phase=phase))


def _make_tables(target: Engine) -> None:
    """Create all tables; those of an earlier attempt are removed, as nothing but that attempt has made them."""
    with _writing(target) as connection:
        metadata.drop_all(connection)
        for table in (PROGRESS, sa.Table(VERSION_TABLE, sa.MetaData())):
            table.drop(connection, checkfirst=True)
        schema.create_in(connection)
        PROGRESS.create(connection)
        _set_phase(connection, _ROWS)


def _copy(origin: Origin, target: Engine) -> Iterator[Copied]:
    try:
        with row_copy.snapshot(origin.engine) as source:
            yield from row_copy.copy_rows(source, target, origin.copies)
    except (DBDuplicateEntry, DBReferenceError) as error:
        with _writing(target) as connection:
            _set_phase(connection, _TABLES)
        reason = str(error.inner_exception or error).partition("\n")[0]
        raise RowRefused(database=engines.shown(target.url), origin=origin.name, reason=reason) from None


def _compare(origin: Origin, target: Engine) -> Iterator[Compared]:
    """Compare with the source as it is now, so that what was written since it was copied is found."""
    different = []
    with row_copy.snapshot(origin.engine) as source, target.connect() as connection:
        for compared in row_copy.compare(source, connection, origin.copies):
            yield compared
            if compared.differences:
                different.append(compared)
    with _writing(target) as connection:
        _set_phase(connection, _TABLES if different else _DONE)
        row_copy.set_sequences(connection, [] if different else [each.target for each in origin.copies])
    if different:
        differences = "; ".join(map(in_words, different))
        raise RowsDiffer(database=engines.shown(target.url), origin=origin.name, differences=differences)


def in_words(compared: Compared) -> str:
    """Return how many rows of a table differ, and which."""
    keys = ", ".join(" ".join(map(str, key)) for key in compared.keys)
    return f"{compared.differences} rows of {compared.table}{f' (key {keys})' if keys else ''}"
