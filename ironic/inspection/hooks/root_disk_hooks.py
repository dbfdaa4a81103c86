"""Hooks that choose the root disk: root-device by hints and size, raid-device by the disk that is new.

root-device chooses by the operator's hints (property root_device); without hints it takes the disk that the ramdisk has
chosen. Disks that property skip_block_devices names are left out. raid-device compares the disks with the stored
inventory of the last inspection; where none is stored, the serial numbers are remembered in driver_internal_info.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

import orjson

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure, IronicError
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.readings import Whole
from ironic.core.values import root_device_hints
from ironic.core.values.root_device_hints import GIB
from ironic.inspection import inventory_storage
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.incomplete_lists import DISKS, missing_in, whole_list
from ironic.inspection.reported_data import listed, text_at, value_at, whole_number_at
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

Disk = Mapping[str, object]

_HINTS: Final = "root_device"
_SKIPPED: Final = "skip_block_devices"
_REMEMBERED: Final = InternalKey(
    "raid_device_serials",
    list[str],
    "The serial numbers of its disks at the last inspection, if no inventory is kept.",
)
# Bytes; what is less is a size in another unit.
_SMALLEST: Final = 1 << 20
# Values of disks that are compared with hints, of which there may be 128: together they take a second.
_MOST: Final = 8192


class RootDevice(InspectionHook):
    """Choose the root disk by hints, fail when none matches, and set `local_gb` to its usable size (S98, S103)."""

    runs_dry = True
    plugin_data_keys = ("root_disk", "local_gb")

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set `root_disk` and `local_gb`, or fail when no disk matches the hints.

        A part of the disks sets neither, and so does a report that names no root disk though it may have disks.
        """
        disks = whole_disks(inventory, plugin_data)
        if missing_in(plugin_data, DISKS) or (disks is None and isinstance(value_at(inventory, "disks"), list)):
            LOG.warning("Node %s: not all of its disks can be read; local_gb stays as it is", task.node.uuid)
            return
        properties = task.node.properties
        hints, skipped = properties.get(_HINTS) or {}, properties.get(_SKIPPED) or []
        if hints or skipped:
            if disks is None:
                raise HardwareInspectionFailure(
                    error="no disk can be chosen by the properties root_device and skip_block_devices, as the report "
                    "has no list of disks; see what the ramdisk reports"
                )
            plugin_data["root_disk"] = choose_root_disk(disks, plugin_data, hints, skipped)
        if "root_disk" not in plugin_data and value_at(inventory, "disks") != []:
            LOG.warning("Node %s: no root disk is reported; local_gb stays as it is", task.node.uuid)
            return
        size = local_gb(plugin_data.get("root_disk"), CONF.inspector.disk_partitioning_spacing)
        if size is None:
            LOG.warning("Node %s: the size of its root disk can't be read; local_gb stays as it is", task.node.uuid)
            return
        plugin_data["local_gb"] = size
        task.node.set_property("local_gb", size)
        task.node.save()


def whole_disks(inventory: Inventory, plugin_data: Mapping[str, object]) -> Whole[Disk] | None:
    """Return all disks of a report; None where it has no list of disks, or one of them can't be read."""
    reported = whole_list(inventory, plugin_data, DISKS)
    if reported is None:
        return None
    disks = Whole(dict(disk) for disk in reported if isinstance(disk, Mapping))
    return disks if len(disks) == len(reported) else None


def choose_root_disk(disks: Whole[Disk], plugin_data: PluginData, hints: Any, skipped: Any) -> Disk | None:
    """Return the root disk by hints, without hints that of the ramdisk; raises HardwareInspectionFailure."""
    faults = root_device_hints.faults(hints)
    if isinstance(skipped, list):
        faults.extend(root_device_hints.faults_of_several(skipped))
    else:
        faults.append(f"property {_SKIPPED} has to be a list of hints")
    if faults:
        raise HardwareInspectionFailure(error=f"properties of the node can't be used: {'; '.join(faults)}")
    names = {name for several in (hints, *skipped) for name in several}
    if sum(len(value) if isinstance(value := disk.get(name), list) else 1 for disk in disks for name in names) > _MOST:
        raise HardwareInspectionFailure(
            error=f"the {len(disks)} disks of the report have more than {_MOST} values to compare with hints; correct "
            "what the ramdisk reports, or remove root_device and skip_block_devices from the properties of the node"
        )
    # By identity: comparing each disk with each takes too long for a machine that reports very many.
    passed_over = {id(disk) for disk in root_device_hints.find_by_any(disks, skipped)}
    left = [disk for disk in disks if id(disk) not in passed_over]
    if not hints:
        name = text_at(value_at(plugin_data, "root_disk"), "name")
        return next((disk for disk in left if disk.get("name") == name), left[0] if left else None)
    if found := root_device_hints.find(left, hints):
        return found[0]
    seen = listed(text_at(disk, "name") or "without a name" for disk in disks)
    raise HardwareInspectionFailure(
        error=f"no disk fits the root device hints ({', '.join(sorted(hints))}); disks are {seen or 'none'}"
    )


def local_gb(disk: object, spacing: int) -> int | None:
    """Return the usable size of a disk in whole GiB; 0 for no disk, None where its size can't be that of a disk."""
    if disk is None:
        return 0
    size = whole_number_at(disk, "size")
    return None if size is None or size < _SMALLEST else max(size // GIB - spacing, 0)


class RaidDevice(InspectionHook):
    """Set root device hints, when there are none, to the one disk that is new since the last inspection (S97)."""

    runs_dry = True

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the hints when there are none and exactly one disk is new; a part of the disks says nothing."""
        found, before = serials(inventory, plugin_data), _previous_serials(task)
        if found is None:
            LOG.warning(
                "Node %s: not all serial numbers of its disks can be read; no root disk is chosen", task.node.uuid
            )
            return
        if not inventory_storage.backend_from_conf().remembers:
            _REMEMBERED.set(task.node, [*found])
        if task.node.properties.get(_HINTS):
            LOG.info("Node %s has root device hints already; they are kept", task.node.uuid)
        elif before is not None and (serial := new_serial(before, found)):
            LOG.info("Node %s: the disk with serial number %s is new and becomes the root disk", task.node.uuid, serial)
            task.node.set_property(_HINTS, {"serial": serial})
        task.node.save()


def serials(inventory: Inventory, plugin_data: Mapping[str, object]) -> Whole[str] | None:
    """Return the serial numbers of all disks that have one, each once; None when one of them can't be read."""
    disks = whole_disks(inventory, plugin_data)
    if disks is None or not all(isinstance(disk.get("serial"), str | None) for disk in disks):
        return None
    return Whole(dict.fromkeys(serial for disk in disks if (serial := text_at(disk, "serial"))))


def new_serial(before: Whole[str], now: Whole[str]) -> str | None:
    """Return the one serial number that is new, None when there are several or none."""
    known = set(before)
    new = [serial for serial in now if serial not in known]
    return new[0] if len(new) == 1 else None


def _previous_serials(task: StagedTask) -> Whole[str] | None:
    """Return the serial numbers of the last inspection; None when there was none, or not all its disks are known."""
    backend = inventory_storage.backend_from_conf()
    if not backend.remembers:
        remembered = _REMEMBERED.of(task.node)
        return None if remembered is None else Whole(remembered)
    try:
        texts = backend.texts(task.store, task.node.id, task.node.uuid)
    except IronicError as error:
        raise HardwareInspectionFailure(error=f"the inventory of the last inspection can't be read: {error}") from None
    return None if texts is None else serials(*(orjson.loads(str(text)) for text in texts))
