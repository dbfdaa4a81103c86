"""How much of a row is long text, as an expression of the database: what a page of large rows is bounded by."""

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.functions import GenericFunction

from ironic.db.column_types import Json, LongText


class _Bytes(GenericFunction[int]):
    """The number of bytes of a text; servers know it without reading the text."""

    type = sa.Integer()
    name = "octet_length"
    inherit_cache = True


@compiles(_Bytes, "sqlite")
def _bytes_in_sqlite(element: _Bytes, compiler: SQLCompiler, **options: object) -> str:
    # Its octet_length is newer than the releases that are in use.
    return f"length(CAST({compiler.process(element.clauses, **options)} AS BLOB))"


def size(column: sa.Column[object]) -> ColumnElement[int]:
    """Return the number of bytes of a column; NULL has none."""
    return sa.func.coalesce(_Bytes(column), 0)


def sizes(table: sa.Table) -> dict[str, ColumnElement[int]]:
    """Return the size of each column of a table whose length has no limit, by name."""
    return {str(one.name): size(one) for one in table.c if isinstance(one.type, Json | LongText)}
