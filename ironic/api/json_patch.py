"""Changing a document by a list of operations (a part of RFC 6902: add, replace, remove).

Two steps, both pure: `read` checks the form of the list as clients know it (doc/contract/requests.md#patches) and
which root fields may be changed in which version; `apply` carries it out on a copy, all operations or none. Paths have
a narrow syntax, so `~` escapes appear only where a resource allows any path.
"""

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ironic.api.errors import unacceptable
from ironic.api.request import printable
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.fields import Field

PATH: Final = re.compile(r"(/[A-Za-z0-9_-]+)+")
# Any key at all, with `~` and `/` in it written as RFC 6901 has it.
ANY_PATH: Final = re.compile(r"(/([^/~]|~[01])*)+")
_PLAIN: Final = ", of letters, digits, '-' and '_'; to write other keys, replace the object that they are in"
# Operations that need a value.
WRITING: Final = frozenset({"add", "replace"})
OPERATIONS: Final = WRITING | {"remove"}
KEYS: Final = frozenset({"op", "path", "value"})
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")


@dataclass(frozen=True, slots=True)
class Change:
    """One operation: its path split, its value."""

    op: str
    path: tuple[str, ...]
    value: Any = None

    @property
    def root(self) -> str:
        """The field it changes."""
        return self.path[0]

    @property
    def is_whole(self) -> bool:
        """Tell whether it is about the field itself, not about something inside."""
        return len(self.path) == 1


def read(
    raw: object, patchable: Mapping[str, Field], minor: int, most: int, syntax: re.Pattern[str] = PATH
) -> list[Change]:
    """Check the form of a patch and the fields it is about."""
    if not isinstance(raw, list):
        raise InvalidParameterValue(err="A patch has to be a list of operations.")
    if len(raw) > most:
        raise InvalidParameterValue(err=f"A patch must not have more than {most} operations.")
    changes = [_change(item, syntax) for item in raw]
    for change in changes:
        _check_root(change, patchable, minor)
    return changes


def _change(item: object, syntax: re.Pattern[str]) -> Change:
    if not isinstance(item, dict):
        raise InvalidParameterValue(err="An operation of a patch has to be an object with op, path and value.")
    op, path = item.get("op"), item.get("path")
    if not isinstance(op, str) or op not in OPERATIONS:
        raise InvalidParameterValue(err="The op of a patch has to be add, replace or remove.")
    if not isinstance(path, str) or not syntax.fullmatch(path):
        hint = "" if syntax is ANY_PATH else _PLAIN
        raise InvalidParameterValue(err=f"The path of a patch has to be like /field or /field/key{hint}.")
    if unknown := item.keys() - KEYS:
        raise InvalidParameterValue(err=f"Unknown in a patch: {', '.join(sorted(map(printable, unknown)))}.")
    if op in WRITING and "value" not in item:
        raise InvalidParameterValue(err=f"Operation {op} at {printable(path)} needs a value.")
    return Change(op, tuple(map(_key, path[1:].split("/"))), item.get("value"))


def _key(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _check_root(change: Change, patchable: Mapping[str, Field], minor: int) -> None:
    one = patchable.get(change.root)
    if one is None:
        raise InvalidParameterValue(err=f"{printable(change.root)} can't be changed by a patch.")
    # A removal of something the caller can't see does no harm and always was let through.
    if one.since > minor and change.op != "remove":
        raise unacceptable(f"Field {change.root}", one.since)
    if change.op == "remove" and change.is_whole and one.removed_since != 1:
        if one.removed_since is None:
            raise InvalidParameterValue(err=f"{change.root} must not be removed.")
        if one.removed_since > minor:
            raise unacceptable(f"Removing {change.root}", one.removed_since)


def apply(document: Mapping[str, object], changes: Sequence[Change]) -> dict[str, object]:
    """Return the changed copy of a document; the original stays as it is."""
    changed: dict[str, Any] = dict(document)
    copied: set[str] = set()
    for change in changes:
        if change.root not in copied:
            changed[change.root] = copy.deepcopy(changed.get(change.root))
            copied.add(change.root)
        _apply(changed, change)
    return changed


def _apply(document: dict[str, object], change: Change) -> None:
    if change.is_whole:
        # Every field is there, perhaps as null, so replace and remove always find it.
        document[change.root] = copy.deepcopy(change.value)
        return
    inner = document[change.root]
    for key in change.path[1:-1]:
        inner = _step(inner, key, change)
    key = change.path[-1]
    if isinstance(inner, dict):
        _change_object(inner, key, change)
    elif isinstance(inner, list):
        _change_list(inner, key, change)
    else:
        raise _no_such(change)


def _step(inner: object, key: str, change: Change) -> object:
    if isinstance(inner, dict) and key in inner:
        return inner[key]
    if isinstance(inner, list):
        return inner[_index(inner, key, change, len(inner) - 1)]
    raise _no_such(change)


def _change_object(inner: dict[str, object], key: str, change: Change) -> None:
    if change.op != "add" and key not in inner:
        raise _no_such(change)
    if change.op == "remove":
        del inner[key]
    else:
        inner[key] = copy.deepcopy(change.value)


def _change_list(inner: list[object], key: str, change: Change) -> None:
    value = copy.deepcopy(change.value)
    if change.op == "add":
        at = len(inner) if key == "-" else _index(inner, key, change, len(inner))
        inner.insert(at, value)
    elif change.op == "replace":
        inner[_index(inner, key, change, len(inner) - 1)] = value
    else:
        del inner[_index(inner, key, change, len(inner) - 1)]


def _index(inner: Sequence[object], key: str, change: Change, last: int) -> int:
    if not _INDEX.fullmatch(key) or int(key) > last:
        raise _no_such(change)
    return int(key)


def _no_such(change: Change) -> InvalidParameterValue:
    path = printable("/".join(("", *change.path)))
    return InvalidParameterValue(err=f"Operation {change.op} at {path} finds nothing there.")
