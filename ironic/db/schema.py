"""The schema of a database: create it, upgrade it, return its version.

This is the only module that imports Alembic, which takes long to load and which services do not need. A new database is
created by running all migrations, so it is the same as an upgraded one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection, Engine

from ironic.core.errors import IronicError
from ironic.db import engines
from ironic.db.database_work import WORK_TABLE
from ironic.db.row_copy import PROGRESS
from ironic.db.schema_version import VERSION_TABLE, refuse_unfinished
from ironic.db.tables import metadata


class SchemaExists(IronicError):
    """The schema is to be created in a database that has tables."""

    text = "The database has tables already ({tables} ...). Use `upgrade` to bring it up to date, or name an empty one."


class SchemaUnknown(IronicError):
    """A database is at a version that this release does not know."""

    text = (
        "The database is at schema version {found}, which this release does not know: it belongs to a newer release "
        "or to another program. Use that one, or name another database."
    )


class VersionUnclear(IronicError):
    """A database has tables, but not exactly one version of them."""

    text = (
        "The database has tables ({tables} ...) and {found}, so it is not known which program and release made "
        "them. Nothing was changed: restore a backup, or record in table alembic_version the one that they have."
    )


class NoSuchRevision(IronicError):
    """The requested version does not exist."""

    text = "There is no schema version {revision}. The newest one is {head}."


class NoWayBack(IronicError):
    """The requested version is older; a downgrade would lose what newer releases have stored."""

    text = "The schema can't go back to {wanted}. Restore a backup that was made before the upgrade instead."


def create(url: str, options: engines.PoolOptions | None = None) -> None:
    """Create the schema in an empty database; raises SchemaExists if it has tables of this service."""
    with _database(url, options) as connection:
        expected = {*metadata.tables, VERSION_TABLE, WORK_TABLE.name}
        if tables := sorted(expected.intersection(sa.inspect(connection).get_table_names())):
            raise SchemaExists(tables=", ".join(tables[:3]))
        command.upgrade(_config(connection), "head")


def create_to_fill(connection: Connection) -> None:
    """Create the schema and `PROGRESS` in a transaction of the caller; what an earlier attempt has left is removed."""
    drop_in(connection)
    command.upgrade(_config(connection), "head")
    PROGRESS.create(connection)


def drop_in(connection: Connection) -> None:
    """Delete all tables of this service, the version and `PROGRESS` in a transaction of the caller."""
    metadata.drop_all(connection)
    for table in (PROGRESS, sa.Table(VERSION_TABLE, sa.MetaData())):
        table.drop(connection, checkfirst=True)


def upgrade(url: str, revision: str = "head", options: engines.PoolOptions | None = None) -> None:
    """Upgrade the schema to a version; a database without one is created.

    Raises SchemaUnknown, VersionUnclear, NoSuchRevision, WorkUnfinished, or NoWayBack for a version below the present.
    """
    with _database(url, options) as connection:
        refuse_unfinished(connection)
        refuse_unversioned(connection)
        found, revisions = _current(connection), _revisions()
        if found is not None and found not in revisions:
            raise SchemaUnknown(found=found)
        _require_revision(revision)
        # The newest revision is the first one.
        if found in revisions and revision in revisions and revisions.index(revision) > revisions.index(found):
            raise NoWayBack(wanted=f"version {revision}")
        command.upgrade(_config(connection), revision)


def stamp(url: str, revision: str, options: engines.PoolOptions | None = None) -> None:
    """Record the version of the schema without changing anything else; raises NoSuchRevision."""
    with _database(url, options) as connection:
        refuse_unfinished(connection)
        _require_revision(revision)
        command.stamp(_config(connection), revision, purge=True)


def current(url: str, options: engines.PoolOptions | None = None) -> str | None:
    """Return the version of a database; None if it has no schema. Raises VersionUnclear for more than one."""
    with _database(url, options) as connection:
        return _current(connection)


def head() -> str:
    """Return the newest version."""
    return str(_scripts().get_current_head())


def _current(connection: Connection) -> str | None:
    found: tuple[str, ...] = MigrationContext.configure(connection).get_current_heads()
    if len(found) > 1:
        raise VersionUnclear(tables=VERSION_TABLE, found=f"the versions {' and '.join(sorted(found))}")
    return found[0] if found else None


def refuse_unversioned(connection: Connection) -> None:
    """Raise VersionUnclear for a database with tables of this service or of the reference, but no version."""
    present = set(sa.inspect(connection).get_table_names())
    tables = sorted(metadata.tables.keys() & present)
    # Alembic would log that it looks.
    versions: sa.Select[Any] = sa.select(sa.column("version_num")).select_from(sa.table(VERSION_TABLE))
    if tables and (VERSION_TABLE not in present or connection.execute(versions).first() is None):
        raise VersionUnclear(tables=", ".join(tables[:3]), found="no schema version")


def _require_revision(revision: str) -> None:
    if revision not in ("head", "heads") and revision not in _revisions():
        raise NoSuchRevision(revision=revision, head=head())


def _revisions() -> list[str]:
    return [script.revision for script in _scripts().walk_revisions()]


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config(None))


def _config(connection: Connection | None) -> Any:
    config = Config()
    config.set_main_option("script_location", "ironic.db:migrations")
    config.attributes["connection"] = connection
    return config


@contextmanager
def _database(url: str, options: engines.PoolOptions | None) -> Iterator[Connection]:
    engine: Engine = engines.create(url, options or engines.PoolOptions())
    try:
        with engine.execution_options(begin="IMMEDIATE").begin() as connection:
            yield connection
    finally:
        engine.dispose()
