"""Import of data that the former separate inspector stored: one file per node.

A dump is the answer of `GET /v1/introspection/<node>/data` of the old service: a JSON object with `inventory`, whose
other keys become plug-in data. The data are stored as they are, no hook and no rule runs. A file that can't be imported
is reported and does not stop the import of the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import orjson

from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.core.texts import syntax
from ironic.core.texts.operator_files import content_of
from ironic.db import NodeRow, Store
from ironic.db.column_types import JsonText
from ironic.inspection import inventory_storage
from ironic.inspection.inventory_storage import Backend, NullBackend, texts_of

_NOT_KEPT: Final = frozenset({"inventory", "logs"})
_KIB: Final = 1024


class ImportRefused(IronicError):
    """A dump can't be imported."""

    text = "{reason}"


@dataclass(frozen=True, slots=True)
class _WithoutLock:
    """The part of a staged task that an inventory backend uses; an import takes no lock on the node."""

    store: Store
    node: NodeRow

    def store_found(self, texts: tuple[JsonText, JsonText]) -> None:
        self.store.inventories.put_texts(self.node.id, *texts)


class Importer:
    """Imports dumps into the inventory backend."""

    def __init__(self, store: Store, *, replace: bool = False) -> None:
        """With ``replace`` a dump replaces an inventory that is stored already."""
        self._store, self._replace = store, replace
        self._backend: Backend = inventory_storage.backend_from_conf()
        if isinstance(self._backend, NullBackend):
            raise ImportRefused(reason="[inventory]data_backend is 'none', so there is no place for inventories")

    def take(self, path: Path, ident: str | None = None) -> str:
        """Store a dump and return the UUID of its node; ``ident`` names the node where the file's name does not."""
        inventory, plugin_data = parts_of(read(path))
        node = NodeRow(*self._store.nodes.row(NodeRow._fields, ident or uuid_in(path)))
        if not self._replace and self._backend.texts(self._store, node.id, node.uuid) is not None:
            raise ImportRefused(reason=f"node {node.uuid} has an inventory already, --replace puts this in its place")
        texts = texts_of(inventory, plugin_data, CONF.inventory.size_limit)
        self._backend.keep(cast(Any, _WithoutLock(self._store, node)), texts)
        return node.uuid


def uuid_in(path: Path) -> str:
    """Return the one UUID in a file's name, or raise ImportRefused."""
    found = syntax.uuids_in(path.name)
    if len(found) != 1:
        raise ImportRefused(reason="the file's name holds no UUID of a node, or several; name the node with --node")
    return found[0]


def read(path: Path) -> object:
    """Return the JSON document in a file, or raise ImportRefused."""
    longest = CONF.inventory.size_limit * _KIB * 2  # of whatever layout
    try:
        if path.stat().st_size > longest:
            raise ImportRefused(reason=f"the file has more than {longest // _KIB} KiB; raise [inventory]size_limit")
        return orjson.loads(content_of(path, longest))
    except OSError as error:
        raise ImportRefused(reason=f"the file can't be read: {error.strerror}") from None
    except orjson.JSONDecodeError as error:
        raise ImportRefused(reason=f"the file is no JSON: {error}") from None
    except ValueError as error:
        raise ImportRefused(reason=f"the file can't be read: {error}") from None


def parts_of(document: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return inventory and plug-in data of a dump, or raise ImportRefused."""
    inventory = document.get("inventory") if isinstance(document, dict) else None
    if not isinstance(inventory, dict) or not inventory:
        raise ImportRefused(reason="there is no object 'inventory' in it, so it is no dump of inspection data")
    return inventory, {key: value for key, value in document.items() if key not in _NOT_KEPT}
