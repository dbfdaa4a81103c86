"""The lock of an upgrade: one process at a time changes the schema of a database, as two pods may begin at once.

Servers release it with the connection of its holder, the system with the process, so that none stays behind.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ironic.core.errors import IronicError

# Seconds: a large database is taken over by another process meanwhile.
PATIENCE: Final = 3600.0
_INTERVAL: Final = 0.5


class UpgradeUnderWay(IronicError):
    """Another process holds the lock and does not end."""

    text = "Another process upgrades the database, and has not ended within {seconds:.0f} seconds. Look what it does."


@contextmanager
def held(engine: Engine, say: Callable[[str], None], patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of a database; raises UpgradeUnderWay when another process keeps it for too long."""
    if engine.dialect.name == "sqlite":
        with _file_lock(engine, say, patience):
            yield
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        _wait(lambda: _take(connection), say, patience)
        try:
            yield
        finally:
            _release(connection)


@contextmanager
def _file_lock(engine: Engine, say: Callable[[str], None], patience: float) -> Iterator[None]:
    """Lock the directory of the file: SQLite's own locks are lost when the process closes the file elsewhere."""
    path = engine.url.database
    if not path or path == ":memory:":
        yield
        return
    descriptor = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        _wait(lambda: _flock(descriptor), say, patience)
        yield
    finally:
        os.close(descriptor)


def _flock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(take: Callable[[], bool], say: Callable[[str], None], patience: float) -> None:
    until = time.monotonic() + patience
    said = False
    while not take():
        if time.monotonic() >= until:
            raise UpgradeUnderWay(seconds=patience)
        if not said:
            say("Another process upgrades this database; this one waits for its end.")
            said = True
        time.sleep(_INTERVAL)


def _number(connection: Connection) -> int:
    """Return a number for the database: a server has one space of names for the locks of all of them."""
    digest = hashlib.sha256(f"ironic upgrade {connection.engine.url.database}".encode()).digest()
    return int.from_bytes(digest[:7], "big")


def _take(connection: Connection) -> bool:
    if connection.dialect.name == "postgresql":
        statement = sa.select(sa.func.pg_try_advisory_lock(_number(connection)))
    else:
        statement = sa.select(sa.func.get_lock(f"ironic-{_number(connection)}", 0))
    return bool(connection.execute(statement).scalar())


def _release(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_unlock(_number(connection))))
    else:
        connection.execute(sa.select(sa.func.release_lock(f"ironic-{_number(connection)}")))
