"""Unit of work: one transaction per thread, with retries, and a wait for a server that does not answer.

A repository calls `reading` or `writing`, which give the connection of the thread's open transaction or begin a new
one. On SQLite a lock lets one writer in at a time, so that no thread of the process gets "database is locked". A
transaction must not stay open during work on a BMC or a socket; the tests check that by `is_any_open`.

A server that restarts cuts open transactions off. With ``retry_seconds`` they are repeated when the server is back:
reads always, changes only if it is certain that nothing was committed or if they leave the same behind when they are
made twice. Connecting is always retried, as nothing has been sent then.
"""

import functools
import logging
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from oslo_db import api as oslo_db_api
from oslo_db.exception import DBConnectionError
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import QueuePool

from ironic.core.clock import CLOCK, Clock
from ironic.core.errors import TemporaryFailure
from ironic.core.permit import PERMIT

LOG = logging.getLogger(__name__)

# Seconds between two attempts to connect, and before a transaction that was cut off is repeated: by then the server
# that shuts down has ended.
_CONNECT_INTERVAL: Final = 0.5
_REPEAT_INTERVAL: Final = 0.2


class DatabaseUnreachable(TemporaryFailure):
    """There is no connection to the database."""

    text = "The database can't be reached at the moment. Try again later."


class ConnectionLost(DatabaseUnreachable):
    """The connection was lost during a transaction; what was not committed is undone."""


class Outage:
    """Logs when the server becomes unreachable and when it is back, once each."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: float | None = None

    def begin(self, reason: Exception) -> None:
        """Record that the server does not answer."""
        if self._since is None:
            self._since = self._clock.monotonic()
            LOG.error(
                "The database can't be reached; whatever needs it waits or is refused until it is back: %s", reason
            )

    def end(self) -> None:
        """Record that the server has answered."""
        since, self._since = self._since, None
        if since is not None:
            LOG.info("The database is back after %.1f seconds", self._clock.monotonic() - since)

    def connect(self, engine: Engine, retry_seconds: float) -> Connection:
        """Return a connection; raises DBConnectionError if there is none after so many seconds."""
        until = self._clock.monotonic() + retry_seconds
        while True:
            try:
                connection = engine.connect()
            except DBConnectionError as reason:
                self.begin(reason)
                if self._clock.monotonic() >= until:
                    raise
                with PERMIT.waiting():
                    self._clock.delay(_CONNECT_INTERVAL)
            else:
                if self._since is not None:
                    self.end()
                return connection


P = ParamSpec("P")
T = TypeVar("T")


class _OpenTransaction:
    """The open transaction of one thread."""

    __slots__ = ("after_commit", "after_rollback", "connection", "created", "depth", "writes")

    def __init__(self, connection: Connection, *, writes: bool) -> None:
        self.connection = connection
        self.writes = writes
        self.depth = 1
        self.after_commit: list[Callable[[], None]] = []
        self.after_rollback: list[Callable[[], None]] = []
        self.created: dict[str, int] = {}


Announce = Callable[[Mapping[str, int]], bool]


class _PerThread(threading.local):
    current: _OpenTransaction | None = None
    without_retries: bool = False
    began_commit: bool = False  # the last transaction got as far as its commit
    announce: Announce | None = None


# Those of all databases of this process; only tests have more than one.
_ALL: "weakref.WeakSet[Transactions]" = weakref.WeakSet()


def is_any_open() -> bool:
    """Return whether the calling thread has a transaction of any database open."""
    return any(one.is_open for one in list(_ALL))


class Transactions:
    """The transactions of one database."""

    def __init__(self, engine: Engine, *, clock: Clock = CLOCK, retry_seconds: float = 0) -> None:
        """Use one engine; ``retry_seconds`` is how long a transaction waits for an unreachable server."""
        self.engine = engine
        self.retry_seconds = retry_seconds
        self._outage = Outage(clock)
        self.dialect = engine.dialect.name
        self.clock = clock
        self._thread = _PerThread()
        self._writer = engine.execution_options(begin="IMMEDIATE")
        _ALL.add(self)
        self._turn: AbstractContextManager[Any] = threading.Lock() if self.dialect == "sqlite" else nullcontext()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees one state of the database; joins the open transaction of the thread."""
        if self._thread.current is not None:
            yield self._thread.current.connection
            return
        pool = self.engine.pool
        if isinstance(pool, QueuePool) and pool.checkedin() == 0 and pool.overflow() >= 0:
            # All connections that are kept are in use, so the pool may have to wait for one.
            PERMIT.check_may_wait()
        with self._connected(self.engine) as connection:
            self._thread.current = _OpenTransaction(connection, writes=False)
            try:
                yield connection
            finally:
                self._thread.current = None

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose changes are committed when the outermost such block ends without an exception.

        Raises RuntimeError inside a block that only reads.
        """
        current = self._thread.current
        if current is not None:
            if not current.writes:
                raise RuntimeError("Changing the database inside a block that only reads: open writing() around both.")
            current.depth += 1
            try:
                yield current.connection
            finally:
                current.depth -= 1
            return
        PERMIT.check_may_wait()
        self._thread.began_commit = False
        with self._turn, self._connected(self._writer) as connection:
            self._thread.current = current = _OpenTransaction(connection, writes=True)
            try:
                yield connection
                if self._thread.announce is not None and self._thread.announce(current.created):
                    self._thread.announce = None
                self._thread.began_commit = True
                connection.commit()
            except BaseException:
                try:
                    connection.rollback()
                finally:
                    for undo in reversed(current.after_rollback):
                        undo()
                raise
            finally:
                self._thread.current = None
        for act in current.after_commit:
            act()

    @contextmanager
    def announcing(self, announce: Announce) -> Iterator[None]:
        """Call ``announce`` before each commit of this thread in the block, until it returns True.

        Its argument is the ids of rows that were created in the transaction, by table; it may read them.
        """
        before, self._thread.announce = self._thread.announce, announce
        try:
            yield
        finally:
            self._thread.announce = before

    @contextmanager
    def without_retries(self) -> Iterator[None]:
        """Raise DatabaseUnreachable in this thread at once in the block, without ``retry_seconds``."""
        before, self._thread.without_retries = self._thread.without_retries, True
        try:
            yield
        finally:
            self._thread.without_retries = before

    @contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        """Give a new connection; raises DatabaseUnreachable without one, ConnectionLost if it is lost in the block."""
        try:
            connected = self._outage.connect(engine, self._seconds_to_retry())
        except DBConnectionError as error:
            raise DatabaseUnreachable() from error
        try:
            with connected as connection:
                yield connection
        except DBConnectionError as error:
            self._outage.begin(error)
            raise ConnectionLost() from error

    def _seconds_to_retry(self) -> float:
        return 0 if self._thread.without_retries else self.retry_seconds

    def run(self, work: Callable[[Connection], T], *, repeatable: bool = False) -> T:
        """Do the work in a transaction; on a server, repeat it after a deadlock or a lost connection.

        If the connection was lost during the commit, the changes may be committed; then only ``repeatable`` work, which
        leaves the same behind when it is done twice, is repeated.
        """

        def once() -> T:
            with self.writing() as connection:
                return work(connection)

        if self._thread.current is not None or self.dialect == "sqlite":
            return once()
        act: Callable[[], T] = _retried_after_deadlock(once)
        return self._repeated(act, lambda: repeatable or not self._thread.began_commit)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Do work that only reads; repeat it after a lost connection."""

        def once() -> T:
            with self.reading() as connection:
                return work(connection)

        if self._thread.current is not None or not self.retry_seconds:
            return once()
        return self._repeated(once, lambda: True)

    def _repeated(self, act: Callable[[], T], may_repeat: Callable[[], bool]) -> T:
        """Return what ``act`` returns; repeat it after lost connections while the time to retry lasts."""
        until = self.clock.monotonic() + self._seconds_to_retry()
        while True:
            try:
                return act()
            except ConnectionLost:
                if self.clock.monotonic() >= until or not may_repeat():
                    raise
                with PERMIT.waiting():
                    self.clock.delay(_REPEAT_INTERVAL)

    def attempt(self) -> AbstractContextManager[object]:
        """Guard one statement that may fail while the transaction continues; only PostgreSQL needs a savepoint."""
        current = self._writing()
        if self.dialect == "postgresql" and current.depth > 1:
            return current.connection.begin_nested()
        return nullcontext()

    def note_created(self, table: str, row_id: int) -> None:
        """Record that a row was created in the open transaction."""
        self._writing().created[table] = row_id

    def after_commit(self, act: Callable[[], None]) -> None:
        """Call ``act`` once the open transaction is committed; not at all if it is rolled back."""
        self._writing().after_commit.append(act)

    def after_rollback(self, undo: Callable[[], None]) -> None:
        """Call ``undo`` if the open transaction is rolled back; the last one is called first."""
        self._writing().after_rollback.append(undo)

    def _writing(self) -> _OpenTransaction:
        current = self._thread.current
        if current is None or not current.writes:
            raise RuntimeError("This is possible inside writing() only.")
        return current

    @property
    def is_open(self) -> bool:
        """Return whether this thread has a transaction open."""
        return self._thread.current is not None

    def require_writing(self) -> Connection:
        """Return the connection of the open writing transaction; raises RuntimeError without one."""
        return self._writing().connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


# After five deadlocks the cause is another one.
_retried_after_deadlock = oslo_db_api.wrap_db_retry(
    max_retries=5,
    retry_interval=0.05,
    inc_retry_interval=True,
    max_retry_interval=1,
    retry_on_deadlock=True,
)


class HasTransactions(Protocol):
    """An object that reads and writes one database."""

    @property
    def transactions(self) -> Transactions:
        """The transactions of that database."""


S = TypeVar("S", bound=HasTransactions)


def unit_of_work(method: Callable[Concatenate[S, Connection, P], T]) -> Callable[Concatenate[S, P], T]:
    """Run a method in a transaction; its first argument is the connection."""

    @functools.wraps(method)
    def inside(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.transactions.run(lambda connection: method(self, connection, *args, **kwargs))

    return inside


def repeatable_work(method: Callable[Concatenate[S, Connection, P], T]) -> Callable[Concatenate[S, P], T]:
    """Run a method as a unit of work that leaves the same behind when it is done twice."""

    @functools.wraps(method)
    def inside(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.transactions.run(lambda connection: method(self, connection, *args, **kwargs), repeatable=True)

    return inside
