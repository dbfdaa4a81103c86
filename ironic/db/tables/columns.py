"""Functions that declare tables: one metadata object, and a short function for each kind of column.

A table with records is a class with a line per column (`Columns`); any other is a call of `table`.

Unique constraints are named `uniq_<table>0<column>`, because oslo.db reads the column's name from there when MySQL or
PostgreSQL reports a duplicate.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import NoneType
from typing import Any, ClassVar, get_args

import sqlalchemy as sa

from ironic.db.column_types import Json, LongText, ShortText, UtcDateTime

metadata = sa.MetaData(
    naming_convention={"fk": "fk_%(table_name)s_%(column_0_name)s", "pk": "pk_%(table_name)s"},
)

# Names are compared byte by byte, as on SQLite and PostgreSQL; the default of MySQL ignores case.
_MYSQL_COLLATION = "utf8mb4_bin"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column before it has a name."""

    kind: sa.types.TypeEngine[Any]
    options: Mapping[str, Any]
    # The column that it refers to, and what happens to the row when the other row is deleted.
    target: str | None = None
    on_delete: str | None = None

    def named(self, name: str, *, nullable: bool) -> sa.Column[object]:
        """Return the column; an option ``nullable`` of its declaration overrides the argument."""
        keys = () if self.target is None else (sa.ForeignKey(self.target, ondelete=self.on_delete),)
        return sa.Column(name, self.kind, *keys, **{"nullable": nullable} | dict(self.options))


def table(name: str, /, *also: sa.Constraint | sa.Index, **columns: Any) -> sa.Table:
    """Declare a table without records; its columns may be NULL unless their options forbid it."""
    return _table(name, [one.named(key, nullable=True) for key, one in columns.items()], also)


def _table(name: str, columns: Iterable[sa.Column[object]], also: Iterable[sa.Constraint | sa.Index]) -> sa.Table:
    return sa.Table(
        name,
        metadata,
        *columns,
        *also,
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate=_MYSQL_COLLATION,
    )


class Columns:
    """The columns of a table as attributes of its records: one line each, with the type of the attribute.

    A column whose type has no None is never NULL, unless its line has `nullable=True`: this service always fills such a
    column, although the database allows NULL. A subclass with a name declares a table, which is its `table`; the lines
    are removed from the class, as records set attributes of these names.
    """

    table: ClassVar[sa.Table]
    _lines: ClassVar[Mapping[str, tuple[_Column, Any]]] = {}

    def __init_subclass__(
        cls, *, name: str | None = None, also: Sequence[sa.Constraint | sa.Index] = (), **more: Any
    ) -> None:
        """Read the lines, and declare the table if it has a name."""
        super().__init_subclass__(**more)
        lines = {key: (one, cls.__annotations__[key]) for key, one in vars(cls).items() if isinstance(one, _Column)}
        for key in lines:
            delattr(cls, key)
        cls._lines = {**cls._lines, **lines}
        if name is not None:
            columns = [one.named(key, nullable=NoneType in get_args(type_)) for key, (one, type_) in cls._lines.items()]
            cls.table = _table(name, columns, also)


def key() -> Any:
    """Return the integer primary key."""
    return _Column(sa.Integer(), {"primary_key": True, "nullable": False})


def uuid() -> Any:
    """Return the UUID, by which clients name rows."""
    return _Column(ShortText(36), {"nullable": False})


def text(length: int | None = None, **options: Any) -> Any:
    """Return a text column; without a length it has no limit."""
    return _Column(LongText() if length is None else ShortText(length), options)


def json_dict(**options: Any) -> Any:
    """Return a column with a JSON object; NULL stands for an empty one."""
    return _Column(Json(dict), {"nullable": True} | options)


def json_list(**options: Any) -> Any:
    """Return a column with a JSON array; NULL stands for an empty one."""
    return _Column(Json(list), {"nullable": True} | options)


def flag(default: bool) -> Any:
    """Return a boolean column that is never NULL."""
    server_default = sa.true() if default else sa.false()
    return _Column(sa.Boolean(), {"nullable": False, "default": default, "server_default": server_default})


def moment(**options: Any) -> Any:
    """Return a column with a time."""
    return _Column(UtcDateTime(), options)


def plain(kind: type[sa.types.TypeEngine[Any]], **options: Any) -> Any:
    """Return a column of a type that has no function of its own here."""
    return _Column(kind(), options)


def reference(target: str, *, on_delete: str, **options: Any) -> Any:
    """Return a foreign key; with an empty ``on_delete`` the database refuses to delete the other row."""
    return _Column(sa.Integer(), options, target, on_delete or None)


class Known(Columns):
    """The columns of every table whose rows have a UUID."""

    id: int = key()
    uuid: str = uuid()
    created_at: datetime = moment()
    updated_at: datetime | None = moment()


def unique(table_name: str, *columns: str) -> sa.UniqueConstraint:
    """Return a unique constraint with the name that oslo.db reads the column from."""
    return sa.UniqueConstraint(*columns, name=f"uniq_{table_name}0{'0'.join(columns)}")
