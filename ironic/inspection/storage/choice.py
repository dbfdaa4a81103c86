"""The place that the operator has chosen, and how much may be kept there."""

import functools
from collections.abc import Mapping

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure, InvalidParameterValue
from ironic.db.stored_text import encode
from ironic.inspection.storage.backend import Backend, InDatabase, InObjectStore, Nowhere, Texts
from ironic.integrations.object_store import ObjectStore

_KIB = 1024


def from_conf() -> Backend:
    """Return the place that the options name."""
    match CONF.inventory.data_backend:
        case "none":
            return Nowhere()
        case "swift":
            return InObjectStore(_swift(CONF.inventory.swift_data_container), CONF.inventory.retention_days)
    return InDatabase()


@functools.cache
def _swift(container: str) -> ObjectStore:
    # Whoever keeps inventories in the database should not load a client for something else.
    from ironic.integrations.swift import SwiftContainer

    return SwiftContainer.from_conf(container)


def texts_of(inventory: Mapping[str, object], plugin_data: Mapping[str, object], most_kib: int) -> Texts:
    """Return what is to be kept as JSON, or raise HardwareInspectionFailure when it can't be or is too much."""
    try:
        texts = Texts(encode(inventory, "The inventory"), encode(plugin_data, "The plug-in data"))
    except InvalidParameterValue as error:
        raise HardwareInspectionFailure(error=f"what was found can't be stored: {error}") from None
    size = sum(len(text) if text.isascii() else len(text.encode()) for text in texts)
    if size > most_kib * _KIB:
        raise HardwareInspectionFailure(
            error=f"inventory and plug-in data take {size // _KIB} KiB, more than the {most_kib} KiB that "
            "[inventory]size_limit allows. Raise it, or have the ramdisk collect less"
        )
    return texts
