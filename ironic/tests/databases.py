"""Databases for tests: a store over a fresh SQLite file, databases of each kind, a count of statements."""

import atexit
import shutil
import sqlite3
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ironic import db
from ironic.core.clock import CLOCK, Clock
from ironic.db import schema
from ironic.db.tables import metadata
from ironic.tests.clocks import as_clock
from ironic.tests.warm_dialect import WARM


def sqlite_store(directory: Path, clock: Clock | Callable[[], datetime] = CLOCK, **options: Any) -> db.Store:
    """Return a store over a new SQLite file in this directory; close it when done.

    Unlike that of a service it does not wait for the disk: no test takes the power away. ``clock`` may be a
    function that returns the time.
    """
    path = directory / "ironic.sqlite"
    shutil.copyfile(_sqlite_file_with_tables(), path)
    store = db.connect(f"{WARM}:///{path}", clock=as_clock(clock), **options)
    sa.event.listen(store.engine, "connect", _without_the_disk)
    return store


def url_for_programs(store: db.Store) -> str:
    """Return the URL of a store of `sqlite_store` for other programs, which know the usual dialect only."""
    return store.engine.url.set(drivername="sqlite").render_as_string()


def _without_the_disk(connection: sqlite3.Connection, _record: object) -> None:
    connection.execute("PRAGMA synchronous=OFF")


# Those that `tools/services.py` starts.
SERVERS = {
    "mariadb": "mysql+pymysql://root@127.0.0.1:23306/",
    "postgresql": "postgresql+psycopg2://postgres@127.0.0.1:25432/",
}


@contextmanager
def empty_database(kind: str, directory: Path) -> Iterator[str]:
    """Give the URL of an empty database of a kind (sqlite, mariadb, postgresql) that is dropped in the end."""
    name = f"ironic_test_{uuid.uuid4().hex}"
    if kind == "sqlite":
        yield f"sqlite:///{directory / name}.sqlite"
        return
    engine = sa.create_engine(SERVERS[kind], isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
        try:
            yield f"{SERVERS[kind]}{name}"
        finally:
            # A test that failed may have left connections, which PostgreSQL would otherwise keep the database for.
            forced = " WITH (FORCE)" if kind == "postgresql" else ""
            connection.exec_driver_sql(f"DROP DATABASE {name}{forced}")
    engine.dispose()


# Migrated databases of servers that no test has at the moment, by kind: the migrations take a server several seconds.
_spare: defaultdict[str, list[str]] = defaultdict(list)


@contextmanager
def database_with_tables(kind: str, directory: Path) -> Iterator[str]:
    """Give the URL of a migrated database without rows; a server's is emptied in the end, and another test gets it."""
    if kind == "sqlite":
        with empty_database(kind, directory) as url:
            schema.upgrade(url)
            yield url
        return
    url = _spare[kind].pop() if _spare[kind] else _migrated(kind, directory)
    yield url
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    engine.dispose()
    _spare[kind].append(url)


_until_the_end = ExitStack()
atexit.register(_until_the_end.close)


def _migrated(kind: str, directory: Path) -> str:
    url = _until_the_end.enter_context(empty_database(kind, directory))
    schema.upgrade(url)
    return url


@cache
def _sqlite_file_with_tables() -> Path:
    # Making the tables takes much longer than copying a file, and most tests want a database of their own.
    directory = tempfile.mkdtemp(prefix="ironic-tests-")
    atexit.register(shutil.rmtree, directory)
    path = Path(directory) / "empty.sqlite"
    engine = sa.create_engine(f"sqlite:///{path}")
    metadata.create_all(engine)
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    engine.dispose()
    return path


@dataclass
class Statements:
    """What was sent to the database."""

    texts: list[str] = field(default_factory=list)
    commits: int = 0

    @property
    def selects(self) -> int:
        return self._starting_with("SELECT")

    @property
    def writes(self) -> int:
        return self._starting_with("INSERT", "UPDATE", "DELETE")

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many statements read, how many wrote, how often was committed."""
        return self.selects, self.writes, self.commits

    def _starting_with(self, *words: str) -> int:
        return sum(text.lstrip().upper().startswith(words) for text in self.texts)


@contextmanager
def counting_statements(store: db.Store) -> Iterator[Statements]:
    """Count statements and commits of all threads while the block runs; a bulk INSERT counts once."""
    seen = Statements()

    def statement(_connection: Any, _cursor: Any, text: str, *_rest: Any) -> None:
        seen.texts.append(text)

    def commit(_connection: Any) -> None:
        seen.commits += 1

    sa.event.listen(store.engine, "before_cursor_execute", statement)
    sa.event.listen(store.engine, "commit", commit)
    try:
        yield seen
    finally:
        sa.event.remove(store.engine, "before_cursor_execute", statement)
        sa.event.remove(store.engine, "commit", commit)
