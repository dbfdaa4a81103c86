"""Transfer: all rows of a database go into an empty one, of the same kind or another.

The target says from the first change to the last that it is not complete (`ironic.db.database_work`), so no service
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
from ironic.db import database_work, engines, row_copy, schema
from ironic.db.database_work import WORK_TABLE, Work
from ironic.db.exclusive_use import locked
from ironic.db.row_comparison import Compared, compare
from ironic.db.row_copy import PROGRESS, Copied, TableCopy
from ironic.db.tables import metadata

# The phases: tables are created, rows are copied, all is done but for the removal of the note.
_TABLES: Final = "tables"
_ROWS: Final = "rows"
_COMPARED: Final = "compared"


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


def is_filled(engine: Engine) -> bool:
    """Return whether a database has tables and is not half of a transfer."""
    names = tables_in(engine)
    if WORK_TABLE.name in names:
        with engine.connect() as connection:
            if database_work.unfinished(connection):
                return False
    return bool(names - {WORK_TABLE.name})


def refuse_filled(engine: Engine, names: set[str]) -> None:
    """Raise TargetRefused unless a database has no tables, or a note of work that has begun."""
    if names and WORK_TABLE.name not in names:
        found = ", ".join(sorted(names)[:3])
        raise TargetRefused(database=engines.shown(engine.url), why=f"has tables already ({found} ...)")


def transfer(origin: Origin, target: Engine, kind: str, remedy: str) -> Generator[Copied | Compared, None, None]:
    """Copy all rows and compare them; yield the progress.

    ``kind``, a word, and the name of the origin are what a repeated call has to have in common; ``remedy`` says to
    operators how they end it. Raises TargetRefused, DatabaseLocked, RowsDiffer or RowRefused.
    """
    try:
        refuse_filled(target, tables_in(target))
    except sqlite3.DatabaseError as error:
        raise TargetRefused(database=engines.shown(target.url), why=f"is no SQLite database ({error})") from None
    with locked(target):
        phase = _begin(target, Work(kind, origin.name, _TABLES, remedy))
        if phase == _TABLES:
            with _writing(target) as connection:
                schema.create_to_fill(connection)
                database_work.set_phase(connection, _ROWS)
        if phase != _COMPARED:
            yield from _copy(origin, target)
            yield from _compare(origin, target)
        with _writing(target) as connection:
            PROGRESS.drop(connection, checkfirst=True)
            # From this last change on services start.
            database_work.forget(connection)


def _writing(target: Engine) -> AbstractContextManager[Connection]:
    return target.execution_options(begin="IMMEDIATE").begin()


def _begin(target: Engine, work: Work) -> str:
    """Note the work, or find the note of an earlier call, and return the phase."""
    with _writing(target) as connection:
        found = database_work.unfinished(connection)
        if found is None:
            refuse_filled(target, set(sa.inspect(connection).get_table_names()) - {WORK_TABLE.name})
            database_work.begin(connection, work)
            return work.phase
        if (found.kind, found.origin) != (work.kind, work.origin):
            raise TargetRefused(
                database=engines.shown(target.url), why=f"is half of a {found.kind} of another source: {found.origin}"
            )
        return found.phase


def _copy(origin: Origin, target: Engine) -> Iterator[Copied]:
    try:
        with row_copy.snapshot(origin.engine) as source:
            yield from row_copy.copy_rows(source, target, origin.copies)
    except (DBDuplicateEntry, DBReferenceError) as error:
        with _writing(target) as connection:
            database_work.set_phase(connection, _TABLES)
        reason = str(error.inner_exception or error).partition("\n")[0]
        raise RowRefused(database=engines.shown(target.url), origin=origin.name, reason=reason) from None


def _compare(origin: Origin, target: Engine) -> Iterator[Compared]:
    """Compare with the source as it is now, so that what was written since it was copied is found."""
    different = []
    with row_copy.snapshot(origin.engine) as source, target.connect() as connection:
        for compared in compare(source, connection, origin.copies):
            yield compared
            if compared.differences:
                different.append(compared)
    with _writing(target) as connection:
        database_work.set_phase(connection, _TABLES if different else _COMPARED)
        row_copy.set_sequences(connection, [] if different else [each.target for each in origin.copies])
    if different:
        differences = "; ".join(each.in_words() for each in different)
        raise RowsDiffer(database=engines.shown(target.url), origin=origin.name, differences=differences)
