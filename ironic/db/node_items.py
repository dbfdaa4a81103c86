"""Named items of a node that are always read from the machine as a whole: BIOS settings and firmware components.

Storing them adds new items, changes those that differ, removes the missing ones and leaves the others with their times,
in one transaction. A value of a machine that its column can't hold is left out, with a line in the log: it takes
nothing away from the others.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import IronicError
from ironic.core.errors.hardware_errors import BIOSSettingNotFound, FirmwareComponentNotFound
from ironic.db.column_types import StoredForm, decode_json
from ironic.db.tables import bios_settings, firmware_information, nodes
from ironic.db.transactions import Transactions, unit_of_work

LOG = logging.getLogger(__name__)

Row = tuple[Any, ...]
Items = Iterable[Mapping[str, object]]

# Faults of one report that a line of the log names, and its length.
_MOST_NAMED: Final = 5
_LONGEST_LINE: Final = 1000


class NodeItems(ABC):
    """The items of one kind, of all nodes."""

    table: ClassVar[sa.Table]
    # The column that names an item within its node.
    name: ClassVar[str]
    _form: ClassVar[StoredForm]

    def __init_subclass__(cls, *, table: sa.Table, name: str) -> None:
        """Bind the class to its table."""
        cls.table, cls.name, cls._form = table, name, StoredForm(table)

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    @abstractmethod
    def not_found(self, node: str, name: str) -> IronicError:
        """Return the error for an item that the node does not have."""

    def completed(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values of a new item, with those that its row needs besides."""
        return values

    # Reading

    def rows(self, columns: Sequence[str], node_id: int) -> list[Row]:
        """Return these columns of all items of a node, ordered by name; JSON columns as the stored text."""
        with self.transactions.reading() as connection:
            return list(map(tuple, connection.execute(self._select(columns, node_id))))

    def values(self, columns: Sequence[str], node_id: int) -> list[dict[str, Any]]:
        """Return these columns of all items of a node by name, ordered as in `rows`; JSON columns as their values."""
        found = [dict(zip(columns, row, strict=True)) for row in self.rows(columns, node_id)]
        for item in found:
            for name in item.keys() & self._form.empties.keys():
                item[name] = self._form.empties[name]() if item[name] is None else decode_json(item[name])
        return found

    def row(self, columns: Sequence[str], node_id: int, name: str) -> Row:
        """Return these columns of one item."""
        one = self._select(columns, node_id).where(self.table.c[self.name] == name)
        with self.transactions.reading() as connection:
            found = connection.execute(one).first()
            if found is None:
                uuid = connection.scalar(sa.select(nodes.c.uuid).where(nodes.c.id == node_id))
                raise self.not_found(str(uuid), name)
        return tuple(found)

    def _select(self, columns: Sequence[str], node_id: int) -> sa.Select[Any]:
        wanted = [self.table.c[column] for column in columns]
        return sa.select(*wanted).where(self.table.c.node_id == node_id).order_by(self.table.c[self.name])

    # Writing

    def put(self, node_id: int, items: Items) -> None:
        """Add or change these items; the others of the node stay."""
        self._write(node_id, self._stored(node_id, items), only=False)

    def sync(self, node_id: int, items: Items) -> None:
        """Add or change these items, and remove all others of the node."""
        self._write(node_id, self._stored(node_id, items), only=True)

    def _stored(self, node_id: int, items: Items) -> dict[str, dict[str, object]]:
        """Return the items by name, in the form of their columns; those without a name are left out."""
        found: dict[str, dict[str, object]] = {}
        faults: list[str] = []
        # MariaDB takes names for the same that differ by the spaces at their ends.
        seen: dict[str, str] = {}
        for item in items:
            stored, unfit = self._form.of_reported(item)
            faults += unfit
            name = stored.get(self.name)
            if not isinstance(name, str) or not name or name != item[self.name]:
                faults.append(f"an item has no {self.name} that can be stored")
            elif seen.setdefault(name.rstrip(" "), name) != name:
                faults.append(f"two items have the {self.name} {name.strip()}")
            else:
                found[name] = stored
        if faults:
            LOG.warning(
                "Values of %s of the node with row id %s can't be stored and are left out (%d): %s",
                self.table.name,
                node_id,
                len(faults),
                "; ".join(faults[:_MOST_NAMED])[:_LONGEST_LINE],
            )
        return found

    @unit_of_work
    def _write(self, connection: Connection, node_id: int, wanted: dict[str, dict[str, object]], *, only: bool) -> None:
        rows = connection.execute(self._select(self._form.names, node_id))
        stored = [dict(zip(self._form.names, row, strict=True)) for row in rows]
        known = {str(values[self.name]): values for values in stored}
        if only and (gone := known.keys() - wanted.keys()):
            connection.execute(sa.delete(self.table).where(*self._are(node_id, sorted(gone))))
        now = self.transactions.clock.now()
        added = []
        for name, values in wanted.items():
            if name not in known:
                row = self._form.defaults | self.completed(values) | {"node_id": node_id, "created_at": now}
                row.pop("id", None)  # the database numbers rows
                added.append(row)
            elif changed := {key: value for key, value in values.items() if value != known[name][key]}:
                update = sa.update(self.table).where(*self._are(node_id, [name]))
                connection.execute(update.values(**changed, updated_at=now))
        if added:
            connection.execute(sa.insert(self.table), added)

    def _are(self, node_id: int, names: list[str]) -> tuple[sa.ColumnElement[bool], ...]:
        return self.table.c.node_id == node_id, self.table.c[self.name].in_(names)


class BiosSettings(NodeItems, table=bios_settings, name="name"):
    """The BIOS settings of all nodes."""

    def not_found(self, node: str, name: str) -> IronicError:
        """Return the error for a setting that the node does not have."""
        return BIOSSettingNotFound(node=node, name=name)


class FirmwareComponents(NodeItems, table=firmware_information, name="component"):
    """The firmware components of all nodes; the first version of a component stays as its initial version."""

    def not_found(self, node: str, name: str) -> IronicError:
        """Return the error for a component that the node does not have."""
        return FirmwareComponentNotFound(node=node, name=name)

    def completed(self, values: dict[str, object]) -> dict[str, Any]:
        """Return the values with the present version as the initial one, unless that is known."""
        return {"initial_version": values.get("current_version") or "", **values}
