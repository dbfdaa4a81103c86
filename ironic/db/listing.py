"""One statement per page.

Builds the SELECT for `row` and `rows`: the columns asked for and no others, joins only when a virtual column is among
them, the place to go on from found by the database itself. Rows without a value come first in ascending order and last
in descending order, on every engine; rows alike keep the order they were created in (or its reverse).
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql.elements import ColumnElement, UnaryExpression

from ironic.db.filters import Contains, Filter

_GIVEN_LATER = object()


@dataclass(frozen=True, eq=False)
class Virtual:
    """A column of another table that can be asked for as if it were here."""

    column: sa.Column[Any]
    on: ColumnElement[bool]


@dataclass(frozen=True)
class Page:
    """Which rows, from where on, how many, in which order."""

    filters: Mapping[str, Any]
    marker: str | sa.BindParameter[str] | None = None
    limit: int | None = None
    sort_key: str = "id"
    sort_dir: str = "asc"


class Listing:
    """The statements that read rows of one table."""

    def __init__(
        self, table: sa.Table, *, key: str, filters: Mapping[str, Filter], virtual: Mapping[str, Virtual], dialect: str
    ) -> None:
        self._table = table
        self._key = table.c[key]
        self._filters = filters
        self._virtual = virtual
        self._says_nulls = dialect == "postgresql"
        # Callers ask for a few sets of columns again and again; building a SELECT of sixty costs more than a look-up.
        self.select = functools.lru_cache(maxsize=256)(self._select)
        self.one = functools.lru_cache(maxsize=256)(self._one)
        self._shaped = functools.lru_cache(maxsize=64)(self._of_shape)

    def _select(self, columns: tuple[str, ...]) -> sa.Select[tuple[object, ...]]:
        source: sa.FromClause = self._table
        for virtual in dict.fromkeys(self._virtual[name] for name in columns if name in self._virtual):
            source = source.outerjoin(virtual.column.table, virtual.on)
        return sa.select(*(self._column(name) for name in columns)).select_from(source)

    def _column(self, name: str) -> sa.Column[Any]:
        if name in self._virtual:
            return self._virtual[name].column
        try:
            return self._table.c[name]
        except KeyError:
            raise TypeError(f"Table {self._table.name} has no column {name}.") from None

    def _one(self, columns: tuple[str, ...], key: str) -> sa.Select[tuple[object, ...]]:
        return self._select(columns).where(self._table.c[key] == sa.bindparam("ident"))

    def conditions(self, filters: Mapping[str, object]) -> list[ColumnElement[bool]]:
        """Return the named filters as conditions; an unknown name is a TypeError."""
        if unknown := filters.keys() - self._filters.keys():
            raise TypeError(f"Table {self._table.name} has no filter {', '.join(sorted(unknown))}.")
        return [self._filters[name](value) for name, value in filters.items()]

    def page(self, columns: Sequence[str], page: Page) -> tuple[sa.Select[tuple[object, ...]], Mapping[str, object]]:
        """Return the statement for one page, and its parameters."""
        filters: dict[str, Any] = {}
        given: dict[str, Any] = {}
        for name, value in page.filters.items():
            if value is None or isinstance(value, bool) or isinstance(self._filters.get(name), Contains):
                filters[name] = value
            elif isinstance(value, str | int):
                filters[name], given[name] = _GIVEN_LATER, value
            else:  # several values, for which the statement is made anew
                return self._page(columns, page), {}
        marker = None
        if page.marker is not None:
            marker, given["marker"] = _GIVEN_LATER, page.marker
        shape = (tuple(filters.items()), marker, page.limit, page.sort_key, page.sort_dir)
        return self._shaped(tuple(columns), shape), given

    def _of_shape(self, columns: tuple[str, ...], shape: tuple[Any, ...]) -> sa.Select[tuple[object, ...]]:
        items, marker, *order = shape
        filters = {name: sa.bindparam(name) if value is _GIVEN_LATER else value for name, value in items}
        return self._page(columns, Page(filters, sa.bindparam("marker") if marker else None, *order))

    def _page(self, columns: Sequence[str], page: Page) -> sa.Select[tuple[object, ...]]:
        statement = self.select(tuple(columns))
        if page.filters:
            statement = statement.where(*self.conditions(page.filters))
        if page.marker is not None:
            statement = self._go_on(statement, page)
        statement = statement.order_by(*self._order(page))
        return statement if page.limit is None else statement.limit(page.limit)

    def _order(self, page: Page) -> list[ColumnElement[object]]:
        falling = _is_falling(page)
        by_id = self._table.c.id.desc() if falling else self._table.c.id.asc()
        if page.sort_key == "id":
            return [by_id]
        return [self._directed(self._sorted_by(page), falling), by_id]

    def _directed(self, column: sa.Column[object], falling: bool) -> UnaryExpression[object]:
        directed = column.desc() if falling else column.asc()
        if self._says_nulls:  # its own way is the other way round
            return directed.nulls_last() if falling else directed.nulls_first()
        return directed

    def _sorted_by(self, page: Page) -> sa.Column[object]:
        try:
            return self._table.c[page.sort_key]
        except KeyError:
            raise TypeError(f"Table {self._table.name} can't be sorted by {page.sort_key}.") from None

    def _go_on(self, statement: sa.Select[tuple[object, ...]], page: Page) -> sa.Select[tuple[object, ...]]:
        last = self._table.alias("last_seen")
        its_key = last.c[self._key.name] == page.marker
        if page.sort_key == "id":
            its_id = sa.select(last.c.id).where(its_key).scalar_subquery()
            return statement.where(_beyond(self._table.c.id, its_id, _is_falling(page)))
        column = self._sorted_by(page)
        after = _after(column, self._table, last, _is_falling(page))
        return statement.where(sa.exists().where(its_key, after))

    def has(self, marker: str, visible: Mapping[str, Any]) -> sa.Select[tuple[object, ...]]:
        """Return the statement that tells whether the marker's row exists and matches these filters."""
        return sa.select(self._table.c.id).where(self._key == marker, *self.conditions(visible))


def _is_falling(page: Page) -> bool:
    if page.sort_dir not in ("asc", "desc"):
        raise TypeError(f"The direction of sorting is asc or desc, not {page.sort_dir}.")
    return page.sort_dir == "desc"


def _beyond(mine: ColumnElement[object], its: object, falling: bool) -> ColumnElement[bool]:
    beyond: ColumnElement[bool] = mine < its if falling else mine > its
    return beyond


def _after(column: sa.Column[object], me: sa.FromClause, last: sa.FromClause, falling: bool) -> ColumnElement[bool]:
    mine, its = me.c[column.name], last.c[column.name]
    later_twin = _beyond(me.c.id, last.c.id, falling)
    both_empty = sa.and_(mine.is_(None), its.is_(None))
    past_empty = sa.and_(mine.is_(None), its.is_not(None)) if falling else sa.and_(mine.is_not(None), its.is_(None))
    return sa.or_(
        _beyond(mine, its, falling),
        sa.and_(sa.or_(mine == its, both_empty), later_twin),
        past_empty,
    )
