"""Records: rows as drivers and flows use them, with the record of a node.

Columns are attributes. A JSON column is decoded at the first access and may be changed in place; `save` determines the
changed columns and writes only those, so two records of one row that change different columns both keep their changes.
The repository decides under which condition a record may be saved.

The record of a reserved node has the reservation's host and token, which are a condition of every save: a conductor
that was replaced because it seemed dead can't overwrite the work of its successor, not even of a later task of its own.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, cast

from ironic.core.clock import Clock
from ironic.core.flows.node_waits import NodeWait
from ironic.core.hardware_interfaces import interface_field
from ironic.db.column_types import StoredForm, decode_json, encode_json
from ironic.db.tables import NodeColumns
from ironic.db.tables.columns import Columns
from ironic.db.traits import NodeTraits


class RecordStore(Protocol):
    """The repository of a record, as far as records use it."""

    def save(self, record: Any, /) -> None:
        """Write the changed columns."""

    def read_again(self, record: Any, /) -> dict[str, object]:
        """Return the row as stored now."""

    def now(self) -> datetime:
        """Return the time as it is stored."""

    @property
    def clock(self) -> Clock:
        """The clock of the database's process."""


class NodeStore(RecordStore, Protocol):
    """The repository of nodes, as far as their records use it."""

    def traits_of(self, node_id: int, /) -> list[str]:
        """Return the sorted traits of a node."""


class Record:
    """One row of a table."""

    form: ClassVar[StoredForm]
    _plain: ClassVar[tuple[str, ...]]
    _writable: ClassVar[frozenset[str]]

    id: int
    _record_store: RecordStore
    _stored: dict[str, Any]

    def __init_subclass__(cls, *, extra: tuple[str, ...] = (), **more: Any) -> None:
        """Read the columns of the other base class; ``extra`` names attributes that are no columns."""
        super().__init_subclass__(**more)
        if issubclass(cls, Columns):
            cls.form = StoredForm(cls.table)
            cls._plain = tuple(name for name in cls.form.names if name not in cls.form.empties)
            cls._writable = frozenset((*cls.form.names, *extra))

    def __init__(self, store: RecordStore, stored: Mapping[str, object]) -> None:
        self.__dict__["_record_store"] = store
        self._take(stored)

    def _take(self, stored: Mapping[str, object]) -> None:
        mine = self.__dict__
        mine["_stored"] = stored
        for name in self._plain:
            mine[name] = stored[name]
        for name in self.form.empties:
            mine.pop(name, None)

    if not TYPE_CHECKING:  # a checker knows the attributes by the lines of the table

        def __getattr__(self, name: str) -> object:
            """Decode a JSON column at the first access."""
            if name not in type(self).form.empties:
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            text = self._stored[name]
            value = self.__dict__[name] = self.form.empties[name]() if text is None else decode_json(text)
            return value

        def __setattr__(self, name: str, value: object) -> None:
            """Set a column; raises AttributeError for any other name. None empties a JSON column."""
            if name not in self._writable:
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            if value is None and name in self.form.empties:
                value = self.form.empties[name]()
            self.__dict__[name] = value

    def save(self) -> None:
        """Write the changed columns in one statement; without a change there is none."""
        self._record_store.save(self)

    def refresh(self) -> None:
        """Read the row again; unsaved changes are lost."""
        self._take(self._record_store.read_again(self))

    def now(self) -> datetime:
        """Return the time as it is stored: UTC, naive."""
        return self._record_store.now()

    @property
    def clock(self) -> Clock:
        """What work on the record waits by."""
        return self._record_store.clock

    def changes(self) -> dict[str, object]:
        """Return the values that `save` would write, by name."""
        return {name: getattr(self, name) for name in self.stored_changes()}

    def stored_changes(self) -> dict[str, object]:
        """Return the values that `save` would write, in the form of their columns."""
        values, stored = self.__dict__, self._stored
        changed: dict[str, object] = {}
        for name in self._plain:
            if values[name] is not stored[name] and values[name] != stored[name]:
                value = self.form.of(name, values[name])
                if value != stored[name]:
                    changed[name] = value
        for name, empty in self.form.empties.items():
            if name in values:
                text, before = encode_json(values[name], name), stored[name]
                # NULL, or text of another encoder, may stand for the same value.
                if text != before and text != encode_json(empty() if before is None else decode_json(before)):
                    changed[name] = text
        return changed

    def mark_stored(self, values: Mapping[str, object]) -> dict[str, object]:
        """Record that these values are in the row now; return the values before."""
        before = {name: self._stored[name] for name in values}
        self.mark_lost(values)
        self.__dict__.update((name, value) for name, value in values.items() if name not in self.form.empties)
        return before

    def mark_lost(self, before: Mapping[str, object]) -> None:
        """Record that the row has these values after a rollback; the changes of the record are unsaved again."""
        self._stored.update(before)

    def as_dict(self) -> dict[str, Any]:
        """Return the values of all columns; they share nothing with the record."""
        values = {name: getattr(self, name) for name in self.form.names}
        return values | {name: decode_json(encode_json(values[name], name)) for name in self.form.empties}

    def __copy__(self) -> Self:
        """Return a second record of the same row, without unsaved changes."""
        return type(self)(self._record_store, dict(self._stored))

    def __deepcopy__(self, memo: Mapping[int, object]) -> Self:
        """Return a second record of the same row, without unsaved changes."""
        return self.__copy__()

    def __repr__(self) -> str:
        """Return the UUID or id of the row, without its contents."""
        return f"<{type(self).__name__} {self.__dict__.get('uuid', self.id)}>"


class NodeRecord(Record, NodeColumns, extra=("held_by", "held_token", "pending_waits")):
    """One node."""

    held_by: str | None = None  # the host of the reservation that is a condition of every save
    held_token: str | None = None  # of that reservation, as the host may have reserved the node again since
    # Waits by kind that the next save stores, None those that it removes.
    pending_waits: Mapping[str, NodeWait | None] = MappingProxyType({})

    def refresh(self) -> None:
        """Read the row again; unsaved changes and waits are lost."""
        super().refresh()
        self.pending_waits = {}

    @property
    def traits(self) -> NodeTraits:
        """The traits of the node as stored now; saving the node leaves them alone."""
        return NodeTraits(self.id, cast(NodeStore, self._record_store).traits_of(self.id))

    def set_driver_internal_info(self, key: str, value: Any) -> None:
        """Set one value of the driver."""
        self.driver_internal_info[key] = value

    def del_driver_internal_info(self, key: str, default_value: object = None) -> object:
        """Remove one value of the driver; return it, or the default if there is none."""
        return self.driver_internal_info.pop(key, default_value)

    def timestamp_driver_internal_info(self, key: str) -> None:
        """Set one value of the driver to the present time."""
        self.driver_internal_info[key] = self.now().isoformat()

    def set_instance_info(self, key: str, value: object) -> None:
        """Set one field of the instance information."""
        self.instance_info[key] = value

    def set_property(self, key: str, value: object) -> None:
        """Set one property of the machine."""
        self.properties[key] = value

    def touch_provisioning(self) -> None:
        """Set the time of the last sign of life of the provisioning to now, and save."""
        self.provision_updated_at = self.now()
        self.save()

    def get_interface(self, kind: str) -> str | None:
        """Return the name of the node's interface of one kind."""
        name: str | None = getattr(self, interface_field(kind))
        return name
