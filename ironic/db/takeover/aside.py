"""Move the reference's tables aside within their database, and back.

On PostgreSQL they get a schema of their own. Elsewhere they get other names; SQLite keeps the names of indexes for all
tables together, so those are dropped there and made again on the way back.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import IronicError

SCHEMA: Final = "ironic_reference"
PREFIX: Final = "reference_"
# So many tables are named in a message.
_NAMED: Final = 3
_WORD: Final = re.compile(r"\w+")


# Views of PostgreSQL that read tables of a schema.
_VIEWS: Final = sa.text(
    "SELECT DISTINCT view.relname FROM pg_depend d JOIN pg_rewrite rule ON rule.oid = d.objid "
    "JOIN pg_class view ON view.oid = rule.ev_class JOIN pg_class read ON read.oid = d.refobjid "
    "JOIN pg_namespace place ON place.oid = read.relnamespace "
    "WHERE read.relname IN :names AND view.oid <> read.oid AND place.nspname = :place"
).bindparams(sa.bindparam("names", expanding=True))


class Occupied(IronicError):
    """Tables stand where those of the reference are to be moved."""

    text = "Nothing was changed: {why}."


class Bound(IronicError):
    """Something of the site refers to the tables that are to be deleted."""

    text = (
        "Nothing was changed, as these refer to the tables of the reference and would be lost, or prevent it: {what}. "
        "Drop them, or have them refer to the tables of this service, then run this again."
    )


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


def occupied(connection: Connection, names: Sequence[str]) -> str | None:
    """Return what stands where tables that are here are to be moved, in words; None if the place is free."""
    present = set(sa.inspect(connection).get_table_names())
    taken = [
        ".".join(filter(None, place(connection.dialect.name, name)))
        for name in names
        if name in present and is_there(connection, name)
    ]
    if not taken:
        return None
    named = ", ".join(taken[:_NAMED]) + (" ..." if len(taken) > _NAMED else "")
    return (
        f"tables of these names are where those of the reference would be moved: {named}. If an earlier take-over has "
        "left them, `ironic-dbsync drop_reference_tables` deletes them; else rename them"
    )


def bound(connection: Connection, names: Sequence[str], *, is_aside: bool) -> list[str]:
    """Return what of the site goes with tables when they are moved: views, and tables by their foreign keys."""
    dialect, found = connection.dialect.name, sa.inspect(connection)
    schema = SCHEMA if is_aside and dialect == "postgresql" else None
    moved = {place(dialect, name)[1] if is_aside else name for name in names}
    tables: list[tuple[str, str | None]] = [
        (one, None) for one in found.get_table_names() if schema or one not in moved
    ]
    tables += [(one, schema) for one in (found.get_table_names(schema=schema) if schema else ()) if one not in moved]
    referring = [
        f"table {one}"
        for one, where in tables
        if any(
            key["referred_table"] in moved and key["referred_schema"] == schema
            for key in found.get_foreign_keys(one, schema=where)
        )
    ]
    if dialect == "postgresql":
        home = schema or connection.exec_driver_sql("SELECT current_schema()").scalar_one()
        rows = connection.execute(_VIEWS, {"names": sorted(moved), "place": home})
        return referring + [f"view {name}" for (name,) in rows]
    if dialect == "sqlite":
        rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'view'")
        return referring + [f"view {name}" for name, text in rows if moved & set(_WORD.findall(text))]
    # Views of the others find tables by name, so they read those of this service.
    return referring


def move(connection: Connection, names: Sequence[str]) -> None:
    """Move tables aside; those that are aside already stay there. Raises Occupied for those that are at both places."""
    if why := occupied(connection, names):
        raise Occupied(why=why)
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
    """Move tables back to their place, and make the indexes of SQLite again by their statements.

    What is aside of a table that is in its place is not of this take-over, and stays.
    """
    present = set(sa.inspect(connection).get_table_names())
    gone = [name for name in names if name not in present and is_there(connection, name)]
    if connection.dialect.name == "postgresql":
        # The schema that new tables get, which may be another one than public.
        home = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
        for name in gone:
            connection.exec_driver_sql(f'ALTER TABLE {SCHEMA}.{name} SET SCHEMA "{home}"')
        _drop_empty_schema(connection)
    else:
        _rename(connection, {PREFIX + name: name for name in gone})
    for statement in made:
        connection.exec_driver_sql(statement)


def require_unbound(connection: Connection, names: Sequence[str]) -> None:
    """Raise Bound where something of the site refers to tables that are aside."""
    if what := bound(connection, names, is_aside=True):
        raise Bound(what=", ".join(what))


def drop(connection: Connection, names: Sequence[str]) -> None:
    """Delete tables that are aside, those first that refer to others."""
    schema = SCHEMA if connection.dialect.name == "postgresql" else None
    left = [place(connection.dialect.name, name)[1] for name in names if is_there(connection, name)]
    found = sa.MetaData()
    found.reflect(connection, schema=schema, only=left)
    key = f"{schema}." if schema else ""
    found.drop_all(connection, tables=[found.tables[key + name] for name in left])
    if schema:
        _drop_empty_schema(connection)


def _drop_empty_schema(connection: Connection) -> None:
    """Delete the schema unless there is more in it than this service has put there."""
    others = f"SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = '{SCHEMA}'"
    if not connection.exec_driver_sql(others).scalar_one():
        connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {SCHEMA}")


def _rename(connection: Connection, names: Mapping[str, str]) -> None:
    if not names:
        return
    if connection.dialect.name == "sqlite":
        for old, new in names.items():
            connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")
    else:
        # One statement: the server renames all of them or none.
        connection.exec_driver_sql(f"RENAME TABLE {', '.join(f'{old} TO {new}' for old, new in names.items())}")
