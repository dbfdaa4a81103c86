"""Engines: connections and upserts, for each kind of database.

SQLite has a write-ahead log, every commit on disk before it returns (`synchronous=FULL`: a lock or a state survives a
power cut), and transactions that begin explicitly: the driver's default, beginning at the first write, lets two
read-then-change sequences overwrite each other. Servers have oslo.db's engine. All engines report duplicates and lost
connections as oslo.db's errors, and none shows the parameters of a statement in them.
"""

import os
import re
import socket
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from oslo_db.sqlalchemy import engines, exc_filters
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Engine, ExceptionContext

from ironic.core.errors import IronicError

_SERVER_SHUTDOWN: Final = 1053
# Seconds after which a server ends a transaction whose process does nothing, as its host is frozen or cut off: it would
# keep rows locked for all others. Ours last milliseconds.
_LONGEST_IDLE = 60
# Characters of a statement in a message.
_SHOWN: Final = 2000
_PRAGMAS = ("synchronous=FULL", "foreign_keys=ON")


@dataclass(frozen=True)
class PoolOptions:
    """How many connections are kept, and time-outs in seconds; the names are those of oslo.db's options."""

    max_pool_size: int | None = None
    max_overflow: int | None = None
    pool_timeout: int | None = None
    connection_recycle_time: int = 3600
    mysql_sql_mode: str | None = "TRADITIONAL"
    mysql_wsrep_sync_wait: int | None = None
    connection_debug: int = 0
    connection_parameters: str = ""
    sqlite_wait: float = 10


def shown(url: URL) -> str:
    """Return the URL of a database for messages: without user, password and options."""
    host = f"[{url.host}]" if ":" in (url.host or "") else url.host or ""
    return f"{url.get_backend_name()}://{host}{f':{url.port}' if url.port else ''}/{url.database or ''}"


def create(url: str, options: PoolOptions) -> Engine:
    """Return an engine for the URL; raises ValueError if the Python module of its driver is not installed."""
    address = sa.make_url(url)
    try:
        engine = _sqlite(address, options) if address.get_backend_name() == "sqlite" else _server(address, options)
    except ModuleNotFoundError as missing:
        usual = "pip install PyMySQL (for MariaDB, MySQL) or psycopg2-binary (for PostgreSQL) brings the usual ones"
        raise ValueError(f"[database]connection needs Python module {missing.name}: {usual}") from None
    engine.hide_parameters = True
    # Listeners to errors are called in the order of registration, and oslo.db's would wrap errors of this service.
    sa.event.remove(engine, "handle_error", exc_filters.handler)
    sa.event.listen(engine, "handle_error", _pass_own_errors)
    sa.event.listen(engine, "handle_error", exc_filters.handler, retval=True)
    return engine


def _sqlite(url: sa.URL, options: PoolOptions) -> Engine:
    if url.database:
        # The file holds credentials of BMCs: only its owner may read it. SQLite's side files get the same mode.
        os.close(os.open(url.database, os.O_CREAT | os.O_RDWR, mode=0o600))
    engine = sa.create_engine(
        url,
        poolclass=sa.QueuePool,
        pool_size=options.max_pool_size or 20,
        max_overflow=20 if options.max_overflow is None else options.max_overflow,
        pool_timeout=options.pool_timeout or 30,
        connect_args={"timeout": options.sqlite_wait},
    )

    @sa.event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # `begin` begins transactions, not the driver
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        if not _is_foreign(connection):
            connection.execute("PRAGMA journal_mode=WAL")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get("begin")
        if mode:
            connection.exec_driver_sql(f"BEGIN {mode}")
        elif mode is None:
            # It can't fail, as it does not access the file; exec_driver_sql would cost more than a short query.
            connection.connection.cursor().execute("BEGIN DEFERRED")

    exc_filters.register_engine(engine)
    return engine


def _is_foreign(connection: sqlite3.Connection) -> bool:
    """Return whether a file is another program's: looking at it must not write, which turning its log on would."""
    if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        return False
    try:
        found = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except sqlite3.OperationalError:
        return False  # no such table
    return any(not re.fullmatch(r"r\d{4}", str(version)) for (version,) in found)


def _server(url: sa.URL, options: PoolOptions) -> Engine:
    if url.get_backend_name() == "mariadb":
        # The same server by its other name, by which oslo.db does not know its errors.
        url = url.set(drivername=url.drivername.replace("mariadb", "mysql", 1))
    if url.get_backend_name() == "mysql":
        # The utf8 of MySQL has no emoji; it is oslo.db's default and stands in many configuration files.
        url = url.update_query_dict({"charset": "utf8mb4"})
    engine: Engine = engines.create_engine(
        url,
        mysql_sql_mode=options.mysql_sql_mode,
        mysql_wsrep_sync_wait=options.mysql_wsrep_sync_wait,
        connection_recycle_time=options.connection_recycle_time,
        connection_debug=options.connection_debug,
        max_pool_size=options.max_pool_size,
        max_overflow=options.max_overflow,
        pool_timeout=options.pool_timeout,
        max_retries=0,  # connections are made when they are needed; services wait for the first one by themselves
        connection_parameters=options.connection_parameters,
        thread_checkin=False,
    )
    settings = _SETTINGS.get(engine.dialect.name, ())

    @sa.event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            for setting in settings:
                cursor.execute(setting.format(seconds=_LONGEST_IDLE))
        connection.commit()
        _notice_dead_hosts(connection)

    return engine


# Seconds of silence after which the system asks whether the host of the server is there, and how often it does.
_KEEPALIVE: Final = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}
# Milliseconds for which sent data may stay unconfirmed.
_UNCONFIRMED: Final = 40_000


def _notice_dead_hosts(connection: Any) -> None:
    """Have the system break a connection to a host that is gone: it waits for a quarter of an hour, or for two hours.

    Drivers whose socket can't be reached are left as they are.
    """
    link = connection if hasattr(connection, "fileno") else getattr(connection, "_sock", None)
    if link is None:
        return
    # The options belong to the connection, whichever number it has.
    with socket.socket(fileno=os.dup(link.fileno())) as same:
        if same.family in (socket.AF_INET, socket.AF_INET6):
            same.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in {**_KEEPALIVE, "TCP_USER_TIMEOUT": _UNCONFIRMED}.items():
                if hasattr(socket, name):
                    same.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


_SETTINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "mysql": (
        # The default of PostgreSQL: a change made under a lock sees what was committed before it got the lock, and no
        # gaps are locked, so that inserts of two conductors do not end in a deadlock.
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        # Only MariaDB has it, and reads such a comment.
        "SET @nothing = 0 /*M!100300 , SESSION idle_transaction_timeout = {seconds} */",
    ),
    "postgresql": ("SET SESSION idle_in_transaction_session_timeout = '{seconds}s'",),
}


def _pass_own_errors(context: ExceptionContext) -> None:
    """Raise errors of this service unwrapped, such as a refused value; mark the shutdown of a server as a lost link.

    Messages have the beginning of a statement: one that inserts a thousand rows has pages.
    """
    error = context.original_exception
    if isinstance(error, IronicError):
        raise error
    named = context.sqlalchemy_exception
    if named is not None and named.statement and len(named.statement) > _SHOWN:
        named.statement = f"{named.statement[:_SHOWN]} ..."
    if error.args and error.args[0] == _SERVER_SHUTDOWN:
        context.is_disconnect = True  # the libraries do not count this error of MySQL and MariaDB as one


# Takes the row that could not be inserted; returns the new values of the existing row. MySQL sets them in this order.
Replacing = Callable[[Any], list[tuple[str, object]]]


def upsert(
    dialect: str, table: sa.Table, key: str, values: Mapping[str, object] | None, replacing: Replacing
) -> sa.Insert:
    """Return the statement that inserts a row, or changes the row with the same ``key`` as ``replacing`` says.

    Without ``values`` the rows are parameters of the execution.
    """
    insert: Any = {"sqlite": sqlite.insert, "postgresql": postgresql.insert, "mysql": mysql.insert}[dialect](table)
    statement = insert if values is None else insert.values(dict(values))
    changed: sa.Insert
    if dialect == "mysql":
        changed = statement.on_duplicate_key_update(replacing(statement.inserted))
    else:
        changed = statement.on_conflict_do_update(index_elements=[key], set_=dict(replacing(statement.excluded)))
    return changed
