"""Hook root-device: on which disk a system goes, and how much room there is on it (S98, S103).

Hints of the operator's (property root_device) choose among the disks; without hints it is the disk that the ramdisk has
chosen. Disks named by property skip_block_devices are left out.
"""

from collections.abc import Mapping
from typing import Any, Final

from ironic.conf import CONF
from ironic.core import root_device_hints
from ironic.core.errors import HardwareInspectionFailure
from ironic.core.root_device_hints import GIB
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.reading import at, list_at, listed, text_at, whole_number_at
from ironic.inspection.staged_task import StagedTask

Disk = Mapping[str, object]

_HINTS: Final = "root_device"
_SKIPPED: Final = "skip_block_devices"


class RootDevice(InspectionHook):
    """Choose the root disk and set the size that can be used of it."""

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set local_gb and note the disk, or fail when the hints fit none."""
        properties = task.node.properties
        hints, skipped = properties.get(_HINTS) or {}, properties.get(_SKIPPED) or []
        if hints or skipped:
            plugin_data["root_disk"] = chosen(inventory, plugin_data, hints, skipped)
        size = local_gb(plugin_data.get("root_disk"), CONF.inspector.disk_partitioning_spacing)
        plugin_data["local_gb"] = size
        task.node.set_property("local_gb", size)
        task.node.save()


def chosen(inventory: Inventory, plugin_data: PluginData, hints: Any, skipped: Any) -> Disk | None:
    """Return the root disk by hints, or raise HardwareInspectionFailure; without hints it is that of the ramdisk."""
    _check(hints, skipped)
    disks: list[Disk] = [dict(disk) for disk in list_at(inventory, "disks") if isinstance(disk, Mapping)]
    # By identity: a machine may report very many disks, too many to compare each with each.
    passed_over = {id(disk) for disk in root_device_hints.find_by_any(disks, skipped)}
    left = [disk for disk in disks if id(disk) not in passed_over]
    if not hints:
        return _of_ramdisk(plugin_data, left)
    if found := root_device_hints.find(left, hints):
        return found[0]
    seen = listed(text_at(disk, "name") or "without a name" for disk in disks)
    raise HardwareInspectionFailure(
        error=f"no disk fits the root device hints ({', '.join(sorted(hints))}); disks are {seen or 'none'}"
    )


def local_gb(disk: object, spacing: int) -> int:
    """Return how many whole GiB of a disk can be used; 0 for no disk or one without a size."""
    size = whole_number_at(disk, "size")
    return max(size // GIB - spacing, 0) if size and size >= GIB else 0


def _of_ramdisk(plugin_data: PluginData, left: list[Disk]) -> Disk | None:
    name = text_at(at(plugin_data, "root_disk"), "name")
    return next((disk for disk in left if disk.get("name") == name), left[0] if left else None)


def _check(hints: object, skipped: object) -> None:
    wrong = root_device_hints.faults(hints)
    if not isinstance(skipped, list):
        wrong.append(f"property {_SKIPPED} has to be a list of hints")
    else:
        wrong.extend(root_device_hints.faults_of_several(skipped))
    if wrong:
        raise HardwareInspectionFailure(error=f"properties of the node can't be used: {'; '.join(wrong)}")
