"""Reading what a machine reported, where nothing is sure to be there or of the right type.

A machine may send anything. These return None for what is missing or of another type, so that a hook decides in one
place what that means, and no odd inventory ends in a traceback.
"""

import itertools
from collections.abc import Iterable, Mapping
from typing import Final

_MOST_LISTED: Final = 16
_LONGEST_LISTED: Final = 32


def at(data: object, *keys: str) -> object:
    """Return what stands under these keys, None when something on the way is missing."""
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def text_at(data: object, *keys: str) -> str | None:
    """Return the text that stands there."""
    value = at(data, *keys)
    return value if isinstance(value, str) else None


def list_at(data: object, *keys: str) -> list[object]:
    """Return the list that stands there, an empty one when none does."""
    value = at(data, *keys)
    return value if isinstance(value, list) else []


def whole_number_at(data: object, *keys: str) -> int | None:
    """Return the whole number that stands there, written as a number or as text."""
    value = at(data, *keys)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return None


def listed(names: Iterable[str]) -> str:
    """Return names that a machine chose as text for a message: quoted, cut short, not too many."""
    first = list(itertools.islice(names, _MOST_LISTED + 1))
    shown = ", ".join(repr(name[:_LONGEST_LISTED]) for name in first[:_MOST_LISTED])
    return f"{shown} and more" if len(first) > _MOST_LISTED else shown
