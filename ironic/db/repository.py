"""The base class of repositories: create, get, find, list, update, save and delete.

A concrete repository names its table, record, errors and filters, and adds its own queries. Each method is a
transaction of its own, or part of the transaction that its caller has open.
"""

import functools
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar

import sqlalchemy as sa
from oslo_db.exception import DBDuplicateEntry, DBReferenceError
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.clock import Clock
from ironic.core.errors import IronicError, MarkerNotFound
from ironic.core.texts import syntax
from ironic.db.column_types import Json
from ironic.db.record import Record
from ironic.db.row_selection import Filter, Listing, PageOfRows, Virtual, any_of, equals
from ironic.db.tables import conductors, nodes
from ironic.db.transactions import Transactions, repeatable_work, unit_of_work

R = TypeVar("R", bound=Record)
Row = tuple[Any, ...]


class Stretch(NamedTuple):
    """Rows of a page; ``is_cut`` if it ends here because of its bytes, so that further rows may follow."""

    rows: list[Row]
    is_cut: bool


Errors = Mapping[str, Callable[[Any], IronicError]]  # by column: the error for a value that another row has

_NOTHING: Mapping[str, Any] = {}

# The row of the first conductor; on PostgreSQL other rows may refer to it while it is locked.
_ROW_AS_MUTEX = sa.select(conductors.c.id).order_by(conductors.c.id).limit(1).with_for_update(key_share=True)


def _node_as_mutex(node_id: int) -> sa.Select[tuple[int]]:
    return sa.select(nodes.c.id).where(nodes.c.id == node_id).with_for_update(key_share=True)


# By the name of the table.
REPOSITORIES: Final[dict[str, "type[Repository[Any]]"]] = {}


class Repository(ABC, Generic[R]):
    """The rows of one table."""

    table: ClassVar[sa.Table]
    filters: ClassVar[Mapping[str, Filter]] = {}
    virtual: ClassVar[Mapping[str, Virtual]] = {}
    # The sizes of what belongs to a row in other tables, in bytes, by the name that callers know it by.
    parts: ClassVar[Mapping[str, ColumnElement[int]]] = {}
    key: ClassVar[str]  # the column by which clients name rows
    duplicates: ClassVar[Errors] = {}

    _record: type[R]

    def __init_subclass__(cls, *, record: type[R] | None = None, key: str = "uuid") -> None:
        """Bind the repository to its record and table; each column without a filter gets one for its value."""
        if record is not None:
            cls.table, cls._record, cls.key = record.form.table, record, key
            REPOSITORIES[cls.table.name] = cls
        if hasattr(cls, "table"):
            by_value = {str(one.name): equals(one) for one in cls.table.c if not isinstance(one.type, Json)}
            cls.filters = {**by_value, **cls.filters}

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions
        self._form = self._record.form
        self._listing = Listing(
            self.table,
            key=self.key,
            filters=self.filters,
            virtual=self.virtual,
            parts=self.parts,
            dialect=transactions.dialect,
        )

    @abstractmethod
    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a row that does not exist."""

    def parent_not_found(self, values: Mapping[str, object]) -> IronicError | None:
        """Return the error for a row that refers to a missing one, if the client can cause that."""
        return None

    # Reading

    def get(self, ident: str | int) -> R:
        """Return the record with this id (a number), UUID or name; raises the error of `not_found`."""
        return self._from_row(self.row(self._form.names, ident))

    def find(self, **filters: Any) -> list[R]:
        """Return the records that match, in the order of their creation."""
        return [self._from_row(row) for row in self.rows(self._form.names, filters=filters)]

    def row(self, columns: Sequence[str], ident: str | int) -> Row:
        """Return these columns of one row; raises the error of `not_found`."""
        statement = self._listing.one(tuple(columns), self._key_for(ident))
        found = self.transactions.read(lambda connection: connection.execute(statement, {"ident": ident}).first())
        if found is None:
            raise self.not_found(ident)
        return tuple(found)

    def rows(
        self,
        columns: Sequence[str],
        *,
        filters: Mapping[str, object] = _NOTHING,
        marker: str | None = None,
        limit: int | None = None,
        sort_key: str = "id",
        sort_dir: str = "asc",
        visible: Mapping[str, object] = _NOTHING,
    ) -> list[Row]:
        """Return these columns of the rows that match, as `page` does, without a limit of bytes."""
        return self.page(columns, PageOfRows(filters, marker, limit, sort_key, sort_dir), visible).rows

    def page(self, columns: Sequence[str], page: PageOfRows, visible: Mapping[str, object] = _NOTHING) -> Stretch:
        """Return these columns of the rows of a page, JSON columns as the stored text, in one statement.

        Raises MarkerNotFound if no row has the marker, or if that row does not match the filters in ``visible``; with a
        marker and ``visible``, or without a result, that costs one more statement.
        """
        statement, parameters = self._listing.page(columns, page)
        is_sized = bool(self._listing.sized(columns, page))

        def work(connection: Connection) -> Stretch:
            result = connection.execute(statement, parameters)
            if is_sized:
                found, is_cut = self._listing.fitting(result, columns, page)
                result.close()
            else:
                found, is_cut = list(map(tuple, result)), False
            to_check = page.marker if visible or not found else None
            if to_check is not None and connection.execute(self._listing.has(to_check, visible)).first() is None:
                raise MarkerNotFound(marker=page.marker)
            return Stretch(found, is_cut)

        return self.transactions.read(work)

    def count(self, **filters: Any) -> int:
        """Return how many rows match."""
        statement = sa.select(sa.func.count()).select_from(self.table).where(*self._listing.conditions(filters))
        number: int = self.transactions.read(lambda connection: connection.execute(statement).scalar_one())
        return number

    def count_others(self, record: R | None, *, of_node: int | None = None, **filters: Any) -> int:
        """Count the rows that match, but for this one; until the transaction ends, no other one can count.

        With the id of a node its parts are counted, and only who counts parts of the same node has to wait.
        """
        connection = self.transactions.require_writing()
        if self.transactions.dialect != "sqlite":
            # SQLite has one writer at a time. Elsewhere the lock of one row serializes those that count; the server
            # releases it when the transaction ends.
            connection.execute(_ROW_AS_MUTEX if of_node is None else _node_as_mutex(of_node))
        if of_node is not None:
            filters["node_id"] = of_node
        statement = sa.select(sa.func.count()).select_from(self.table).where(*self._listing.conditions(filters))
        if record is not None:
            statement = statement.where(self.table.c.id != record.id)
        return int(connection.execute(statement).scalar_one())

    # Writing

    @unit_of_work
    def create(self, connection: Connection, values: Mapping[str, object]) -> R:
        """Store a new row and return it."""
        stored = self._form.defaults | self._form.of_all(self._identified(values))
        del stored["id"]  # the database numbers rows
        with self._translated(stored), self.transactions.attempt():
            row_id: Any = (connection.execute(sa.insert(self.table), stored).inserted_primary_key or (None,))[0]
        self.transactions.note_created(self.table.name, row_id)
        return self._record(self, {"id": row_id, **stored})

    def _identified(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return the values of a new row with its time and, unless it has one, a new UUID."""
        new: dict[str, Any] = {"created_at": self.transactions.clock.now(), **values}
        if "uuid" in self._form.defaults and new.get("uuid") is None:
            new["uuid"] = str(uuid.uuid4())
        return new

    def lock_row(self, ident: str | int) -> R:
        """Read a row and lock it until the open transaction ends."""
        connection = self.transactions.require_writing()
        statement = self._listing.one(self._form.names, self._key_for(ident), locks=True)
        found = connection.execute(statement, {"ident": ident}).first()
        if found is None:
            raise self.not_found(ident)
        return self._from_row(found)

    @unit_of_work
    def update(
        self,
        connection: Connection,
        ident: str | int,
        values: Mapping[str, object],
        *,
        where: Mapping[str, object] = _NOTHING,
    ) -> bool:
        """Change columns of one row if ``where`` matches (a list: one of its values); return whether it did."""
        conditions = [self._matches(ident)]
        for name, expected in where.items():
            has_several = isinstance(expected, list | tuple | set | frozenset)
            conditions.append((any_of if has_several else equals)(self.table.c[name])(expected))
        return bool(self._change(connection, conditions, self._form.of_all(self._with_time(values))))

    def save(self, record: R) -> None:
        """Write the changed columns of a record; without a change there is no statement."""
        if changed := record.stored_changes():
            self._write(record, changed)

    @repeatable_work
    def _write(self, connection: Connection, record: R, changed: Mapping[str, object]) -> None:
        stored = self._with_time(changed)
        if not self._change(connection, self._writable(record), stored):
            raise self.write_conflict(record)
        self.note_stored(record, stored)

    def _writable(self, record: R) -> list[ColumnElement[bool]]:
        """Return the conditions under which the row of a record may be written."""
        return [self.table.c.id == record.id]

    def write_conflict(self, record: R) -> IronicError:
        """Return the error for a record whose row could not be written."""
        return self.not_found(getattr(record, self.key))

    def note_stored(self, record: R, stored: Mapping[str, object]) -> None:
        """Record what is in the row now; a rollback of the transaction undoes that."""
        before = record.mark_stored(stored)
        self.transactions.after_rollback(functools.partial(record.mark_lost, before))

    def _with_time(self, values: Mapping[str, object]) -> dict[str, object]:
        return {"updated_at": self.transactions.clock.now(), **values}

    def _change(
        self, connection: Connection, conditions: list[ColumnElement[bool]], stored: Mapping[str, object]
    ) -> int:
        with self._translated(stored), self.transactions.attempt():
            # Parameters, not values of the statement: those cost an object each.
            return connection.execute(sa.update(self.table).where(*conditions), stored).rowcount

    @unit_of_work
    def delete(self, connection: Connection, ident: str | int) -> None:
        """Remove a row and what belongs to it; raises the error of `not_found`."""
        if not connection.execute(sa.delete(self.table).where(self._matches(ident))).rowcount:
            raise self.not_found(ident)

    # For repositories and records

    def read_again(self, record: R) -> dict[str, object]:
        """Return the record's row as stored now."""
        statement = self._listing.one(self._form.names, "id")
        found = self.transactions.read(lambda connection: connection.execute(statement, {"ident": record.id}).first())
        if found is None:
            raise self.not_found(getattr(record, self.key))
        return dict(zip(self._form.names, found, strict=True))

    def now(self) -> datetime:
        """Return the time as it is stored."""
        return self.transactions.clock.now()

    @property
    def clock(self) -> Clock:
        """The clock of the store."""
        return self.transactions.clock

    def _from_row(self, row: Sequence[object]) -> R:
        return self._record(self, dict(zip(self._form.names, row, strict=True)))

    def _key_for(self, ident: str | int) -> str:
        if isinstance(ident, int):
            return "id"
        return self.key if "name" not in self._form.defaults or syntax.is_uuid(ident) else "name"

    def _matches(self, ident: str | int) -> ColumnElement[bool]:
        return self.table.c[self._key_for(ident)] == ident

    @contextmanager
    def _translated(self, values: Mapping[str, object]) -> Iterator[None]:
        """Raise duplicates and missing parents as errors of this service."""
        try:
            yield
        except DBDuplicateEntry as error:
            raise self._duplicate(error, values) from None
        except DBReferenceError as error:
            raise self.parent_not_found(values) or error from None

    def _duplicate(self, error: DBDuplicateEntry, values: Mapping[str, object]) -> IronicError | DBDuplicateEntry:
        for column in error.columns:
            if column in self.duplicates:
                return self.duplicates[column](values.get(column))
        return error
