"""Hook extra-hardware: convert the data of the extra-hardware collector into a nested dictionary (S91)."""

import logging
import re
from collections.abc import Sequence
from typing import Final

from ironic.conf import CONF
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

_SIZE: Final = 4
# Numbers that fit into 64 bits; longer ones stay text.
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")

Nested = dict[str, dict[str, dict[str, object]]]


class ExtraHardware(InspectionHook):
    """Convert the data of the extra-hardware collector, a list of lists, into the nested dictionary `extra` (S91)."""

    runs_dry = True
    plugin_data_keys = ("extra",)
    is_of_ramdisks = True

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Replace `data` of the plug-in data by `extra`; malformed data stay, or are dropped in strict mode."""
        if "data" not in plugin_data:
            return
        strict = CONF.inspector.extra_hardware_strict
        found = nested(plugin_data["data"], strict=strict)
        if found is None:
            LOG.warning(
                "Node %s: the data of the extra-hardware collector are no list of lists%s; they are %s",
                task.node.uuid,
                f" of {_SIZE} items" if strict else "",
                "dropped" if strict else "kept as they are",
            )
        else:
            plugin_data["extra"] = found
        if found is not None or strict:
            del plugin_data["data"]


def nested(data: object, *, strict: bool) -> Nested | None:
    """Return the data by class, instance and name, None when they are malformed."""
    if not isinstance(data, list) or not all(isinstance(item, list) for item in data):
        return None
    if strict and not all(_is_complete(item) for item in data):
        return None
    found: Nested = {}
    for item in data:
        if _is_complete(item):
            first, second, third, value = item
            found.setdefault(first, {}).setdefault(second, {})[third] = number_of(value)
    return found


def number_of(value: object) -> object:
    """Return decimal text as an integer, any other value unchanged."""
    return int(value) if isinstance(value, str) and _INTEGER.fullmatch(value.strip()) else value


def _is_complete(item: Sequence[object]) -> bool:
    return len(item) == _SIZE and all(isinstance(part, str) for part in item[:3])
