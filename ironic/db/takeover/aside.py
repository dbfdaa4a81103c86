"""Move the reference's tables aside within their database, and back.

On PostgreSQL they get a schema of their own. Elsewhere they get other names; SQLite keeps the names of indexes for all
tables together, so those are dropped there and made again on the way back.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

SCHEMA: Final = "ironic_reference"
PREFIX: Final = "reference_"


def place(dialect: str, name: str) -> tuple[str | None, str]:
    """Return schema and name of a table that is aside."""
    return (SCHEMA, name) if dialect == "postgresql" else (None, PREFIX + name)


def is_there(connection: Connection, name: str) -> bool:
    """Return whether a table is aside."""
    schema, moved = place(connection.dialect.name, name)
    return sa.inspect(connection).has_table(moved, schema=schema)


def indexes(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    """Return the statements that make the indexes of tables in SQLite, by name; nothing for the others."""
    if connection.dialect.name != "sqlite":
        return {}
    found = connection.exec_driver_sql(
        "SELECT name, sql, tbl_name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    )
    return {name: text for name, text, table in found if table in names}


def move(connection: Connection, names: Sequence[str]) -> None:
    """Move tables aside; those that are aside already stay there."""
    here = [name for name in names if not is_there(connection, name)]
    if connection.dialect.name == "sqlite":
        for index in indexes(connection, here):
            connection.exec_driver_sql(f'DROP INDEX "{index}"')
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        for name in here:
            connection.exec_driver_sql(f"ALTER TABLE {name} SET SCHEMA {SCHEMA}")
    else:
        _rename(connection, {name: PREFIX + name for name in here})


def move_back(connection: Connection, names: Sequence[str], made: Iterable[str]) -> None:
    """Move tables back to their place, and make the indexes of SQLite again by their statements."""
    gone = [name for name in names if is_there(connection, name)]
    if connection.dialect.name == "postgresql":
        # The schema that new tables get, which may be another one than public.
        home = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
        for name in gone:
            connection.exec_driver_sql(f'ALTER TABLE {SCHEMA}.{name} SET SCHEMA "{home}"')
        connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {SCHEMA}")
    else:
        _rename(connection, {PREFIX + name: name for name in gone})
    for statement in made:
        connection.exec_driver_sql(statement)


def drop(connection: Connection, names: Sequence[str]) -> None:
    """Delete tables that are aside, those first that refer to others."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        return
    left = [PREFIX + name for name in names if is_there(connection, name)]
    found = sa.MetaData()
    found.reflect(connection, only=left)
    found.drop_all(connection, tables=[found.tables[name] for name in left])


def _rename(connection: Connection, names: Mapping[str, str]) -> None:
    if not names:
        return
    if connection.dialect.name == "sqlite":
        for old, new in names.items():
            connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")
    else:
        # One statement: the server renames all of them or none.
        connection.exec_driver_sql(f"RENAME TABLE {', '.join(f'{old} TO {new}' for old, new in names.items())}")
