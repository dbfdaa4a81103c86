"""An inventory that can be read like any dictionary and not be written to (S82).

Hooks get it in this form, at every depth. Reading, comparing and encoding work as on plain dictionaries and lists; a
write raises InventoryIsReadOnly. A deep copy is plain again.
"""

import copy
from typing import Any, NoReturn, TypeVar, cast

from ironic.core.errors import HardwareInspectionFailure

T = TypeVar("T")


class InventoryIsReadOnly(HardwareInspectionFailure):
    """Something tried to change the inventory."""

    text = "The inventory is read-only. Change a copy, or leave what you find in the plug-in data."


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise InventoryIsReadOnly()


class ReadOnlyDict(dict[str, Any]):
    """A dictionary that stays as it is."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    pop = popitem = clear = update = setdefault = _refuse

    def __deepcopy__(self, memo: dict[int, object]) -> dict[str, object]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}


class ReadOnlyList(list[Any]):
    """A list that stays as it is."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = remove = pop = clear = sort = reverse = _refuse

    def __deepcopy__(self, memo: dict[int, object]) -> list[object]:
        return [copy.deepcopy(value, memo) for value in self]


def read_only(value: T) -> T:
    """Return plain data as a read-only copy."""
    if isinstance(value, dict):
        return cast(T, ReadOnlyDict((key, read_only(inner)) for key, inner in value.items()))
    if isinstance(value, list):
        return cast(T, ReadOnlyList(read_only(inner) for inner in value))
    return value
