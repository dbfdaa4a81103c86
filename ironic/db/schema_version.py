"""Which schema this code is written for, and whether a database has it.

Services ask this when they start, so that a forgotten `ironic-dbsync` is said in one sentence instead of being found
out by the first request. A later schema will do: in a rolling upgrade the database goes ahead of the services, and
migrations only add to what the release before them knows (doc/rolling-upgrades.md). No migration tool is loaded for
this; a test keeps the number equal to what that tool says.
"""

import logging
import re
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from ironic.core.errors import IronicError
from ironic.db.transactions import Transactions

LOG = logging.getLogger(__name__)

_MIGRATIONS: Final = Path(__file__).parent / "migrations" / "versions"

# The newest migration's: their files are named by what they lead to.
SCHEMA_VERSION: Final = max(file.name for file in _MIGRATIONS.glob("r[0-9][0-9][0-9][0-9]_*.py"))[:5]
VERSION_TABLE: Final = "alembic_version"

_FOUND: sa.Select[Any] = sa.select(sa.column("version_num")).select_from(sa.table(VERSION_TABLE))


class SchemaOutdated(IronicError):
    """The database does not have the schema that this release needs."""

    text = "The database is at schema version {found} but this release needs {needed}: run `ironic-dbsync upgrade`."


def require_current(transactions: Transactions) -> None:
    """Raise SchemaOutdated unless the database has the schema of this release or a later one of ours."""
    found = stored_version(transactions)
    if found is not None and _is_later(found):
        text = "The database is at schema version %s, ahead of this release's %s: upgrade this service soon as well"
        LOG.warning(text, found, SCHEMA_VERSION)
    elif found != SCHEMA_VERSION:
        raise SchemaOutdated(found=found or "none", needed=SCHEMA_VERSION)


def _is_later(found: str) -> bool:
    return re.fullmatch(r"r\d{4}", found) is not None and found > SCHEMA_VERSION


def stored_version(transactions: Transactions) -> str | None:
    """Return the version that the database says it has; None if it says nothing."""
    with transactions.reading() as connection:
        if not sa.inspect(connection).has_table(VERSION_TABLE):
            return None
        version: str | None = connection.execute(_FOUND).scalar()
    return version
