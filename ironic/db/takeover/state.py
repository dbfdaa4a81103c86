"""How far a take-over is: a table of names and values beside the others, which outlives each process."""

from typing import Final

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Connection

from ironic.db.schema_version import TAKEOVER_TABLE

PHASE: Final = "phase"

_TABLE: Final = sa.Table(
    TAKEOVER_TABLE,
    sa.MetaData(),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb"), nullable=False),
    mysql_engine="InnoDB",
    mysql_charset="utf8mb4",
)


def exists(connection: Connection) -> bool:
    """Return whether a take-over has begun in this database, or has ended with tables that are kept aside."""
    return sa.inspect(connection).has_table(TAKEOVER_TABLE)


def make(connection: Connection) -> None:
    """Make the table unless it is there."""
    _TABLE.create(connection, checkfirst=True)


def drop(connection: Connection) -> None:
    """Remove the table: there is nothing to be known any more."""
    _TABLE.drop(connection, checkfirst=True)


def get(connection: Connection, name: str) -> object:
    """Return a value, None if there is none."""
    found = connection.execute(sa.select(_TABLE.c.value).where(_TABLE.c.name == name)).scalar()
    return None if found is None else orjson.loads(found)


def put(connection: Connection, name: str, value: object) -> None:
    """Store a value."""
    connection.execute(_TABLE.delete().where(_TABLE.c.name == name))
    connection.execute(_TABLE.insert(), {"name": name, "value": orjson.dumps(value).decode()})
