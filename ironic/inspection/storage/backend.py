"""The places where inventories can be kept, behind one small interface.

Each holds one inventory per node, the newest, as two JSON texts. What goes into the database is part of the transaction
that stores the rest of an inspection; an object store is written just before it, so that an inspection whose inventory
can't be kept fails with nothing else stored.
"""

import logging
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, NamedTuple

from ironic.core.errors import HardwareInspectionFailure
from ironic.db.stored_text import JsonText
from ironic.integrations.object_store import ObjectStore, ObjectStoreError

if TYPE_CHECKING:
    from ironic.db import Store
    from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)


class Texts(NamedTuple):
    """An inventory and its plug-in data as JSON."""

    inventory: JsonText
    plugin_data: JsonText


class Backend(ABC):
    """One place to keep inventories in."""

    # Whether an inspection can look at what the one before has found.
    remembers = True

    @abstractmethod
    def keep(self, task: "StagedTask", texts: Texts) -> None:
        """Keep what was found in place of what was known, or raise HardwareInspectionFailure."""

    @abstractmethod
    def texts(self, store: "Store", node_id: int, node_uuid: str) -> Texts | None:
        """Return what was found, None when nothing was; raises IronicError when the place can't be asked."""

    @abstractmethod
    def forget(self, node_uuid: str) -> None:
        """Drop what is kept outside of the database; what is in it goes with the node."""


class InDatabase(Backend):
    """A row beside the node's."""

    def keep(self, task: "StagedTask", texts: Texts) -> None:
        task.store_found(texts)

    def texts(self, store: "Store", node_id: int, node_uuid: str) -> Texts | None:
        found = store.inventories.texts(node_id)
        return None if found is None else Texts(*map(JsonText, found))

    def forget(self, node_uuid: str) -> None:
        """Do nothing."""


class Nowhere(Backend):
    """For operators who want nothing kept (S113)."""

    remembers = False

    def keep(self, task: "StagedTask", texts: Texts) -> None:
        """Do nothing."""

    def texts(self, store: "Store", node_id: int, node_uuid: str) -> None:
        """Know nothing."""

    def forget(self, node_uuid: str) -> None:
        """Do nothing."""


_DAY: Final = 86_400
_PARTS: Final = ("inventory", "plugin")


class InObjectStore(Backend):
    """Two objects per node; their names are those that other software looks for."""

    def __init__(self, objects: ObjectStore, retention_days: int = 0) -> None:
        """Keep objects for so many days; 0 is for ever."""
        self._objects = objects
        self._keep_seconds = retention_days * _DAY or None

    def keep(self, task: "StagedTask", texts: Texts) -> None:
        try:
            for part, text in zip(_PARTS, texts, strict=True):
                self._objects.put(_name(task.node.uuid, part), text.encode(), self._keep_seconds)
        except ObjectStoreError as error:
            raise HardwareInspectionFailure(error=f"the inventory can't be stored: {error}") from None

    def texts(self, store: "Store", node_id: int, node_uuid: str) -> Texts | None:
        found = [self._objects.get(_name(node_uuid, part)) for part in _PARTS]
        if found[0] is None or found[1] is None:
            return None
        return Texts(*(JsonText(part.decode()) for part in found if part is not None))

    def forget(self, node_uuid: str) -> None:
        for part in _PARTS:
            self._objects.delete(_name(node_uuid, part))


def _name(node_uuid: str, part: str) -> str:
    return f"inspector_data-{node_uuid}-{part}"
