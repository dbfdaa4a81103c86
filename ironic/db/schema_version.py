"""The schema version of this release, and the check that a database has it.

Services check it when they start, so that a missing `ironic-dbsync upgrade` is reported at once, not by the first
request. A later version passes: in a rolling upgrade the database is upgraded before the services, and migrations only
add to the schema (doc/compatibility.md). The check does not load Alembic; a test compares the version with Alembic's.
Nor do services start on a database that a command is filling (`ironic.db.database_work`).
"""

import logging
import re
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import IronicError
from ironic.db import database_work, engines
from ironic.db.transactions import Transactions

LOG = logging.getLogger(__name__)

_MIGRATIONS: Final = Path(__file__).parent / "migrations" / "versions"

# The name of a migration's file begins with the version that it leads to.
SCHEMA_VERSION: Final = max(file.name for file in _MIGRATIONS.glob("r[0-9][0-9][0-9][0-9]_*.py"))[:5]
VERSION_TABLE: Final = "alembic_version"

_FOUND: sa.Select[Any] = sa.select(sa.column("version_num")).select_from(sa.table(VERSION_TABLE))


class SchemaOutdated(IronicError):
    """The database does not have the schema that this release needs."""

    text = (
        "The database {database} is at schema version {found} but this release needs {needed}: run `ironic-dbsync "
        "upgrade`."
    )


class SchemaNewer(SchemaOutdated):
    """The database has the schema of a later release, some of whose rows this one does not know."""

    text = (
        "The database {database} is at schema version {found} and this release knows {known}: run this command of the "
        "newer release."
    )


class WorkUnfinished(SchemaOutdated):
    """A command that fills the database has not come to its end."""

    text = "The database {database} is not complete, so that it can't be used: {remedy}"


def refuse_unfinished(connection: Connection) -> None:
    """Raise WorkUnfinished for a database that is not complete."""
    if found := database_work.unfinished(connection):
        raise WorkUnfinished(database=engines.shown(connection.engine.url), remedy=found.remedy)


def require_current(transactions: Transactions) -> None:
    """Raise SchemaOutdated unless the database has the schema of this release or a later one, and is complete."""
    with transactions.reading() as connection:
        refuse_unfinished(connection)
    found = stored_version(transactions)
    if found is not None and re.fullmatch(r"r\d{4}", found) and found > SCHEMA_VERSION:
        text = "The database is at schema version %s, ahead of this release's %s: upgrade this service soon as well"
        LOG.warning(text, found, SCHEMA_VERSION)
    elif found != SCHEMA_VERSION:
        raise SchemaOutdated(
            database=engines.shown(transactions.engine.url), found=found or "none", needed=SCHEMA_VERSION
        )


def require_same(transactions: Transactions) -> None:
    """Raise SchemaOutdated unless the database has exactly the schema of this release, so that it knows every row."""
    require_current(transactions)
    found = stored_version(transactions)
    if found != SCHEMA_VERSION:
        raise SchemaNewer(database=engines.shown(transactions.engine.url), found=found, known=SCHEMA_VERSION)


def stored_version(transactions: Transactions) -> str | None:
    """Return the schema version that is stored in the database; None without one."""
    with transactions.reading() as connection:
        if not sa.inspect(connection).has_table(VERSION_TABLE):
            return None
        version: str | None = connection.execute(_FOUND).scalar()
    return version
