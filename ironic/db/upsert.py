"""Putting a row in place of the one with the same key, in one statement, in the words of each engine."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

# From the row that could not be inserted to what becomes of the one that is there; MySQL goes by the order.
Replacing = Callable[[Any], list[tuple[str, object]]]


def put(dialect: str, table: sa.Table, key: str, values: Mapping[str, object], replacing: Replacing) -> sa.Insert:
    """Return the statement that inserts the values, or changes the row whose key is the same."""
    return _MADE[dialect](table, key, dict(values), replacing)


def counting(dialect: str, table: sa.Table, key: str, replacing: Replacing) -> sa.Insert:
    """Return the same for rows that are given when it is executed."""
    return _MADE[dialect](table, key, None, replacing)


def _mysql(table: sa.Table, _key: str, values: Mapping[str, object] | None, replacing: Replacing) -> sa.Insert:
    statement = mysql.insert(table) if values is None else mysql.insert(table).values(values)
    return statement.on_duplicate_key_update(replacing(statement.inserted))


def _by_conflict(insert: Callable[[sa.Table], Any]) -> Callable[..., sa.Insert]:
    def made(table: sa.Table, key: str, values: dict[str, object] | None, replacing: Replacing) -> sa.Insert:
        statement = insert(table) if values is None else insert(table).values(values)
        new = replacing(statement.excluded)
        changed: sa.Insert = statement.on_conflict_do_update(index_elements=[key], set_=dict(new))
        return changed

    return made


_MADE: Final[Mapping[str, Callable[..., sa.Insert]]] = {
    "sqlite": _by_conflict(sqlite.insert),
    "postgresql": _by_conflict(postgresql.insert),
    "mysql": _mysql,
}
