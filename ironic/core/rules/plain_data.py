"""Reading and patching plain data (objects, lists, scalars) by path.

Patches are JSON patches of two operations: "add" puts a value into an object or behind the end of a list ("-"),
"replace" changes an item of a list, "remove" takes away. Applying one copies the value, so that a patch stays what it
was when the data changes later.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ironic.core.rules.faults import RuleFault
from ironic.core.rules.paths import APPEND, Path, pointer

Operation = dict[str, Any]
Patch = list[Operation]


def find(data: object, path: Path) -> object:
    """Return what stands at a path, None when nothing does."""
    for key in path:
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and (index := _index(data, key)) is not None:
            data = data[index]
        else:
            return None
    return data


def holds(data: object, path: Path) -> bool:
    """Tell whether something, null included, stands at a path."""
    above = find(data, path[:-1])
    if isinstance(above, dict):
        return path[-1] in above
    return isinstance(above, list) and _index(above, path[-1]) is not None


def putting(data: object, path: Path, value: object) -> Operation:
    """Return the operation that puts a value at a path of this data."""
    replaces = path[-1] != APPEND and isinstance(find(data, path[:-1]), list)
    return {"op": "replace" if replaces else "add", "path": pointer(path), "value": value}


def place(data: object, path: Path, value: object) -> None:
    """Put a value at a path; the value itself, not a copy."""
    above, key = find(data, path[:-1]), path[-1]
    if isinstance(above, dict):
        above[key] = value
    elif isinstance(above, list) and key == APPEND:
        above.append(value)
    elif isinstance(above, list) and (index := _index(above, key)) is not None:
        above[index] = value
    else:
        raise RuleFault(f"{pointer(path)} can't be set: what stands above it has no such place")


def take(data: object, path: Path) -> None:
    """Take away what stands at a path, if anything does."""
    above, key = find(data, path[:-1]), path[-1]
    if isinstance(above, dict):
        above.pop(key, None)
    elif isinstance(above, list) and (index := _index(above, key)) is not None:
        del above[index]


def apply(data: object, patch: Patch) -> None:
    """Carry out a patch on plain data."""
    for operation in patch:
        path = keys_of(operation)
        if operation["op"] == "remove":
            take(data, path)
        else:
            place(data, path, copy(operation["value"]))


def keys_of(operation: Mapping[str, Any]) -> Path:
    """Return the path of an operation as keys."""
    pointed = operation["path"][1:].split("/")
    if "~" not in operation["path"]:
        return tuple(pointed)
    return tuple(key.replace("~1", "/").replace("~0", "~") for key in pointed)


def copy(value: object) -> Any:
    """Return a deep copy of plain data."""
    if isinstance(value, dict):
        return {key: copy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [copy(inner) for inner in value]
    return value


def _index(items: Sequence[object], key: str) -> int | None:
    """Return the place in a list that a key means, None when it means none."""
    if not (key.isascii() and key.isdigit() and len(key) < 10):
        return None
    return index if (index := int(key)) < len(items) else None
