"""The vocabulary tables are written in: one metadata object, and short words for the kinds of column.

Unique constraints are named `uniq_<table>0<column>` because oslo.db reads the column's name back from there when
MySQL or PostgreSQL report a duplicate.
"""

from typing import Any

import sqlalchemy as sa

from ironic.db.column_types import Json, LongText, ShortText, UtcDateTime

metadata = sa.MetaData(
    naming_convention={"fk": "fk_%(table_name)s_%(column_0_name)s", "pk": "pk_%(table_name)s"},
)

# Names are compared byte by byte, as SQLite and PostgreSQL do; MySQL's own default would take "A" for "a".
_MYSQL_COLLATION = "utf8mb4_bin"


def table(name: str, *items: sa.Column[Any] | sa.Constraint | sa.Index) -> sa.Table:
    """Declare a table."""
    return sa.Table(
        name,
        metadata,
        *items,
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate=_MYSQL_COLLATION,
    )


def key() -> sa.Column[Any]:
    """Return the integer primary key."""
    return sa.Column("id", sa.Integer, primary_key=True)


def uuid(*, nullable: bool = False) -> sa.Column[Any]:
    """Return the identity that clients see."""
    return sa.Column("uuid", ShortText(36), nullable=nullable)


def text(name: str, length: int | None = None, **options: Any) -> sa.Column[Any]:
    """Return a text column, unbounded when no length is given."""
    return sa.Column(name, LongText() if length is None else ShortText(length), **options)


def json_dict(name: str) -> sa.Column[Any]:
    """Return a column with a JSON object; NULL stands for an empty one."""
    return sa.Column(name, Json(dict))


def json_list(name: str, **options: Any) -> sa.Column[Any]:
    """Return a column with a JSON array; NULL stands for an empty one."""
    return sa.Column(name, Json(list), **options)


def flag(name: str, default: bool) -> sa.Column[Any]:
    """Return a boolean column that is never NULL."""
    return sa.Column(
        name, sa.Boolean, nullable=False, default=default, server_default=sa.true() if default else sa.false()
    )


def moment(name: str, **options: Any) -> sa.Column[Any]:
    """Return a column with a time."""
    return sa.Column(name, UtcDateTime(), **options)


def timestamps() -> tuple[sa.Column[Any], sa.Column[Any]]:
    """Return the two times every row that clients see carries."""
    return moment("created_at", nullable=False), moment("updated_at")


def reference(name: str, target: str, *, on_delete: str, **options: Any) -> sa.Column[Any]:
    """Return a foreign key; an empty ``on_delete`` refuses to delete what is referred to."""
    return sa.Column(name, sa.Integer, sa.ForeignKey(target, ondelete=on_delete or None), **options)


def unique(table_name: str, *columns: str) -> sa.UniqueConstraint:
    """Return a unique constraint under the name that duplicates are read from."""
    return sa.UniqueConstraint(*columns, name=f"uniq_{table_name}0{'0'.join(columns)}")
