"""Backup: all rows of a database in one file, and back, on every kind of database.

The file is an SQLite database with the tables of the service, whose values are those that were stored, and two tables
of its own: `backup_facts` says when and of what it was made, `backup_tables` how many rows each table has and their
hash, so that a file that was damaged is recognised before anything is changed. It is no database for a service, which
would not find the version of a schema in it.

Rows are read in one transaction that sees the database as it was at its beginning, with what SQLite has in its
write-ahead log, while services go on.
"""

import fcntl
import hashlib
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Final
from urllib.parse import quote

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import StaticPool

from ironic.core.errors import IronicError
from ironic.core.texts.operator_files import give_name
from ironic.db import engines, row_copy
from ironic.db.exclusive_use import locked, writing_alone
from ironic.db.row_comparison import Compared, Digest, compare
from ironic.db.row_copy import Copied
from ironic.db.schema_version import SCHEMA_VERSION
from ironic.db.tables import metadata
from ironic.db.transfer import Origin

_FORMAT: Final = 1

_own = sa.MetaData()
_FACTS: Final = sa.Table(
    "backup_facts",
    _own,
    sa.Column("name", sa.String(16), primary_key=True),
    sa.Column("value", sa.Text(), nullable=False),
)
_TABLES: Final = sa.Table(
    "backup_tables",
    _own,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("rows", sa.Integer(), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
)


class BackupExists(IronicError):
    """The file of a backup to be made is there already."""

    text = "{path} exists already and was left as it is. Name another file, or add --overwrite."


class BackupOnDatabase(IronicError):
    """The file of a backup to be made, or of its part, is one of the database."""

    text = "{path} is a file of the database itself, {database}. Nothing was written: name another file."


class BackupUnusable(IronicError):
    """A file can't be restored."""

    text = "{path} {why}. Nothing was changed."


class TargetDamaged(IronicError):
    """The database that is to be replaced can't be written."""

    text = (
        "{database} is damaged ({reason}) and was left as it is. Move the file away, with those of the same name and "
        "-wal and -shm behind it, and run this again."
    )


class RestoreFailed(IronicError):
    """The rows in the database are not those of the backup."""

    text = "{database} did not take all rows as they are in {path}: {differences}. It was left as it was before."


def write(source: Engine, path: str, made_at: datetime, release: str, *, overwrite: bool = False) -> Iterator[Copied]:
    """Write a backup of a database with the schema of this release, readable by its owner only; yield the progress.

    The file has its name once all of it is on the disk. Until then it has the name with `.part` behind it; what a
    killed call has left there is written over. Raises BackupExists, BackupOnDatabase, or BlockingIOError beside another
    call.
    """
    part = f"{path}.part"
    for written in (path, part):
        if _is_of(source.url, written):
            raise BackupOnDatabase(path=written, database=engines.shown(source.url))
    if not overwrite and os.path.lexists(path):
        raise BackupExists(path=path)
    descriptor = _open_part(part)
    try:
        facts = {
            "format": str(_FORMAT),
            "schema": SCHEMA_VERSION,
            "release": release,
            "made_at": made_at.isoformat(timespec="seconds"),
            "source": engines.shown(source.url),
        }
        with _file_to_write(part) as connection, row_copy.snapshot(source) as rows:
            yield from _fill(connection, rows, facts)
        # Read once more, as a disk may not have kept all.
        with opened(part):
            os.fsync(descriptor)
        try:
            give_name(part, path, replace=overwrite)
        except FileExistsError:
            raise BackupExists(path=path) from None
        part = ""
    finally:
        if part:
            os.unlink(part)
        os.close(descriptor)


def _is_of(url: sa.URL, path: str) -> bool:
    """Return whether a path leads to the SQLite file of a database, or is the name of one that SQLite has beside it."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return False
    # SQLite names these files by the one to which a link leads.
    file = os.path.realpath(url.database)
    beside = {f"{file}{end}" for end in ("-journal", "-wal", "-shm")}
    return os.path.realpath(path) in beside or (os.path.exists(path) and os.path.samefile(path, file))


def _open_part(part: str) -> int:
    """Return the descriptor of a new file that is locked and readable by its owner only.

    What a killed call has left is removed, not written over: it may be the same file as a backup that is complete.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(part, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        stale = os.open(part, flags)
        try:
            _lock(stale, part)
            os.unlink(part)
            descriptor = os.open(part, flags | os.O_CREAT | os.O_EXCL, 0o600)
        finally:
            os.close(stale)
    try:
        _lock(descriptor, part)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _lock(descriptor: int, part: str) -> None:
    """Lock a file; raise BlockingIOError if another process has it, or has put another file in its place."""
    opened_file = os.fstat(descriptor)
    if not stat.S_ISREG(opened_file.st_mode):
        raise ValueError(f"{part} is no regular file")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(opened_file, os.stat(part, follow_symlinks=False)):
            raise BlockingIOError
    except (BlockingIOError, FileNotFoundError):
        raise BlockingIOError(f"another backup is being written to {part}: wait for its end") from None


@contextmanager
def _file_to_write(part: str) -> Iterator[Connection]:
    raw = sqlite3.connect(part)
    # No other file beside it: it counts for nothing before it is complete.
    raw.execute("PRAGMA journal_mode=OFF")
    raw.execute("PRAGMA synchronous=OFF")
    with _connection(raw) as connection:
        yield connection
        connection.commit()


@contextmanager
def _connection(raw: sqlite3.Connection) -> Iterator[Connection]:
    engine = sa.create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool, hide_parameters=True)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()
        raw.close()


def _fill(connection: Connection, source: Connection, facts: Mapping[str, str]) -> Iterator[Copied]:
    tables = {}
    _own.create_all(connection)
    for table in map(row_copy.bare, metadata.sorted_tables):
        table.create(connection)
        digest = Digest()
        for rows in row_copy.read(source, table):
            row_copy.write(connection, table, table.c.keys(), rows)
            digest.add(rows)
            yield Copied(table.name, digest.rows, False)
        tables[table.name] = (digest.rows, digest.hexadecimal)
        yield Copied(table.name, digest.rows, True)
    lines = [{"name": name, "rows": count, "digest": digest} for name, (count, digest) in tables.items()]
    connection.execute(sa.insert(_TABLES), lines)
    sealed = {**facts, "seal": _seal(facts, tables)}
    connection.execute(sa.insert(_FACTS), [{"name": name, "value": value} for name, value in sealed.items()])


def _seal(facts: Mapping[str, str], tables: Mapping[str, tuple[int, str]]) -> str:
    """Return a hash of all that the file says of itself."""
    return hashlib.sha256(orjson.dumps([sorted(facts.items()), sorted(tables.items())])).hexdigest()


class Backup:
    """A backup that was found to be whole."""

    def __init__(self, path: str, connection: Connection, facts: Mapping[str, str], tables: Mapping[str, int]) -> None:
        self.path, self.facts = path, facts
        # How many rows each table has.
        self.tables = tables
        self._connection = connection

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(self.tables.values())

    @property
    def origin(self) -> Origin:
        """The file as a source of rows; the name is that of its contents, not of the file."""
        tables = [_stored(self._connection, table) for table in metadata.sorted_tables if table.name in self.tables]
        return Origin(self._connection.engine, f"backup {self.facts['seal']}", tables)


@contextmanager
def opened(path: str) -> Iterator[Backup]:
    """Give a backup after all of it was read and found whole; raises BackupUnusable or OSError."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise BackupUnusable(path=path, why="is no regular file")
    try:
        # A file that has its name is complete and is not written to any more.
        raw = sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error as error:
        raise BackupUnusable(path=path, why=f"can't be read ({error})") from None
    # What a file declares itself must not run.
    raw.execute("PRAGMA trusted_schema=OFF")
    with _connection(raw) as connection:
        try:
            found = _verified(path, connection)
        except (sa.exc.SQLAlchemyError, sqlite3.Error, ValueError, TypeError, KeyError) as error:
            reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
            raise BackupUnusable(path=path, why=f"is damaged ({reason})") from None
        yield found


def _verified(path: str, connection: Connection) -> Backup:
    try:
        names = set(sa.inspect(connection).get_table_names())
    except sa.exc.DatabaseError as error:
        raise BackupUnusable(path=path, why=f"is no backup of this service ({error.orig})") from None
    if not {_FACTS.name, _TABLES.name} <= names:
        known = "; it looks like a database of a service, which `ironic-dbsync copy` takes" if "nodes" in names else ""
        raise BackupUnusable(path=path, why=f"is no backup of this service{known}")
    facts = {fact.name: fact.value for fact in connection.execute(sa.select(_FACTS))}
    tables = {line.name: (line.rows, line.digest) for line in connection.execute(sa.select(_TABLES))}
    if facts.pop("seal") != (seal := _seal(facts, tables)):
        raise BackupUnusable(path=path, why="is damaged: what it says of itself was changed")
    if int(facts["format"]) > _FORMAT or facts["schema"] > SCHEMA_VERSION:
        why = "was written by release {release}, with schema version {schema}, which is newer: use that release"
        raise BackupUnusable(path=path, why=why.format_map(facts))
    for name, (rows, digest) in tables.items():
        found = Digest()
        for batch in row_copy.read(connection, _stored(connection, metadata.tables[name])):
            found.add(batch)
        if (found.rows, found.hexadecimal) != (rows, digest):
            raise BackupUnusable(path=path, why=f"is damaged: table {name} is not as it was written")
    return Backup(path, connection, {**facts, "seal": seal}, {name: rows for name, (rows, _) in tables.items()})


def _stored(connection: Connection, table: sa.Table) -> sa.Table:
    """Return a table with the columns that the file has, in their order: an older release wrote fewer."""
    types = row_copy.bare(table).c
    columns = [types[column["name"]] for column in sa.inspect(connection).get_columns(table.name)]
    copies = [sa.Column(each.name, each.type, primary_key=each.primary_key) for each in columns]
    return sa.Table(table.name, sa.MetaData(), *copies)


def damage(error: BaseException | None) -> str | None:
    """Return what SQLite says of a file that is damaged or no database of it, None for any other error."""
    while error is not None and not isinstance(error, sqlite3.Error):
        error = getattr(error, "orig", None) or getattr(error, "inner_exception", None)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return str(error) if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) else None


def replace(backup: Backup, target: Engine) -> Iterator[Copied | Compared]:
    """Put the rows of a backup in the place of all rows of a database, in one transaction; yield the progress.

    The database has the schema of this release. Killed at any point it has all rows of before, or all of the backup.
    Raises DatabaseLocked, DatabaseInUse, or RestoreFailed.
    """
    origin = backup.origin
    tables = origin.copies
    with locked(target), row_copy.snapshot(origin.engine) as source, writing_alone(target) as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(sa.delete(table))
        yield from row_copy.copy_at_once(source, connection, tables)
        different = []
        for compared in compare(source, connection, tables):
            yield compared
            if compared.differences:
                different.append(compared.in_words())
        if different:
            database = engines.shown(target.url)
            raise RestoreFailed(database=database, path=backup.path, differences="; ".join(different))
        row_copy.set_sequences(connection, metadata.sorted_tables)
