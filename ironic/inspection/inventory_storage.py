"""Storage of inventories: in the database, in an object store, or none ([inventory]data_backend).

Each backend holds one inventory per node, the newest, as two JSON texts of bounded size. The database is written in the
transaction that stores the rest of an inspection; an object store is written just before it, so that an inspection
whose inventory can't be stored fails with nothing else stored.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure, InvalidParameterValue
from ironic.core.errors.call_errors import ObjectStoreError
from ironic.db.column_types import JsonText, encode_json
from ironic.integrations.object_store import ObjectStore, swift_container

if TYPE_CHECKING:
    from ironic.db import Store
    from ironic.inspection.staged_task import StagedTask

_KIB: Final = 1024
_DAY: Final = 86_400  # seconds
_PARTS: Final = ("inventory", "plugin")


class InventoryTexts(NamedTuple):
    """An inventory and its plug-in data as JSON."""

    inventory: JsonText
    plugin_data: JsonText


class Backend(ABC):
    """Interface of the storage of inventories."""

    # Whether an inspection can read what the previous one has found.
    remembers = True

    @abstractmethod
    def keep(self, task: "StagedTask", texts: InventoryTexts) -> None:
        """Store an inventory in place of the previous one, or raise HardwareInspectionFailure."""

    @abstractmethod
    def texts(self, store: "Store", node_id: int, node_uuid: str) -> InventoryTexts | None:
        """Return the inventory of a node, None when there is none; raises IronicError when it can't be read."""

    @abstractmethod
    def forget(self, node_uuid: str) -> None:
        """Delete what is stored outside of the database; rows of the database are deleted with the node."""


class DatabaseBackend(Backend):
    """Stores inventories in a table of their own."""

    def keep(self, task: "StagedTask", texts: InventoryTexts) -> None:
        task.store_found(texts)

    def texts(self, store: "Store", node_id: int, node_uuid: str) -> InventoryTexts | None:
        found = store.inventories.texts(node_id)
        return None if found is None else InventoryTexts(*map(JsonText, found))

    def forget(self, node_uuid: str) -> None:
        """Do nothing."""


class NullBackend(Backend):
    """Stores nothing (S113)."""

    remembers = False

    def keep(self, task: "StagedTask", texts: InventoryTexts) -> None:
        """Do nothing."""

    def texts(self, store: "Store", node_id: int, node_uuid: str) -> None:
        """Return None."""

    def forget(self, node_uuid: str) -> None:
        """Do nothing."""


class ObjectStoreBackend(Backend):
    """Stores two objects per node, under the names that other software looks for."""

    def __init__(self, objects: ObjectStore, retention_days: int = 0) -> None:
        """Keep objects for this number of days; 0 keeps them for ever."""
        self._objects = objects
        self._keep_seconds = retention_days * _DAY or None

    def keep(self, task: "StagedTask", texts: InventoryTexts) -> None:
        try:
            for part, text in zip(_PARTS, texts, strict=True):
                self._objects.put(_name(task.node.uuid, part), text.encode(), self._keep_seconds)
        except ObjectStoreError as error:
            raise HardwareInspectionFailure(error=f"the inventory can't be stored: {error}") from None

    def texts(self, store: "Store", node_id: int, node_uuid: str) -> InventoryTexts | None:
        found = [self._objects.get(_name(node_uuid, part)) for part in _PARTS]
        if found[0] is None or found[1] is None:
            return None
        return InventoryTexts(*(JsonText(part.decode()) for part in found if part is not None))

    def forget(self, node_uuid: str) -> None:
        for part in _PARTS:
            self._objects.delete(_name(node_uuid, part))


def _name(node_uuid: str, part: str) -> str:
    return f"inspector_data-{node_uuid}-{part}"


def backend_from_conf() -> Backend:
    """Return the backend that [inventory]data_backend names."""
    match CONF.inventory.data_backend:
        case "none":
            return NullBackend()
        case "swift":
            return ObjectStoreBackend(
                swift_container(CONF.inventory.swift_data_container), CONF.inventory.retention_days
            )
    return DatabaseBackend()


def texts_of(inventory: Mapping[str, object], plugin_data: Mapping[str, object], most_kib: int) -> InventoryTexts:
    """Return the data as JSON, or raise HardwareInspectionFailure when they can't be encoded or exceed the limit."""
    try:
        texts = InventoryTexts(encode_json(inventory, "The inventory"), encode_json(plugin_data, "The plug-in data"))
    except InvalidParameterValue as error:
        raise HardwareInspectionFailure(error=f"what was found can't be stored: {error}") from None
    size = sum(len(text) if text.isascii() else len(text.encode()) for text in texts)
    if size > most_kib * _KIB:
        raise HardwareInspectionFailure(
            error=f"inventory and plug-in data take {size // _KIB} KiB, more than the {most_kib} KiB that "
            "[inventory]size_limit allows. Raise it, or have the ramdisk collect less"
        )
    return texts
