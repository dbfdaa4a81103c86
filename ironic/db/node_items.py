"""Named things of a node that are found out as a whole: its BIOS settings, its firmware components.

Whoever has read them from the machine hands them all in; what is new is added, what differs is changed, what is gone is
removed, and what stayed the same keeps its times. One transaction, and one statement per kind of change.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.core.management_errors import BIOSSettingNotFound, FirmwareComponentNotFound
from ironic.db.stored_form import StoredForm
from ironic.db.tables import bios_settings, firmware_information, nodes
from ironic.db.transactions import Transactions, unit_of_work

Row = tuple[Any, ...]
Items = Iterable[Mapping[str, object]]


class NodeItems(ABC):
    """The things of one kind, of all nodes."""

    table: ClassVar[sa.Table]
    # The column that names one of them within its node.
    name: ClassVar[str]
    _form: ClassVar[StoredForm]

    def __init_subclass__(cls, *, table: sa.Table, name: str) -> None:
        """Bind the class to its table."""
        cls.table, cls.name, cls._form = table, name, StoredForm(table)

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    @abstractmethod
    def missing(self, node: str, name: str) -> IronicError:
        """Return the error for a thing that the node has not."""

    def completed(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return a new thing with all that its row needs."""
        return values

    # Reading

    def rows(self, columns: Sequence[str], node_id: int) -> list[Row]:
        """Return these columns of all things of a node, by name; JSON columns as the stored text."""
        with self.transactions.reading() as connection:
            return list(map(tuple, connection.execute(self._select(columns, node_id))))

    def row(self, columns: Sequence[str], node_id: int, name: str) -> Row:
        """Return these columns of one thing."""
        one = self._select(columns, node_id).where(self.table.c[self.name] == name)
        with self.transactions.reading() as connection:
            found = connection.execute(one).first()
            if found is None:
                uuid = connection.scalar(sa.select(nodes.c.uuid).where(nodes.c.id == node_id))
                raise self.missing(str(uuid), name)
        return tuple(found)

    def _select(self, columns: Sequence[str], node_id: int) -> sa.Select[Any]:
        wanted = [self.table.c[column] for column in columns]
        return sa.select(*wanted).where(self.table.c.node_id == node_id).order_by(self.table.c[self.name])

    # Writing

    def put(self, node_id: int, items: Items) -> None:
        """Add or change these things; the others of the node stay."""
        self._write(node_id, self._read(items), only=False)

    def sync(self, node_id: int, items: Items) -> None:
        """Give the node exactly these things."""
        self._write(node_id, self._read(items), only=True)

    def _read(self, items: Items) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = {}
        for item in items:
            stored = self._form.of_all(item)
            name = stored.get(self.name)
            if not isinstance(name, str) or not name:
                raise InvalidParameterValue(err=f"Every item of {self.table.name} needs a {self.name}.")
            found[name] = stored
        return found

    @unit_of_work
    def _write(self, connection: Connection, node_id: int, wanted: dict[str, dict[str, object]], *, only: bool) -> None:
        known = self._known(connection, node_id)
        if only and (gone := known.keys() - wanted.keys()):
            connection.execute(sa.delete(self.table).where(*self._are(node_id, sorted(gone))))
        now = self.transactions.clock()
        new = [self._new(node_id, values, now) for name, values in wanted.items() if name not in known]
        if new:
            connection.execute(sa.insert(self.table), new)
        for name, values in wanted.items():
            if name in known and (changed := self._changed(known[name], values)):
                update = sa.update(self.table).where(*self._are(node_id, [name]))
                connection.execute(update.values(**changed, updated_at=now))

    def _known(self, connection: Connection, node_id: int) -> dict[str, dict[str, Any]]:
        rows = connection.execute(self._select(self._form.names, node_id))
        known = [dict(zip(self._form.names, row, strict=True)) for row in rows]
        return {values[self.name]: values for values in known}

    def _are(self, node_id: int, names: list[str]) -> tuple[sa.ColumnElement[bool], ...]:
        return self.table.c.node_id == node_id, self.table.c[self.name].in_(names)

    def _new(self, node_id: int, values: dict[str, object], now: Any) -> dict[str, Any]:
        row = self._form.defaults | self.completed(values) | {"node_id": node_id, "created_at": now}
        row.pop("id", None)  # the database numbers rows
        return row

    def _changed(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value != known[name]}


class BiosSettings(NodeItems, table=bios_settings, name="name"):
    """The BIOS settings of all nodes."""

    def missing(self, node: str, name: str) -> IronicError:
        """Return the error for a setting that the node has not."""
        return BIOSSettingNotFound(node=node, name=name)


class FirmwareComponents(NodeItems, table=firmware_information, name="component"):
    """The firmware components of all nodes; the first version seen of one is kept as its initial version."""

    def missing(self, node: str, name: str) -> IronicError:
        """Return the error for a component that the node has not."""
        return FirmwareComponentNotFound(node=node, name=name)

    def completed(self, values: dict[str, object]) -> dict[str, Any]:
        """Take the present version for the initial one, unless that is known."""
        return {"initial_version": values.get("current_version") or "", **values}
