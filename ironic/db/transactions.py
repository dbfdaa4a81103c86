"""Transactions: one per thread, joined by whoever comes later in the same thread.

Nobody hands connections around: a repository asks for `reading()` or `writing()` and gets the open one or a new one.
On SQLite one writer at a time is let in by a lock of ours, so nobody ever meets "database is locked" within a process.
Never keep a transaction open across work on a BMC or a socket: the tests run with a guard that asks `is_any_open`.

A server that restarts cuts off what is under way. Where the store is patient that is done again once the server is
back: reading always, changing only where it is certain that nothing was committed, or where twice does no harm.
"""

import functools
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from oslo_db import api as oslo_db_api
from oslo_db.exception import DBConnectionError
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import QueuePool

from ironic.core.permit import PERMIT
from ironic.db.outage import ConnectionCut, DatabaseUnreachable, Outage

Clock = Callable[[], datetime]
P = ParamSpec("P")
T = TypeVar("T")


def utc_now() -> datetime:
    """Return the time as it is stored: UTC, naive."""
    return datetime.now(UTC).replace(tzinfo=None)


class _Open:
    """What one thread has open."""

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
    current: _Open | None = None
    in_a_hurry: bool = False
    commits: bool = False  # the last transaction got as far as its commit
    announce: Announce | None = None


# Of all databases of this process, which is one but for tests.
_ALL: "weakref.WeakSet[Transactions]" = weakref.WeakSet()


def is_any_open() -> bool:
    """Tell whether the calling thread has a transaction of any database open."""
    return any(one.is_open for one in list(_ALL))


class Transactions:
    """The transactions of one database."""

    def __init__(self, engine: Engine, *, clock: Clock = utc_now, patience: float = 0) -> None:
        """Work on one engine; ``patience`` is how many seconds a transaction waits for a server that is away."""
        self.engine = engine
        self.patience = patience
        self._outage = Outage()
        self.dialect = engine.dialect.name
        self.clock = clock
        self._thread = _PerThread()
        self._writer = engine.execution_options(begin="IMMEDIATE")
        _ALL.add(self)
        self._turn: AbstractContextManager[Any] = threading.Lock() if self.dialect == "sqlite" else nullcontext()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees one state of the database; joins whatever the thread has open."""
        if self._thread.current is not None:
            yield self._thread.current.connection
            return
        if self._is_crowded():
            PERMIT.must_not_hurry()
        with self._connected(self.engine) as connection:
            self._thread.current = _Open(connection, writes=False)
            try:
                yield connection
            finally:
                self._thread.current = None

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose changes are committed when the outermost such block ends without an exception."""
        if self._thread.current is not None:
            with self._joined(self._thread.current) as connection:
                yield connection
            return
        PERMIT.must_not_hurry()
        self._thread.commits = False
        with self._turn, self._connected(self._writer) as connection:
            self._thread.current = current = _Open(connection, writes=True)
            try:
                yield connection
                self._announce(current)
                self._thread.commits = True
                connection.commit()
            except BaseException:
                try:
                    connection.rollback()
                finally:
                    _call_all(reversed(current.after_rollback))
                raise
            finally:
                self._thread.current = None
        _call_all(current.after_commit)

    @contextmanager
    def announcing(self, announce: Announce) -> Iterator[None]:
        """Have ``announce`` called before this thread commits something in this block, until it returns True.

        It gets the ids of rows that were created in the transaction, by table, and may read them.
        """
        before, self._thread.announce = self._thread.announce, announce
        try:
            yield
        finally:
            self._thread.announce = before

    def _announce(self, current: _Open) -> None:
        if self._thread.announce is not None and self._thread.announce(current.created):
            self._thread.announce = None

    @contextmanager
    def in_a_hurry(self) -> Iterator[None]:
        """Have this thread wait for no server in this block."""
        before, self._thread.in_a_hurry = self._thread.in_a_hurry, True
        try:
            yield
        finally:
            self._thread.in_a_hurry = before

    def _is_crowded(self) -> bool:
        """Tell whether all connections that are kept are in use, so that one may have to be waited for."""
        pool = self.engine.pool
        return isinstance(pool, QueuePool) and pool.checkedin() == 0 and pool.overflow() >= 0

    @contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        """Give a new connection; that there is none, or that it is lost, is told as an error of ours."""
        try:
            connected = self._outage.connect(engine, self._patience())
        except DBConnectionError as error:
            raise DatabaseUnreachable() from error
        try:
            with connected as connection:
                yield connection
        except DBConnectionError as error:
            self._outage.noticed(error)
            raise ConnectionCut() from error

    def _patience(self) -> float:
        return 0 if self._thread.in_a_hurry else self.patience

    @contextmanager
    def _joined(self, current: _Open) -> Iterator[Connection]:
        if not current.writes:
            raise RuntimeError("Changing the database inside a block that only reads: open writing() around both.")
        current.depth += 1
        try:
            yield current.connection
        finally:
            current.depth -= 1

    def run(self, work: Callable[[Connection], T], *, repeatable: bool = False) -> T:
        """Do the work in a transaction; on a server, do it again when it lost a deadlock or was cut off.

        Cut off in the very commit it may have happened all the same; then only ``repeatable`` work is done again.
        """
        if self._thread.current is not None or self.dialect == "sqlite":
            return self._once(work)
        again: Callable[[], T] = _retried(lambda: self._once(work))
        return self._uncut(again, lambda: repeatable or not self._thread.commits)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Read something in one go; again when it was cut off."""
        if self._thread.current is not None or not self.patience:
            return self._read_once(work)
        return self._uncut(lambda: self._read_once(work), lambda: True)

    def _read_once(self, work: Callable[[Connection], T]) -> T:
        with self.reading() as connection:
            return work(connection)

    def _uncut(self, act: Callable[[], T], may_repeat: Callable[[], bool]) -> T:
        """Act, again and again while a server that ends or begins cuts it off and patience lasts."""
        until = time.monotonic() + self._patience()
        while True:
            try:
                return act()
            except ConnectionCut:
                if time.monotonic() >= until or not may_repeat():
                    raise
                with PERMIT.waiting():
                    time.sleep(_AFTER_A_CUT)

    def _once(self, work: Callable[[Connection], T]) -> T:
        with self.writing() as connection:
            return work(connection)

    def attempt(self) -> AbstractContextManager[object]:
        """Guard one statement that may fail while the transaction goes on; only PostgreSQL needs a savepoint for it."""
        current = self._writing()
        if self.dialect == "postgresql" and current.depth > 1:
            return current.connection.begin_nested()
        return nullcontext()

    def note_created(self, table: str, row_id: int) -> None:
        """Take note of a row that was created in the open transaction."""
        self._writing().created[table] = row_id

    def after_commit(self, act: Callable[[], None]) -> None:
        """Act once the open transaction is committed; not at all if it is rolled back."""
        self._writing().after_commit.append(act)

    def after_rollback(self, undo: Callable[[], None]) -> None:
        """Undo something in memory should the open transaction be rolled back."""
        self._writing().after_rollback.append(undo)

    def _writing(self) -> _Open:
        current = self._thread.current
        if current is None or not current.writes:
            raise RuntimeError("This is possible inside writing() only.")
        return current

    @property
    def is_open(self) -> bool:
        """Tell whether this thread has a transaction open."""
        return self._thread.current is not None

    def require_writing(self) -> Connection:
        """Return the connection of the open writing transaction, or raise RuntimeError."""
        return self._writing().connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


# Seconds for a server that goes down to have gone.
_AFTER_A_CUT: Final = 0.2

# A lost deadlock costs the server nothing but our repetition; after five, something else is wrong.
_retried = oslo_db_api.wrap_db_retry(
    max_retries=5,
    retry_interval=0.05,
    inc_retry_interval=True,
    max_retry_interval=1,
    retry_on_deadlock=True,
)


def _call_all(acts: Any) -> None:
    for act in acts:
        act()


class HasTransactions(Protocol):
    """Anything that lives in one database."""

    @property
    def transactions(self) -> Transactions:
        """Where it opens its transactions."""


S = TypeVar("S", bound=HasTransactions)


def unit_of_work(method: Callable[Concatenate[S, Connection, P], T]) -> Callable[Concatenate[S, P], T]:
    """Run a method in a transaction whose connection it gets as its first argument."""

    @functools.wraps(method)
    def inside(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.transactions.run(lambda connection: method(self, connection, *args, **kwargs))

    return inside


def repeatable_work(method: Callable[Concatenate[S, Connection, P], T]) -> Callable[Concatenate[S, P], T]:
    """Run a method like a unit of work that leaves the same behind when it is done twice."""

    @functools.wraps(method)
    def inside(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.transactions.run(lambda connection: method(self, connection, *args, **kwargs), repeatable=True)

    return inside
