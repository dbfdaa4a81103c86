"""Hook raid-device: a disk that was not there at the last inspection is the new RAID volume, and the root disk (S97).

It compares with the inventory that is stored. Where none is kept, the serial numbers are remembered on the node.
"""

import logging
from collections.abc import Iterable
from typing import Final

import orjson

from ironic.core.errors import HardwareInspectionFailure, IronicError
from ironic.inspection import storage
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.reading import list_at, text_at
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

_HINTS: Final = "root_device"
_REMEMBERED: Final = "raid_device_serials"


class RaidDevice(InspectionHook):
    """Make a new disk the root disk."""

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the hint when there is none yet and exactly one disk is new."""
        found, before = serials(inventory), _before(task)
        if not storage.from_conf().remembers:
            task.node.set_driver_internal_info(_REMEMBERED, found)
        if task.node.properties.get(_HINTS):
            LOG.info("Node %s has root device hints already; they stay", task.node.uuid)
        elif before is not None and (serial := new_serial(before, found)):
            LOG.info("Node %s: the disk with serial number %s is new and becomes the root disk", task.node.uuid, serial)
            task.node.set_property(_HINTS, {"serial": serial})
        task.node.save()


def serials(inventory: Inventory) -> list[str]:
    """Return the serial numbers of all disks that have one, each once."""
    found = (text_at(disk, "serial") for disk in list_at(inventory, "disks"))
    return list(dict.fromkeys(serial for serial in found if serial))


def new_serial(before: Iterable[str], now: Iterable[str]) -> str | None:
    """Return the one serial number that was not there before, None when there are several or none."""
    known = set(before)
    new = [serial for serial in now if serial not in known]
    return new[0] if len(new) == 1 else None


def _before(task: StagedTask) -> list[str] | None:
    """Return the serial numbers of the last inspection, None when there was none."""
    backend = storage.from_conf()
    if not backend.remembers:
        remembered = task.node.driver_internal_info.get(_REMEMBERED)
        return remembered if isinstance(remembered, list) else None
    try:
        texts = backend.texts(task.store, task.node.id, task.node.uuid)
    except IronicError as error:
        raise HardwareInspectionFailure(error=f"the inventory of the last inspection can't be read: {error}") from None
    return None if texts is None else serials(orjson.loads(str(texts.inventory)))
