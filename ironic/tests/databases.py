"""Databases for tests: a store over a fresh SQLite file, an empty database on a server, a count of statements."""

import atexit
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ironic import db
from ironic.db.tables import metadata


def sqlite_store(directory: Path, **options: Any) -> db.Store:
    """Return a store over a new SQLite file in this directory; close it when done."""
    path = directory / "ironic.sqlite"
    shutil.copyfile(_sqlite_file_with_tables(), path)
    return db.connect(f"sqlite:///{path}", **options)


SERVERS = {
    "mariadb": "mysql+pymysql://root@127.0.0.1:3306/",
    "postgresql": "postgresql+psycopg2://postgres@127.0.0.1:5432/",
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


@cache
def _sqlite_file_with_tables() -> Path:
    # Making the tables takes much longer than copying a file, and most tests want a database of their own.
    directory = tempfile.mkdtemp(prefix="ironic-tests-")
    atexit.register(shutil.rmtree, directory)
    path = Path(directory) / "empty.sqlite"
    engine = sa.create_engine(f"sqlite:///{path}")
    metadata.create_all(engine)
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
