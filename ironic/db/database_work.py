"""What a command does with a database as a whole: a copy, a restore or a take-over that has begun, and how far it is.

It stands in one row of the database itself, from the first change to the last: no service serves on half of the rows,
and the next call goes on. A take-over that is done keeps its row, which says what the way back needs.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Connection

# The phase of work that has ended.
DONE: Final = "done"

WORK_TABLE: Final = sa.Table(
    "database_work",
    sa.MetaData(),
    sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("origin", sa.Text(), nullable=False),
    sa.Column("phase", sa.String(16), nullable=False),
    sa.Column("remedy", sa.Text(), nullable=False),
    sa.Column("details", sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb"), nullable=False),
    mysql_engine="InnoDB",
    mysql_charset="utf8mb4",
)


@dataclass(frozen=True)
class Work:
    """Work on a whole database."""

    kind: str
    """The command, in a word."""
    origin: str
    """Where the rows come from; a repeated call has to name the same."""
    phase: str
    remedy: str
    """How an operator ends it: the end of a sentence."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What it was begun with, of values that JSON has."""


def begun(connection: Connection) -> Work | None:
    """Return the work that has begun in a database, also if it is done; None if there is none."""
    if not sa.inspect(connection).has_table(WORK_TABLE.name):
        return None
    row = connection.execute(sa.select(WORK_TABLE)).one_or_none()
    if row is None:
        return None
    return Work(row.kind, row.origin, row.phase, row.remedy, orjson.loads(row.details))


def unfinished(connection: Connection) -> Work | None:
    """Return the work that has begun and is not done; None for a database that is complete."""
    found = begun(connection)
    return None if found is None or found.phase == DONE else found


def begin(connection: Connection, work: Work) -> None:
    """Note that work begins."""
    WORK_TABLE.create(connection, checkfirst=True)
    connection.execute(sa.delete(WORK_TABLE))
    values = {**asdict(work), "id": 1, "details": orjson.dumps(work.details).decode()}
    connection.execute(sa.insert(WORK_TABLE).values(values))


def set_phase(connection: Connection, phase: str, remedy: str | None = None) -> None:
    """Note how far the work is, and how it is ended if that is another way now."""
    connection.execute(sa.update(WORK_TABLE).values({"phase": phase} | ({"remedy": remedy} if remedy else {})))


def forget(connection: Connection) -> None:
    """Remove the note."""
    WORK_TABLE.drop(connection, checkfirst=True)
