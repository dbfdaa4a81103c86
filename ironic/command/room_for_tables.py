"""Check that a database of the reference has room for a second set of tables, as far as it can be seen from here."""

import os
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oslo_upgradecheck.upgradecheck import Code, Result
from sqlalchemy.engine import Connection

from ironic.command import change_over, own_addresses
from ironic.db import Store
from ironic.db.engines import shown

# A file holds both sets of tables, and what SQLite writes beside it meanwhile.
_OF_FILE: Final = 3
# The second set, and what a server writes to its log meanwhile.
_OF_TABLES: Final = 2
_MIB: Final = 1 << 20
# What a take-over of a few rows needs.
_LEAST: Final = 16 * _MIB

_SIZES: Final = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
    "mysql": "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = DATABASE()",
    "postgresql": "SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind = 'r' "
    "AND c.relnamespace = current_schema()::regnamespace",
}


@dataclass(frozen=True)
class _Place:
    """Where the tables lie: a directory, or None when it can't be seen from this process."""

    directory: Path | None
    words: str


def room(store: Store) -> Result:
    """Compare the space that a take-over needs with that which is free."""
    if not change_over.revision(store.engine):
        return Result(Code.SUCCESS, "The database is none of the reference, so no tables are copied.")
    with store.engine.connect() as connection:
        kind = connection.dialect.name
        size = int(connection.exec_driver_sql(_SIZES[kind]).scalar() or 0)
        place = _of_file(connection) if kind == "sqlite" else _of_server(connection)
    needed = max(size * (_OF_FILE if kind == "sqlite" else _OF_TABLES), _LEAST)
    text = f"The tables have {_mib(size)}; taking them over needs {_mib(needed)} of free space in {place.words}"
    if place.directory is None:
        return Result(Code.SUCCESS, f"{text}. How much is free there can't be seen from here: look on that host.")
    free = shutil.disk_usage(place.directory).free
    if free < needed:
        return Result(Code.FAILURE, f"{text}, where {_mib(free)} are free: make room first.")
    return Result(Code.SUCCESS, f"{text}, where {_mib(free)} are free.")


def _mib(size: int) -> str:
    return f"{-(-size // _MIB)} MiB"


def _of_file(connection: Connection) -> _Place:
    directory = Path(os.path.abspath(connection.engine.url.database or "")).parent
    return _Place(directory, str(directory))


def _of_server(connection: Connection) -> _Place:
    """Return the directory of a server, if it runs on this host and a process of this user can see it."""
    directory = _directory(connection)
    where = f"the data directory of {shown(connection.engine.url)}"
    if directory is None:
        return _Place(None, where)
    if _is_here(connection) and os.path.isdir(directory):
        return _Place(Path(directory), directory)
    return _Place(None, f"{directory}, {where}")


def _directory(connection: Connection) -> str | None:
    """Return the data directory by the server's words; None if it keeps that from this user."""
    if connection.dialect.name == "mysql":
        return str(connection.exec_driver_sql("SELECT @@datadir").scalar())
    allowed = connection.exec_driver_sql("SELECT pg_has_role(current_user, 'pg_read_all_settings', 'member')").scalar()
    return str(connection.exec_driver_sql("SHOW data_directory").scalar()) if allowed else None


def _is_here(connection: Connection) -> bool:
    """Return whether the server shares this host's name or addresses, which one in a container does not."""
    if connection.dialect.name == "mysql":
        return bool(connection.exec_driver_sql("SELECT @@hostname").scalar() == socket.gethostname())
    address = connection.exec_driver_sql("SELECT host(inet_server_addr())").scalar()
    return address is None or address in own_addresses.own()
