"""Which database it is: the revisions of the reference, each with the releases that left it."""

import re
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import IronicError
from ironic.db.schema_version import VERSION_TABLE

# In their order. A database may stop at any of them: SQLite files of releases before 35.0 end half-way at 9f8c7d6e5b4a.
REVISIONS: Final = {
    "01f21d5e5195": "24.1 to 26.0 (2024.1)",
    "66bd9c5604d5": "26.1 (2024.2)",
    "6e9cf6acce0b": "27.0 and 28.0 (2024.2)",
    "21c48150dea9": "29.0 and 29.1 (2025.1)",
    "1c14278d6e33": "30.0 and 31.0 (2025.1)",
    "e4827561979d": "between 31.0 and 32.0",
    "3ef27505c9fb": "32.0 and 32.1 (2025.2)",
    "d0821744f9e2": "between 32.1 and 33.0",
    "763b2f62d215": "between 32.1 and 33.0",
    "15e9d00367b0": "33.0 (2025.2)",
    "9f8c7d6e5b4a": "34.0 (2025.2), or a later upgrade that SQLite could not complete",
    "9c0446cb6bc3": "between 34.0 and 35.0",
    "c1fd28861bb9": "between 34.0 and 35.0",
    "2a3b4c5d6e7f": "35.0 and 35.1 (2026.1)",
    "e2d316b60d9e": "36.0 and 37.0 (2026.1)",
    "16990309ad9d": "38.0 (2026.1)",
    "772c0e7e8299": "between 38.0 and 39.0",
    "9fb44677ef15": "39.0 (2026.2)",
}
_THEIRS: Final = re.compile("[0-9a-f]{12}")
_FOUND: Final[sa.Select[Any]] = sa.select(sa.column("version_num")).select_from(sa.table(VERSION_TABLE))


class NotKnown(IronicError):
    """A database is at a revision that can't be taken over."""

    text = (
        "The database is at revision {found}, neither a version of this service nor one of the reference's that can be "
        "taken over: {known}. An older database is upgraded by a release of the reference first; of a newer one "
        "a newer release of this service may know. Nothing was changed."
    )


@dataclass(frozen=True, slots=True)
class Recognised:
    """A database of the reference: its revision and the releases that have it."""

    revision: str
    releases: str


def recognise(connection: Connection) -> Recognised | None:
    """Return which database of the reference this is, None for any other; only reads.

    Raises NotKnown for a revision of the reference's form that is not in the list.
    """
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    found = [str(version) for (version,) in connection.execute(_FOUND)]
    if len(found) == 1 and found[0] in REVISIONS:
        return Recognised(found[0], REVISIONS[found[0]])
    if any(_THEIRS.fullmatch(version) for version in found):
        known = "; ".join(f"{revision} of {releases}" for revision, releases in REVISIONS.items())
        raise NotKnown(found=" and ".join(found), known=known)
    return None
