"""The vocabulary tables are written in: one metadata object, and short words for the kinds of column.

A table with records is a class, a line per column (`Columns`); any other is a call of `table`.

Unique constraints are named `uniq_<table>0<column>` because oslo.db reads the column's name back from there when
MySQL or PostgreSQL report a duplicate.
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

# Names are compared byte by byte, as SQLite and PostgreSQL do; MySQL's own default would take "A" for "a".
_MYSQL_COLLATION = "utf8mb4_bin"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column before it has a name; several tables may have one like it."""

    kind: sa.types.TypeEngine[Any]
    options: Mapping[str, Any]
    # The column that it refers to, and what becomes of the row with what it refers to.
    target: str | None = None
    on_delete: str | None = None

    def named(self, name: str, *, nullable: bool) -> sa.Column[object]:
        """Make the column; what was said of NULL where it was declared goes first."""
        keys = () if self.target is None else (sa.ForeignKey(self.target, ondelete=self.on_delete),)
        return sa.Column(name, self.kind, *keys, **{"nullable": nullable} | dict(self.options))


def table(name: str, /, *also: sa.Constraint | sa.Index, **columns: Any) -> sa.Table:
    """Declare a table of which there are no records; its columns may be NULL unless they say otherwise."""
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
    """The columns of a table as attributes of its records: one line each, with the type that a reader gets.

    A column whose type leaves out None is never NULL, unless the line says `nullable=True`: such a column is always
    filled, though the database would not mind. A subclass that names a table declares it; the table stands in `table`,
    and the lines are no attributes of the class, so that they are in nobody's way.
    """

    table: ClassVar[sa.Table]
    _lines: ClassVar[Mapping[str, tuple[_Column, Any]]] = {}

    def __init_subclass__(
        cls, *, name: str | None = None, also: Sequence[sa.Constraint | sa.Index] = (), **more: Any
    ) -> None:
        """Read the lines, and make a table of them where there is a name for it."""
        super().__init_subclass__(**more)
        lines = {key: (one, cls.__annotations__[key]) for key, one in vars(cls).items() if isinstance(one, _Column)}
        for key in lines:
            delattr(cls, key)
        cls._lines = {**cls._lines, **lines}
        if name is not None:
            columns = [one.named(key, nullable=NoneType in get_args(said)) for key, (one, said) in cls._lines.items()]
            cls.table = _table(name, columns, also)


def key() -> Any:
    """Return the integer primary key."""
    return _Column(sa.Integer(), {"primary_key": True, "nullable": False})


def uuid() -> Any:
    """Return the identity that clients see."""
    return _Column(ShortText(36), {"nullable": False})


def text(length: int | None = None, **options: Any) -> Any:
    """Return a text column, unbounded when no length is given."""
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
    """Return a column of a kind that has no word of its own here."""
    return _Column(kind(), options)


def reference(target: str, *, on_delete: str, **options: Any) -> Any:
    """Return a foreign key; an empty ``on_delete`` refuses to delete what is referred to."""
    return _Column(sa.Integer(), options, target, on_delete or None)


class Known(Columns):
    """What every row has that clients see by a UUID."""

    id: int = key()
    uuid: str = uuid()
    created_at: datetime = moment()
    updated_at: datetime | None = moment()


def unique(table_name: str, *columns: str) -> sa.UniqueConstraint:
    """Return a unique constraint under the name that duplicates are read from."""
    return sa.UniqueConstraint(*columns, name=f"uniq_{table_name}0{'0'.join(columns)}")
