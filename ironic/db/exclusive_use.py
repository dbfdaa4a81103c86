"""Exclusive use of a database: a lock for programs that rewrite it as a whole, and signs of others that have it open.

The lock keeps a second such program away and no service; it ends with its process, however that ends. Servers have
locks by name for it. Of an SQLite file the whole file is locked (`flock`), which SQLite itself does not look at.
"""

import fcntl
import hashlib
import os
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import StaticPool

from ironic.core.clock import CLOCK
from ironic.core.errors import IronicError
from ironic.db import engines


class DatabaseLocked(IronicError):
    """Another program rewrites the database."""

    text = (
        "Another `ironic-dbsync` is at work on the database {database}. Nothing was changed: wait until it has ended, "
        "then look whether this is still to be done."
    )


class DatabaseInUse(IronicError):
    """A process has the database open, which must not be while it is rewritten."""

    text = (
        "The database {database} is in use: {who}. Nothing was changed. Stop all services that use it, the API "
        "included, then run this again."
    )


# The bytes of an SQLite file of which each open connection locks one, as SQLite's file format has them.
_FIRST_SHARED: Final = 0x40000002
_SHARED: Final = 510
_FLOCK: Final = "hhqqi"

# The mode comes first, as SQLite takes the lock when it opens the write-ahead log.
_ALONE: Final = (
    "PRAGMA locking_mode=EXCLUSIVE",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "BEGIN EXCLUSIVE",
)

# Seconds in which a server notices that a connection of ours was closed.
_CLOSING_SECONDS: Final = 3.0

_OTHERS: Final = {
    "mysql": sa.text(
        "SELECT count(*) FROM information_schema.processlist WHERE id <> connection_id() AND db = database() "
        "AND user = substring_index(user(), '@', 1)"
    ),
    "postgresql": sa.text(
        "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() "
        "AND usename = current_user AND backend_type = 'client backend'"
    ),
}
# Seconds for which an upgrade waits for another one: a large database may be taken over meanwhile.
UPGRADE_PATIENCE: Final = 3600.0
_RETRY_SECONDS: Final = 0.5

_TRY: Final = {"mysql": "SELECT get_lock('{}', 0)", "postgresql": "SELECT pg_try_advisory_lock({})"}
_RELEASE: Final = {"mysql": "SELECT release_lock('{}')", "postgresql": "SELECT pg_advisory_unlock({})"}


@contextmanager
def locked(engine: Engine, patience: float = 0.0, say: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold the lock of the database while the block runs.

    While another process has it, this waits for ``patience`` seconds, and says so once; then it raises DatabaseLocked.
    """
    if engine.dialect.name == "sqlite":
        descriptor = os.open(engine.url.database or "", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _take(engine, lambda: _flock(descriptor), patience, say)
            yield
        finally:
            # Closing any descriptor of a file ends the locks that SQLite has of it in this process.
            engine.dispose()
            os.close(descriptor)
        return
    digest = hashlib.sha256(f"ironic-dbsync {engine.url.database}".encode())
    name = digest.hexdigest()[:60] if engine.dialect.name == "mysql" else int.from_bytes(digest.digest()[:7])
    statement = _TRY[engine.dialect.name].format(name)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        _take(engine, lambda: bool(connection.exec_driver_sql(statement).scalar()), patience, say)
        try:
            yield
        finally:
            # A server may notice the end of a connection later, when this is run again.
            with suppress(sa.exc.DBAPIError):
                connection.exec_driver_sql(_RELEASE[engine.dialect.name].format(name))
            # The lock belongs to the connection, which the pool would keep.
            with suppress(sa.exc.DBAPIError):
                connection.invalidate()


def _flock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _take(engine: Engine, attempt: Callable[[], bool], patience: float, say: Callable[[str], None] | None) -> None:
    until, is_said = CLOCK.monotonic() + patience, say is None
    while not attempt():
        if CLOCK.monotonic() >= until:
            raise DatabaseLocked(database=engines.shown(engine.url))
        if say is not None and not is_said:
            say("Another `ironic-dbsync` is at work on this database; this one waits for its end.")
            is_said = True
        CLOCK.delay(_RETRY_SECONDS)


def others(engine: Engine) -> str | None:
    """Return who else has a database open, in words, None if no other process has.

    On a server it counts the connections of the same user; the engine must have none yet. This process must not have
    an SQLite file open.
    """
    if engine.dialect.name == "sqlite":
        return _holder(engine.url.database or "")
    until = CLOCK.monotonic() + _CLOSING_SECONDS
    with engine.connect() as connection:
        while (count := connection.execute(_OTHERS[engine.dialect.name]).scalar_one()) and CLOCK.monotonic() < until:
            CLOCK.delay(0.1)
    return f"its user has {count} connections besides this one" if count else None


def _holder(path: str) -> str | None:
    if not os.path.exists(path):
        return None
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, _FIRST_SHARED, _SHARED, 0)
        kind, *_, process = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    finally:
        os.close(descriptor)
    return None if kind == fcntl.F_UNLCK else f"process {process} has the file open"


@contextmanager
def writing_alone(engine: Engine) -> Iterator[Connection]:
    """Give a connection in a transaction; no other process can open an SQLite file meanwhile.

    Raises DatabaseInUse where a process has the file open. On a server it is an ordinary transaction.
    """
    if engine.dialect.name != "sqlite":
        with engine.begin() as connection:
            yield connection
        return
    raw = sqlite3.connect(engine.url.database or "", timeout=0, isolation_level=None)
    alone = sa.create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    try:
        # Connecting ends with a rollback, so the transaction is begun afterwards.
        with alone.connect() as connection:
            try:
                for statement in _ALONE:
                    raw.execute(statement)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                who = "a process has the file open"
                raise DatabaseInUse(database=engines.shown(engine.url), who=who) from None
            yield connection
            connection.commit()
    finally:
        alone.dispose()
        raw.close()
