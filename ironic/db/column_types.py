"""Column types that behave alike on SQLite, MariaDB, MySQL and PostgreSQL.

They only look at what goes in; what comes out passes untouched, so that reading rows costs what the driver costs.
Text is checked, JSON is text, times are naive UTC with microseconds.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Dialect

from ironic.db.stored_text import JsonText, check_text, encode

# MySQL's TEXT ends at 64 KiB, which an agent's log or a configuration drive exceeds.
_UNBOUNDED = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")

# MySQL's DATETIME has whole seconds unless it is told otherwise.
_MICROSECONDS = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")


class ShortText(sa.types.TypeDecorator[str]):
    """Text of a bounded length that every engine can hold."""

    impl = sa.String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Refuse what some engine could not hold."""
        return check_text(value) if isinstance(value, str) else value


class LongText(sa.types.TypeDecorator[str]):
    """Text without a bound."""

    impl = _UNBOUNDED
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Refuse what some engine could not hold."""
        return check_text(value) if isinstance(value, str) else value


class Json(sa.types.TypeDecorator[Any]):
    """JSON as text; NULL stands for ``empty()``. Reading gives the text, who needs the value decodes it."""

    impl = _UNBOUNDED
    cache_ok = True

    def __init__(self, empty: type[Mapping[str, object]] | type[Sequence[object]]) -> None:
        super().__init__()
        self.empty = empty

    def process_bind_param(self, value: object, dialect: Dialect) -> str | None:
        """Encode the value unless that has been done."""
        return None if value is None else str(value if isinstance(value, JsonText) else encode(value))


class UtcDateTime(sa.types.TypeDecorator[datetime.datetime]):
    """A moment, stored as UTC without a time zone."""

    impl = _MICROSECONDS
    cache_ok = True

    def process_bind_param(self, value: datetime.datetime | None, dialect: Dialect) -> datetime.datetime | None:
        """Turn a moment of any zone into UTC; one without a zone is taken to be UTC."""
        return None if value is None else as_utc(value)


def as_utc(value: datetime.datetime) -> datetime.datetime:
    """Return the moment as naive UTC."""
    if value.tzinfo is None:
        return value
    return value.astimezone(datetime.UTC).replace(tzinfo=None)
