"""Column types, and the conversion of values between the program and the columns.

The types behave alike on SQLite, MariaDB, MySQL and PostgreSQL. A value that one engine would cut or refuse is refused
on all of them, with the column's name, before any statement: text that is too long, a NUL character (PostgreSQL), half
a surrogate pair, a number out of range. JSON is stored as text and times as naive UTC with microseconds.

Only values that are written are converted. Values that are read stay as the driver returns them, so that reading rows
costs no more than the driver; JSON text, which only orjson writes, can be copied into an answer without being parsed.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Dialect

from ironic.core.errors import InvalidParameterValue
from ironic.core.texts.syntax import as_utc


class JsonText(str):
    """JSON text that `encode_json` has returned; any other text is encoded as a JSON string."""

    __slots__ = ()


def check_text(value: str, what: str = "A value") -> str:
    """Return the text; raises InvalidParameterValue for text that one of the engines can't store."""
    if "\0" in value:
        raise InvalidParameterValue(err=f"{what} contains a NUL character, which can't be stored.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidParameterValue(
                err=f"{what} contains half of a surrogate pair, which is no character and can't be stored."
            ) from None
    return value


def storable(text: str, length: int | None) -> str:
    """Return the text cut to a length, if there is one, without the characters that `check_text` refuses."""
    return text.replace("\0", "").encode(errors="replace").decode()[:length]


def encode_json(value: object, what: str = "A value") -> JsonText:
    """Return the value as JSON text; raises InvalidParameterValue for a value without a JSON form."""
    try:
        return JsonText(orjson.dumps(value).decode())
    except TypeError as error:
        raise InvalidParameterValue(err=f"{what} can't be stored as JSON: {error}.") from None


def decode_json(text: str) -> Any:
    """Return the value of stored JSON text."""
    return orjson.loads(str(text))  # orjson takes no subclass of str


# TEXT of MySQL ends at 64 KiB, which an agent's log or a configuration drive exceeds.
_UNBOUNDED = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")

# DATETIME of MySQL has whole seconds by default.
_MICROSECONDS = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")


class ShortText(sa.types.TypeDecorator[str]):
    """Text of limited length that every engine can store."""

    impl = sa.String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Refuse text that one of the engines can't store."""
        return check_text(value) if isinstance(value, str) else value


class LongText(sa.types.TypeDecorator[str]):
    """Text of any length that every engine can store."""

    impl = _UNBOUNDED
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Refuse text that one of the engines can't store."""
        return check_text(value) if isinstance(value, str) else value


class Json(sa.types.TypeDecorator[Any]):
    """JSON as text; NULL stands for ``empty()``. Reading returns the text, for `decode_json`."""

    impl = _UNBOUNDED
    cache_ok = True

    def __init__(self, empty: type[Mapping[str, object]] | type[Sequence[object]]) -> None:
        super().__init__()
        self.empty = empty

    def process_bind_param(self, value: object, dialect: Dialect) -> str | None:
        """Encode the value unless it is encoded already."""
        return None if value is None else str(value if isinstance(value, JsonText) else encode_json(value))


class UtcDateTime(sa.types.TypeDecorator[datetime.datetime]):
    """A time, stored as UTC without a time zone."""

    impl = _MICROSECONDS
    cache_ok = True

    def process_bind_param(self, value: datetime.datetime | None, dialect: Dialect) -> datetime.datetime | None:
        """Convert a time of any zone to UTC; a time without a zone is UTC."""
        return None if value is None else as_utc(value)


Convert = Callable[[Any], object]

_LARGEST_INTEGER = 2**31 - 1
_LARGEST_BIG_INTEGER = 2**63 - 1


class StoredForm:
    """The columns of one table, and the conversion of values for them."""

    def __init__(self, table: sa.Table) -> None:
        self.names = tuple(str(column.name) for column in table.c)
        self.table = table
        self.empties = {str(c.name): c.type.empty for c in table.c if isinstance(c.type, Json)}
        self.defaults = {
            str(c.name): c.default.arg if isinstance(c.default, sa.ColumnDefault) else None for c in table.c
        }
        self._convert = {str(c.name): _conversion(c) for c in table.c}
        self._lengths = {str(c.name): getattr(c.type, "length", None) for c in table.c}

    def of(self, name: str, value: Any) -> Any:
        """Return one value in the form of its column; raises TypeError for an unknown column."""
        try:
            convert = self._convert[name]
        except KeyError:
            raise TypeError(f"Table {self.table.name} has no column {name}.") from None
        return None if value is None else convert(value)

    def of_all(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return all values in the form of their columns."""
        return {name: self.of(name, value) for name, value in values.items()}

    def of_reported(self, values: Mapping[str, object]) -> tuple[dict[str, object], list[str]]:
        """Return what a machine reports in the form of the columns, and why some values are None instead.

        Text is kept without the characters that can't be stored, up to the length of its column. Raises TypeError for
        an unknown column.
        """
        stored: dict[str, object] = {}
        faults = []
        for name, value in values.items():
            try:
                stored[name] = self.of(name, value)
            except InvalidParameterValue as error:
                faults.append(str(error))
                kind = self.table.c[name].type
                is_text = isinstance(value, str) and isinstance(kind, ShortText | LongText)
                stored[name] = storable(str(value), self._lengths[name]) if is_text else None
        return stored, faults


def _conversion(column: sa.Column[object]) -> Convert:
    """Return the function that converts a value for one column; it raises InvalidParameterValue."""
    name, kind = str(column.name), column.type
    length = getattr(kind, "length", None)

    def wrong(expected: str) -> InvalidParameterValue:
        return InvalidParameterValue(err=f"{name} must be {expected}.")

    def to_json(value: object) -> JsonText:
        return value if isinstance(value, JsonText) else encode_json(value, name)

    def to_text(value: object) -> str:
        if not isinstance(value, str):
            raise wrong("text")
        if length is not None and len(value) > length:
            raise InvalidParameterValue(err=f"{name} is {len(value)} characters long; at most {length} can be stored.")
        return check_text(value, name)

    def to_utc(value: object) -> datetime.datetime:
        if not isinstance(value, datetime.datetime):
            raise wrong("a time")
        return as_utc(value)

    def to_boolean(value: object) -> bool:
        if not isinstance(value, bool):
            raise wrong("true or false")
        return value

    def to_integer(value: object) -> int:
        if not isinstance(value, int) or abs(value) > _LARGEST_INTEGER:
            raise wrong(f"an integer between -{_LARGEST_INTEGER} and {_LARGEST_INTEGER}")
        return value

    def to_big_integer(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST_BIG_INTEGER:
            raise wrong(f"an integer between -{_LARGEST_BIG_INTEGER} and {_LARGEST_BIG_INTEGER}")
        return value

    by_type: dict[type[Any], Convert] = {
        Json: to_json,
        ShortText: to_text,
        LongText: to_text,
        UtcDateTime: to_utc,
        sa.Boolean: to_boolean,
        sa.Integer: to_integer,
        sa.BigInteger: to_big_integer,
    }
    return by_type[type(kind)]
