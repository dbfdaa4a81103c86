"""Engines: how this service talks to each kind of database.

SQLite gets an engine of our own: write-ahead log, every commit on disk before it is reported (`synchronous=FULL`, so
that a lock or a state survives a power cut), and transactions begun by us, because the driver's own habit of beginning
at the first write lets two read-then-change sequences overwrite each other. Servers get oslo.db's engine. All engines
report duplicates and lost connections as oslo.db's errors, and none lets the parameters of a statement into them.
"""

import os
import sqlite3
from dataclasses import dataclass, field
from typing import Any, Final

import sqlalchemy as sa
from oslo_db.sqlalchemy import engines, exc_filters
from sqlalchemy.engine import Connection, Engine, ExceptionContext

from ironic.core.errors import IronicError

_SERVER_SHUTDOWN: Final = 1053
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")


@dataclass(frozen=True)
class PoolOptions:
    """How many connections, and how patient; the names are those of oslo.db's options."""

    max_pool_size: int | None = None
    max_overflow: int | None = None
    pool_timeout: int | None = None
    connection_recycle_time: int = 3600
    mysql_sql_mode: str | None = "TRADITIONAL"
    mysql_wsrep_sync_wait: int | None = None
    connection_debug: int = 0
    connection_parameters: str = ""
    sqlite_wait: float = field(default=10)


def create(url: str, options: PoolOptions) -> Engine:
    """Return an engine for the URL; ValueError says which driver is not installed."""
    try:
        engine = _sqlite(url, options) if sa.make_url(url).get_backend_name() == "sqlite" else _server(url, options)
    except ModuleNotFoundError as missing:
        extras = "pip install 'ironic[mysql]' or 'ironic[postgresql]' brings the usual ones"
        raise ValueError(f"[database]connection needs Python module {missing.name}: {extras}") from None
    engine.hide_parameters = True
    _put_our_errors_first(engine)
    return engine


def _sqlite(url: str, options: PoolOptions) -> Engine:
    _keep_private(sa.make_url(url).database)
    engine = sa.create_engine(
        url,
        poolclass=sa.QueuePool,
        pool_size=options.max_pool_size or 20,
        max_overflow=20 if options.max_overflow is None else options.max_overflow,
        pool_timeout=options.pool_timeout or 30,
        connect_args={"timeout": options.sqlite_wait},
    )
    sa.event.listen(engine, "connect", _tune_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    exc_filters.register_engine(engine)
    return engine


def _keep_private(path: str | None) -> None:
    # The file holds credentials of BMCs: it is made readable for its owner only. SQLite's side files follow it.
    if path:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, mode=0o600))


def _put_our_errors_first(engine: Engine) -> None:
    # Listeners to errors are called in the order they came in, whatever one asks for; oslo.db's would wrap ours.
    sa.event.remove(engine, "handle_error", exc_filters.handler)
    sa.event.listen(engine, "handle_error", _let_our_errors_through)
    sa.event.listen(engine, "handle_error", exc_filters.handler, retval=True)


def _tune_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # we say BEGIN, the driver doesn't
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    how = connection.get_execution_options().get("begin")
    if how:
        connection.exec_driver_sql(f"BEGIN {how}")
    else:
        # Cannot fail, as it touches no file yet; the long way would cost more than what is read.
        connection.connection.cursor().execute("BEGIN DEFERRED")


def _server(url: str, options: PoolOptions) -> Engine:
    engine: Engine = engines.create_engine(
        _all_of_unicode(sa.make_url(url)),
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
    if engine.dialect.name in ("mysql", "mariadb"):
        sa.event.listen(engine, "connect", _tune_mysql)
    return engine


def _all_of_unicode(url: sa.URL) -> sa.URL:
    # What MySQL calls utf8 ends before the emoji, is oslo.db's default and stands in many a configuration file.
    return url.update_query_dict({"charset": "utf8mb4"}) if url.get_backend_name() in ("mysql", "mariadb") else url


def _tune_mysql(connection: Any, _record: object) -> None:
    # The level PostgreSQL has anyway: a change made under a lock sees what was committed before the lock was got, and
    # gaps are not locked, so that inserts of two conductors don't run into each other's deadlocks.
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")


def _let_our_errors_through(context: ExceptionContext) -> None:
    # A value that a column type refuses would else arrive wrapped, as a fault of the database.
    if isinstance(context.original_exception, IronicError):
        raise context.original_exception
    if _is_farewell(context.original_exception):
        context.is_disconnect = True


def _is_farewell(error: BaseException) -> bool:
    """Tell whether a MySQL or MariaDB server says that it is going down, which the libraries don't take for a loss."""
    return bool(error.args) and error.args[0] == _SERVER_SHUTDOWN
