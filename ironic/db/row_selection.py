"""List rows: filters, sort order and pages, one statement per page.

A statement reads the requested columns only, and joins another table only for a virtual column. The database finds the
position of the marker itself. NULL is the lowest value on every engine; rows with equal values are in the order of
their creation (or its reverse).

A filter is a function of its value, or of a parameter that stands for any text or number, which returns the condition.

A page may have a limit of bytes. A server sums up the sizes of long texts in the order of the page and ends it with the
row that reaches the limit, so what would not fit is never sent; only statements that read long texts pay for it.
"""

import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.sql.elements import ColumnElement, UnaryExpression

from ironic.db import stored_sizes

Filter = Callable[[Any], ColumnElement[bool]]


def equals(column: sa.Column[object]) -> Filter:
    """Match one value; None matches NULL."""
    return lambda value: column.is_(None) if value is None else column == value


def any_of(column: sa.Column[object]) -> Filter:
    """Match one value or any of several; None matches NULL, an empty list matches nothing."""
    return lambda values: column == values if _is_one(values) else column.in_(list(values))


def none_of(column: sa.Column[object]) -> Filter:
    """Match rows that have not this value, or none of several."""
    return lambda values: column != values if _is_one(values) else column.not_in(list(values))


def given(column: sa.Column[object]) -> Filter:
    """Match rows that have a value (true), or those that have none (false)."""
    return lambda yes: column.is_not(None) if yes else column.is_(None)


@dataclass(frozen=True, eq=False)
class Contains:
    """Match text that contains these words; % and _ are ordinary characters, so it needs the value.

    The case of letters matters only where ``in_either_case`` is false and the database minds it: PostgreSQL reads
    long texts five times as fast then.
    """

    column: ColumnElement[Any]
    in_either_case: bool = True

    def __call__(self, words: str) -> ColumnElement[bool]:
        """Return the condition."""
        match = self.column.icontains if self.in_either_case else self.column.contains
        return match(words, autoescape=True)


def before(column: sa.Column[object]) -> Filter:
    """Match times before this one."""
    return lambda moment: column < moment


def _is_one(values: object) -> bool:
    return values is None or isinstance(values, str | int | sa.BindParameter)


@dataclass(frozen=True, eq=False)
class Virtual:
    """A column of another table that is read as if it were one of this table."""

    column: sa.Column[Any]
    on: ColumnElement[bool]


@dataclass(frozen=True)
class PageOfRows:
    """Which rows, after which one, how many, in which order."""

    filters: Mapping[str, Any]
    marker: str | None = None
    limit: int | None = None
    sort_key: str = "id"
    sort_dir: str = "asc"
    # Bytes of long text after which the page ends, though one row always fits; None: no limit.
    most_bytes: int | None = None
    # What is read besides the columns, in other tables: it counts if its size is known.
    parts: tuple[str, ...] = ()


# Stands for a value that is a parameter of the statement, so that the statement can be used again.
_PARAMETER = object()


class Listing:
    """The statements that read rows of one table."""

    def __init__(
        self,
        table: sa.Table,
        *,
        key: str,
        filters: Mapping[str, Filter],
        virtual: Mapping[str, Virtual],
        parts: Mapping[str, ColumnElement[int]],
        dialect: str,
    ) -> None:
        self._table = table
        self._key = table.c[key]
        self._filters = filters
        self._virtual = virtual
        self._sizes = {**stored_sizes.sizes(table), **parts}
        self._dialect = dialect
        # The same few statements are needed again and again; building one of sixty columns costs more than a look-up.
        self.select = functools.lru_cache(maxsize=256)(self._select)
        self.one = functools.lru_cache(maxsize=256)(self._one)
        self._cached_page = functools.lru_cache(maxsize=64)(self._page)

    def _select(self, columns: tuple[str, ...]) -> sa.Select[tuple[object, ...]]:
        """Build the statement that reads these columns of all rows; raises TypeError for an unknown column."""
        source: sa.FromClause = self._table
        for virtual in dict.fromkeys(self._virtual[name] for name in columns if name in self._virtual):
            source = source.outerjoin(virtual.column.table, virtual.on)
        known = {**dict(self._table.c), **{name: virtual.column for name, virtual in self._virtual.items()}}
        if unknown := [name for name in columns if name not in known]:
            raise TypeError(f"Table {self._table.name} has no column {unknown[0]}.")
        return sa.select(*(known[name] for name in columns)).select_from(source)

    def _one(self, columns: tuple[str, ...], key: str, *, locks: bool = False) -> sa.Select[tuple[object, ...]]:
        """Build the statement that reads one row, and locks it; its parameter is ``ident``."""
        found = self.select(columns).where(self._table.c[key] == sa.bindparam("ident"))
        return found.with_for_update() if locks else found

    def conditions(self, filters: Mapping[str, object]) -> list[ColumnElement[bool]]:
        """Return the named filters as conditions; raises TypeError for an unknown name."""
        if unknown := filters.keys() - self._filters.keys():
            raise TypeError(f"Table {self._table.name} has no filter {', '.join(sorted(unknown))}.")
        return [self._filters[name](value) for name, value in filters.items()]

    def sized(self, columns: Sequence[str], page: PageOfRows) -> tuple[str, ...]:
        """Return what a page reads that counts for its limit of bytes; () without one."""
        if page.most_bytes is None:
            return ()
        return tuple(name for name in dict.fromkeys((*columns, *page.parts)) if name in self._sizes)

    def page(
        self, columns: Sequence[str], page: PageOfRows
    ) -> tuple[sa.Select[tuple[object, ...]], Mapping[str, object]]:
        """Return the statement for one page, and its parameters; raises TypeError for an unknown name or order.

        If something is `sized`, `fitting` takes the rows of the statement.
        """
        order = (page.limit, page.sort_key, page.sort_dir, page.most_bytes, self.sized(columns, page))
        filters: dict[str, Any] = {}
        parameters: dict[str, Any] = {}
        for name, value in page.filters.items():
            if value is None or isinstance(value, bool) or isinstance(self._filters.get(name), Contains):
                filters[name] = value
            elif isinstance(value, str | int):
                filters[name], parameters[name] = _PARAMETER, value
            else:
                # The statement depends on how many values there are, so it is not kept.
                return self._page(tuple(columns), tuple(page.filters.items()), page.marker, *order), {}
        marker = None
        if page.marker is not None:
            marker, parameters["marker"] = _PARAMETER, page.marker
        return self._cached_page(tuple(columns), tuple(filters.items()), marker, *order), parameters

    def fitting(
        self, found: Iterable[tuple[Any, ...]], columns: Sequence[str], page: PageOfRows
    ) -> tuple[list[tuple[Any, ...]], bool]:
        """Return the rows that fit into a page with something `sized`, and whether others may follow them."""
        number, most = len(columns), page.most_bytes or 0
        rows: list[tuple[Any, ...]] = []
        total = 0
        # On SQLite texts are counted here, and sizes of others follow the columns; elsewhere the sum of all rows does.
        is_summed = self._dialect != "sqlite"
        sized = self.sized(columns, page)
        texts = [] if is_summed else [columns.index(name) for name in sized if name in columns]
        has_more = is_summed or len(texts) < len(sized)
        for row in map(tuple, found):
            for at in texts:
                if text := row[at]:
                    total += len(text) if text.isascii() else len(text.encode())
            if has_more:
                total = row[number] if is_summed else total + sum(row[number:])
                row = row[:number]
            rows.append(row)
            if total >= most:
                break
        return rows, total >= most

    def _page(
        self,
        columns: tuple[str, ...],
        filters: tuple[tuple[str, Any], ...],
        marker: object,
        limit: int | None,
        sort_key: str,
        sort_dir: str,
        most_bytes: int | None,
        sized: tuple[str, ...],
    ) -> sa.Select[tuple[object, ...]]:
        """Build the statement for one page; `_PARAMETER` stands for values that are parameters."""
        if sort_dir not in ("asc", "desc"):
            raise TypeError(f"The direction of sorting is asc or desc, not {sort_dir}.")
        if sort_key not in self._table.c:
            raise TypeError(f"Table {self._table.name} can't be sorted by {sort_key}.")
        column, by_id, descending = self._table.c[sort_key], self._table.c.id, sort_dir == "desc"
        conditions = []
        if filters:
            values = {name: sa.bindparam(name) if value is _PARAMETER else value for name, value in filters}
            conditions += self.conditions(values)
        if marker is not None:
            key = sa.bindparam("marker") if marker is _PARAMETER else marker
            conditions.append(self._is_after(key, column, descending))
        order = self._order(column, by_id, descending)
        if not sized:
            return self.select(columns).where(*conditions).order_by(*order).limit(limit)

        if self._dialect == "sqlite":
            # It makes rows while they are read, so the reader ends the page.
            return (
                self.select(columns)
                .add_columns(*(self._sizes[name] for name in sized if name not in columns))
                .where(*conditions)
                .order_by(*order)
                .limit(limit)
            )
        size = functools.reduce(operator.add, (self._sizes[name] for name in sized)).label("size")
        place = column.label("place")
        # PostgreSQL carries long texts along as references, and joins badly before it has statistics of a table.
        # MariaDB would copy them, and joins well.
        carries = self._dialect == "postgresql"
        chosen = (
            self.select(columns).add_columns(size, place, by_id.label("row"))
            if carries
            else sa.select(by_id.label("row"), size, place)
        )
        rows = chosen.where(*conditions).order_by(*order).limit(limit).subquery()
        in_order = self._order(rows.c.row if column is by_id else rows.c.place, rows.c.row, descending)
        total = sa.func.sum(rows.c.size).over(order_by=in_order, rows=(None, 0)).label("total")
        if carries:
            summed = sa.select(rows, total).subquery()
            found = sa.select(*list(summed.c)[: len(columns)], summed.c.total)
            order = self._order(summed.c.row if column is by_id else summed.c.place, summed.c.row, descending)
        else:
            summed = sa.select(rows.c.row, rows.c.size, total).subquery()
            found = self.select(columns).add_columns(summed.c.total).join(summed, summed.c.row == by_id)
        return found.where(summed.c.total - summed.c.size < most_bytes).order_by(*order)

    def _order(
        self, column: ColumnElement[Any], by_id: ColumnElement[Any], descending: bool
    ) -> list[UnaryExpression[Any]]:
        """Return the order by a column, in which rows with equal values are ordered by id."""
        order: list[UnaryExpression[Any]] = []
        if column is not by_id:
            order.append(column.desc() if descending else column.asc())
            if self._dialect == "postgresql":  # its default is the opposite of the others'
                order[0] = order[0].nulls_last() if descending else order[0].nulls_first()
        order.append(by_id.desc() if descending else by_id.asc())
        return order

    def _is_after(self, marker: object, column: sa.Column[Any], descending: bool) -> ColumnElement[bool]:
        """Return the condition that a row comes after the marker's in this order; NULL is the lowest value."""
        marked = self._table.alias("marked")
        is_marker = marked.c[self._key.name] == marker
        compare = operator.lt if descending else operator.gt
        if column is self._table.c.id:
            marked_id = sa.select(marked.c.id).where(is_marker).scalar_subquery()
            return cast("ColumnElement[bool]", compare(column, marked_id))
        value = marked.c[column.name]
        is_equal = sa.or_(column == value, sa.and_(column.is_(None), value.is_(None)))
        lower, higher = (column, value) if descending else (value, column)
        return sa.exists().where(
            is_marker,
            sa.or_(
                compare(column, value),
                sa.and_(is_equal, compare(self._table.c.id, marked.c.id)),
                sa.and_(lower.is_(None), higher.is_not(None)),
            ),
        )

    def has(self, marker: str, visible: Mapping[str, Any]) -> sa.Select[tuple[object, ...]]:
        """Return the statement that finds the marker's row if it exists and matches these filters."""
        return sa.select(self._table.c.id).where(self._key == marker, *self.conditions(visible))
