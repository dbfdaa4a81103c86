"""Rows in every table of a database, made from the declarations of its columns, with values that go wrong easily."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from ironic.db.column_types import Json, LongText, ShortText, UtcDateTime
from ironic.db.row_copy import set_sequences
from ironic.db.tables import metadata

# Letters beyond the first planes, what statements quote, and a space at the end.
ODD: Final = "é😀'\"\\%s:x\t\n; "
_FIRST: Final = datetime(2026, 1, 2, 3, 4, 5, 678901)
_BATCH: Final = 2000


def fill(engine: Engine, rows: Mapping[str, int], default: int = 7) -> None:
    """Insert so many rows into each table, ``default`` where it is not named; numbers and names count from 1."""
    counts = {table.name: rows.get(table.name, default) for table in metadata.sorted_tables}
    for table in metadata.sorted_tables:
        made = [_row(table, number, counts) for number in range(1, counts[table.name] + 1)]
        for start in range(0, len(made), _BATCH):
            with engine.execution_options(begin="IMMEDIATE").begin() as connection:
                connection.execute(sa.insert(table), made[start : start + _BATCH])
    with engine.begin() as connection:
        set_sequences(connection, metadata.sorted_tables)


def _row(table: sa.Table, number: int, counts: Mapping[str, int]) -> dict[str, object]:
    return {column.name: _value(column, number, counts) for column in table.c}


def _value(column: sa.Column[Any], number: int, counts: Mapping[str, int]) -> object:
    for key in column.foreign_keys:
        return 1 + (number - 1) % counts[key.column.table.name]
    if column.primary_key and isinstance(column.type, sa.Integer):
        return number
    if column.nullable and number % 3 == 0:
        return None
    match column.type:
        case ShortText(length=length):
            return f"{number}-{ODD}"[:length]
        case LongText():
            return f"{number}-{ODD}" * (8000 if number == 1 else 3)
        case Json(empty=empty):
            value = {"number": number, "text": ODD, "half": 0.5, "none": None}
            return value if empty is dict else [value, number]
        case UtcDateTime():
            return _FIRST + timedelta(hours=number, microseconds=number)
        case sa.Boolean():
            return number % 2 == 0
        case sa.BigInteger():
            return (2**63 - number) * (-1) ** number
        case _:
            return 2**31 - number


def stored(engine: Engine) -> Iterator[tuple[str, list[tuple[object, ...]]]]:
    """Yield all rows of each table, ordered by their keys."""
    with engine.connect() as connection:
        for table in metadata.sorted_tables:
            keys = [column.name for column in table.primary_key.columns]
            found = [dict(row) for row in connection.execute(sa.select(table)).mappings()]
            found.sort(key=lambda row: [row[name] for name in keys])
            yield table.name, [tuple(row.values()) for row in found]
