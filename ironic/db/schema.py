"""The schema of a database: making it, bringing it up to date, telling its version.

The only module that imports Alembic, which takes a while: services never need it. A database is made by running all
migrations, so one that was made today and one that was upgraded are the same.
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
from ironic.db import engine as engines
from ironic.db.schema_version import VERSION_TABLE
from ironic.db.tables import metadata


class SchemaExists(IronicError):
    """A database that was to be made has tables already."""

    text = "The database has tables already ({tables} ...). Use `upgrade` to bring it up to date, or name an empty one."


class SchemaUnknown(IronicError):
    """A database is at a version that this release does not know."""

    text = (
        "The database is at schema version {found}, which this release does not know: it belongs to a newer release "
        "or to another program. Use that one, or name another database."
    )


class NoSuchRevision(IronicError):
    """A version was asked for that does not exist."""

    text = "There is no schema version {revision}. The newest one is {head}."


class NoWayBack(IronicError):
    """An older version was asked for; going back would throw away what newer releases have stored."""

    text = "The schema can't go back to {wanted}. Restore a backup that was made before the upgrade instead."


def create(url: str, options: engines.PoolOptions | None = None) -> None:
    """Make the schema in an empty database; refuse one that has tables."""
    with _database(url, options) as connection:
        if tables := _our_tables(connection):
            raise SchemaExists(tables=", ".join(tables[:3]))
        command.upgrade(_config(connection), "head")


def upgrade(url: str, revision: str = "head", options: engines.PoolOptions | None = None) -> None:
    """Bring the schema to a version, from whatever it is at; an empty database is at none."""
    with _database(url, options) as connection:
        _require_known(connection)
        _require_revision(revision)
        _require_ahead(_current(connection), revision)
        command.upgrade(_config(connection), revision)


def stamp(url: str, revision: str, options: engines.PoolOptions | None = None) -> None:
    """Say which version the schema is at, without changing anything else."""
    with _database(url, options) as connection:
        _require_revision(revision)
        command.stamp(_config(connection), revision, purge=True)


def current(url: str, options: engines.PoolOptions | None = None) -> str | None:
    """Return the version a database is at; None for one without a schema."""
    with _database(url, options) as connection:
        return _current(connection)


def head() -> str:
    """Return the newest version."""
    return str(_scripts().get_current_head())


def _current(connection: Connection) -> str | None:
    found: str | None = MigrationContext.configure(connection).get_current_revision()
    return found


def _our_tables(connection: Connection) -> list[str]:
    ours = {*metadata.tables, VERSION_TABLE}
    return sorted(ours.intersection(sa.inspect(connection).get_table_names()))


def _require_known(connection: Connection) -> None:
    found = _current(connection)
    if found is not None and found not in _revisions():
        raise SchemaUnknown(found=found)


def _require_revision(revision: str) -> None:
    if revision not in ("head", "heads") and revision not in _revisions():
        raise NoSuchRevision(revision=revision, head=head())


def _require_ahead(found: str | None, revision: str) -> None:
    revisions = _revisions()  # the newest first
    if found in revisions and revision in revisions and revisions.index(revision) > revisions.index(found):
        raise NoWayBack(wanted=f"version {revision}")


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
