"""Inspection data as the ramdisk has posted them, kept beside what hooks and rules have made of them.

Nothing changes the inventory, so only plug-in data have two forms. What was posted is stored under one key of the
plug-in data as the difference: the keys that processing has added, and the former values of those that it has changed
or removed. Processing can be repeated with it. The key is left out where plug-in data are shown.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

KEY: Final = "ironic_unprocessed_data"
_ADDED: Final = "added"
_FORMER: Final = "former"


def copy_of(plugin_data: Mapping[str, object]) -> dict[str, Any]:
    """Return a copy of posted plug-in data, to be compared after processing."""
    copied: dict[str, Any] = orjson.loads(orjson.dumps(plugin_data, default=str, option=orjson.OPT_NON_STR_KEYS))
    return copied


def with_difference(plugin_data: Mapping[str, object], posted: Mapping[str, object]) -> dict[str, object]:
    """Return processed plug-in data with the difference to the posted ones."""
    processed = {name: value for name, value in plugin_data.items() if name != KEY}
    added = sorted(processed.keys() - posted.keys())
    former = {
        name: value
        for name, value in posted.items()
        if name != KEY and (name not in processed or processed[name] != value)
    }
    if added or former:
        processed[KEY] = {_ADDED: added, _FORMER: former}
    return processed


def processed_part(plugin_data: Mapping[str, object]) -> dict[str, object]:
    """Return stored plug-in data without the difference."""
    return {name: value for name, value in plugin_data.items() if name != KEY}


def processed_text(text: str) -> str:
    """Return stored plug-in data as JSON without the difference."""
    if f'"{KEY}"' not in text:
        return text
    return orjson.dumps(processed_part(orjson.loads(text))).decode()


def posted_part(plugin_data: Mapping[str, Any]) -> dict[str, object]:
    """Return plug-in data as they were posted."""
    difference = plugin_data.get(KEY)
    processed = processed_part(plugin_data)
    if not isinstance(difference, dict):
        return processed
    for name in difference.get(_ADDED, ()):
        processed.pop(name, None)
    return {**processed, **difference.get(_FORMER, {})}
