"""Paths in plain data, and reading and patching data by path.

Rules write a path as `/a/b/0`, as in a JSON patch, or shorter as `a.b`; here it is a tuple of keys. An expression in a
longer path always yields one key, so that a name that a machine reports can't lead to a place that the rule does not
name.

Patches are JSON patches with three operations: "add" sets a value in an object or appends it to a list ("-"), "replace"
changes an item of a list, "remove" removes. Applying a patch copies the values, so later changes of the data don't
change the patch.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.core.rules.interpolation import Lookup, Text, Whole
from ironic.core.rules.limits import RuleFault

Path = tuple[str, ...]

APPEND: Final = "-"
_MOST_KEYS: Final = 32
_LONGEST: Final = 4096  # characters


class BadPath(ValueError):
    """An invalid path; the message says why."""


def parsed(text: str) -> Path:
    """Return the keys of a path; raises BadPath."""
    if len(text) > _LONGEST:
        raise BadPath(f"a path is longer than {_LONGEST} characters")
    keys = _pointer_keys(text[1:]) if text.startswith("/") else text.split(".")
    if not all(keys):
        raise BadPath("a path must be /key/key or key.key, without empty keys")
    if len(keys) > _MOST_KEYS:
        raise BadPath(f"a path has more than {_MOST_KEYS} keys")
    return tuple(keys)


def without_braces(text: str) -> str:
    """Return a literal path that may stand in braces as a whole: authors used to other templates write them, double."""
    return text[1:-1].strip() if text.startswith("{") and text.endswith("}") else text


def parsed_at_run_time(value: object) -> Path:
    """Return the keys of a rendered path; raises RuleFault."""
    if not isinstance(value, str) or not value:
        raise RuleFault("the path is missing or not text")
    try:
        return parsed(value)
    except BadPath as error:
        raise RuleFault(str(error)) from None


def pointer(path: Path) -> str:
    """Return the JSON pointer of a path."""
    return "".join(f"/{_escaped(key)}" for key in path)


def whole_path(lookup: Lookup) -> Whole:
    """Return the template of a path that one expression yields; a value that a machine reported is a single key."""
    return Whole(lookup, lambda text: f"/{_escaped(text)}")


def path_template(text: Text) -> Text:
    """Return the template of a path with expressions, as a JSON pointer in which each expression yields one key."""
    if isinstance(first := text.parts[0], str) and first.startswith("/"):
        return Text(text.parts, _escaped)
    dotted = (".", *text.parts)
    parts = (_escaped(part).replace(".", "/") if isinstance(part, str) else part for part in dotted)
    return Text(tuple(parts), _escaped)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _pointer_keys(text: str) -> list[str]:
    keys = text.split("/")
    return [key.replace("~1", "/").replace("~0", "~") for key in keys] if "~" in text else keys


Operation = dict[str, Any]
Patch = list[Operation]


def find(data: object, path: Path) -> object:
    """Return the value at a path; None if there is none."""
    for key in path:
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and (index := _index(data, key)) is not None:
            data = data[index]
        else:
            return None
    return data


def holds(data: object, path: Path) -> bool:
    """Return whether there is a value at a path; null is one."""
    above = find(data, path[:-1])
    if isinstance(above, dict):
        return path[-1] in above
    return isinstance(above, list) and _index(above, path[-1]) is not None


def put_operation(data: object, path: Path, value: object) -> Operation:
    """Return the operation that sets the value at a path of this data."""
    replaces = path[-1] != APPEND and isinstance(find(data, path[:-1]), list)
    return {"op": "replace" if replaces else "add", "path": pointer(path), "value": value}


def put(data: object, path: Path, value: object) -> None:
    """Set the value at a path, without copying it; raises RuleFault if there is no such place."""
    above, key = find(data, path[:-1]), path[-1]
    if isinstance(above, dict):
        above[key] = value
    elif isinstance(above, list) and key == APPEND:
        above.append(value)
    elif isinstance(above, list) and (index := _index(above, key)) is not None:
        above[index] = value
    else:
        raise RuleFault(f"{pointer(path)} can't be set: the value above it is no object, or a list without this index")


def remove(data: object, path: Path) -> None:
    """Remove the value at a path, if there is one."""
    above, key = find(data, path[:-1]), path[-1]
    if isinstance(above, dict):
        above.pop(key, None)
    elif isinstance(above, list) and (index := _index(above, key)) is not None:
        del above[index]


def apply(data: object, patch: Patch) -> None:
    """Apply a patch to plain data."""
    for operation in patch:
        path = keys_of(operation)
        if operation["op"] == "remove":
            remove(data, path)
        else:
            put(data, path, copy(operation["value"]))


def keys_of(operation: Mapping[str, Any]) -> Path:
    """Return the path of an operation as keys."""
    return tuple(_pointer_keys(operation["path"][1:]))


def copy(value: object) -> Any:
    """Return a deep copy of plain data."""
    if isinstance(value, dict):
        return {key: copy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [copy(inner) for inner in value]
    return value


def _index(items: Sequence[object], key: str) -> int | None:
    """Return the index in a list that a key stands for; None if the list has no such index."""
    if not (key.isascii() and key.isdigit() and len(key) < 10):
        return None
    return index if (index := int(key)) < len(items) else None
