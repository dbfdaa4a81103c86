"""From values as the program holds them to values as columns hold them.

One function per column, chosen once from its type: text is checked for length, JSON encoded, times made UTC, numbers
kept in range. So a value that one engine would cut or refuse is refused by all, by name, before any statement.
"""

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa

from ironic.core.errors import InvalidParameterValue
from ironic.db.column_types import Json, LongText, ShortText, UtcDateTime, as_utc
from ironic.db.stored_text import JsonText, check_text, encode

Convert = Callable[[Any], object]

_LARGEST_INTEGER = 2**31 - 1
_LARGEST_BIG_INTEGER = 2**63 - 1


class StoredForm:
    """The columns of one table, and how values get into them."""

    def __init__(self, table: sa.Table) -> None:
        self.names = tuple(str(column.name) for column in table.c)
        self.table = table
        self.empties = {str(c.name): c.type.empty for c in table.c if isinstance(c.type, Json)}
        self.defaults = {str(c.name): _default_of(c) for c in table.c}
        self._convert = {str(c.name): _conversion(c) for c in table.c}

    def of(self, name: str, value: Any) -> Any:
        """Return one value as its column holds it."""
        try:
            convert = self._convert[name]
        except KeyError:
            raise TypeError(f"Table {self.table.name} has no column {name}.") from None
        return None if value is None else convert(value)

    def of_all(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return all values as their columns hold them."""
        return {name: self.of(name, value) for name, value in values.items()}


def _default_of(column: sa.Column[object]) -> object:
    return column.default.arg if isinstance(column.default, sa.ColumnDefault) else None


def _conversion(column: sa.Column[object]) -> Convert:
    name, kind = str(column.name), column.type
    if isinstance(kind, Json):
        return lambda value: value if isinstance(value, JsonText) else encode(value, name)
    if isinstance(kind, ShortText | LongText):
        return _text(name, getattr(kind, "length", None))
    return _SCALARS[type(kind)](name)


def _text(name: str, length: int | None) -> Convert:
    def convert(value: object) -> str:
        if not isinstance(value, str):
            raise _wrong(name, "text")
        if length is not None and len(value) > length:
            raise InvalidParameterValue(err=f"{name} is {len(value)} characters long; at most {length} can be stored.")
        return check_text(value, name)

    return convert


def _boolean(name: str) -> Convert:
    def convert(value: object) -> bool:
        if not isinstance(value, bool):
            raise _wrong(name, "true or false")
        return value

    return convert


def _integer(name: str) -> Convert:
    def convert(value: object) -> int:
        if not isinstance(value, int) or abs(value) > _LARGEST_INTEGER:
            raise _wrong(name, f"an integer between -{_LARGEST_INTEGER} and {_LARGEST_INTEGER}")
        return value

    return convert


def _big_integer(name: str) -> Convert:
    def convert(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST_BIG_INTEGER:
            raise _wrong(name, f"an integer between -{_LARGEST_BIG_INTEGER} and {_LARGEST_BIG_INTEGER}")
        return value

    return convert


def _moment(name: str) -> Convert:
    def convert(value: object) -> datetime.datetime:
        if not isinstance(value, datetime.datetime):
            raise _wrong(name, "a time")
        return as_utc(value)

    return convert


def _wrong(name: str, expected: str) -> InvalidParameterValue:
    return InvalidParameterValue(err=f"{name} must be {expected}.")


_SCALARS: dict[type[Any], Callable[[str], Convert]] = {
    sa.Boolean: _boolean,
    sa.Integer: _integer,
    sa.BigInteger: _big_integer,
    UtcDateTime: _moment,
}
