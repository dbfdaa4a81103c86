"""JSON patches (RFC 6902: add, replace, remove), from the operations of a request to checked values.

`read` checks the form of the operations (doc/contract/requests.md#patches) and which fields of the resource they may
change in which version. `apply` carries them out on a copy of the document, all or none. `patched` does so for the
fields of a resource: the patched document is checked like a new one, but only in the fields that the patch touches;
null and removal become the field's empty value. Before 1.98 paths have a narrow syntax; `~` escapes appear only where
a resource allows any path.
"""

import copy
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson
import tenacity

from ironic.api import access, arguments
from ironic.api.error_responses import unacceptable
from ironic.api.request import Request, printable
from ironic.core.errors import ChangedMeanwhile, InvalidParameterValue
from ironic.core.model.fields import REQUIRED, Field, Resource
from ironic.core.secrets import secret_updates
from ironic.core.values.value_types import Json

if TYPE_CHECKING:
    from ironic.db.repository import Repository


PATH: Final = re.compile(r"(/[A-Za-z0-9_-]+)+")
# Any key, with `~` and `/` escaped as in RFC 6901.
ANY_PATH: Final = re.compile(r"(/([^/~]|~[01])*)+")
# The version from which on every resource takes any path.
ANY_PATH_SINCE: Final = 98
_PATH_HINT: Final = ", of letters, digits, '-' and '_'; to write other keys, replace the object that contains them"
# Operations that need a value.
WRITING: Final = frozenset({"add", "replace"})
OPERATIONS: Final = WRITING | {"remove"}
KEYS: Final = frozenset({"op", "path", "value"})
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")


@dataclass(frozen=True, slots=True)
class Change:
    """One operation of a patch; ``path`` is split into keys, of which ``root`` is the first: the field it changes."""

    op: str
    path: tuple[str, ...]
    value: Any = None
    root: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", self.path[0])

    @property
    def is_whole(self) -> bool:
        """Whether the operation changes the field itself, not something inside of it."""
        return len(self.path) == 1


def read(
    raw: object,
    patchable: Mapping[str, Field],
    minor: int,
    most: int,
    syntax: re.Pattern[str] = PATH,
    *,
    removes_newer: bool = True,
) -> list[Change]:
    """Return the operations of a patch; raises an error for a malformed one and for a field that it must not change.

    ``patchable`` has the fields of all versions, ``most`` is the greatest number of operations. ``removes_newer``: the
    removal of a field that the version does not have is accepted, without an effect.
    """
    if not isinstance(raw, list):
        raise InvalidParameterValue(err="A patch has to be a list of operations.")
    if len(raw) > most:
        raise InvalidParameterValue(err=f"A patch must not have more than {most} operations.")
    changes = [_parsed(item, syntax) for item in raw]
    for change in changes:
        one = patchable.get(change.root)
        if one is None:
            raise InvalidParameterValue(err=f"{printable(change.root)} can't be changed by a patch.")
        if one.since > minor and (change.op != "remove" or not removes_newer):
            raise unacceptable(f"Field {change.root}", one.since)
        if change.op == "remove" and change.is_whole and one.removed_since != 1:
            if one.removed_since is None:
                raise InvalidParameterValue(err=f"{change.root} must not be removed.")
            if one.removed_since > minor:
                raise unacceptable(f"Removing {change.root}", one.removed_since)
    return changes


def _parsed(item: object, syntax: re.Pattern[str]) -> Change:
    """Return one operation after a check of its form."""
    if not isinstance(item, dict):
        raise InvalidParameterValue(err="An operation of a patch has to be an object with op, path and value.")
    op, path = item.get("op"), item.get("path")
    if not isinstance(op, str) or op not in OPERATIONS:
        raise InvalidParameterValue(err="The op of a patch has to be add, replace or remove.")
    if not isinstance(path, str) or not syntax.fullmatch(path):
        hint = "" if syntax is ANY_PATH else _PATH_HINT
        raise InvalidParameterValue(err=f"The path of a patch has to be like /field or /field/key{hint}.")
    if unknown := item.keys() - KEYS:
        raise InvalidParameterValue(err=f"Unknown keys in a patch: {', '.join(sorted(map(printable, unknown)))}.")
    if op in WRITING and "value" not in item:
        raise InvalidParameterValue(err=f"Operation {op} at {printable(path)} needs a value.")
    keys = (part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/"))
    return Change(op, tuple(keys), item.get("value"))


def apply(document: Mapping[str, object], changes: Sequence[Change]) -> dict[str, object]:
    """Return the changed copy of a document; raises InvalidParameterValue for a path that does not exist."""
    changed: dict[str, Any] = dict(document)
    copied: set[str] = set()
    for change in changes:
        if change.root not in copied:
            changed[change.root] = copy.deepcopy(changed.get(change.root))
            copied.add(change.root)
        if change.is_whole:
            # Every field is there, perhaps as null, so replace and remove always find it.
            changed[change.root] = copy.deepcopy(change.value)
            continue
        inner = changed[change.root]
        for key in change.path[1:-1]:
            if isinstance(inner, dict) and key in inner:
                inner = inner[key]
            elif isinstance(inner, list):
                inner = inner[_index(inner, key, change, len(inner) - 1)]
            else:
                raise _no_such(change)
        key = change.path[-1]
        if isinstance(inner, list):
            _change_list(inner, key, change)
        elif not isinstance(inner, dict) or (change.op != "add" and key not in inner):
            raise _no_such(change)
        elif change.op == "remove":
            del inner[key]
        else:
            inner[key] = copy.deepcopy(change.value)
    return changed


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
    return InvalidParameterValue(err=f"Operation {change.op} at {path} names nothing that exists.")


def before_patch(
    repository: "Repository[Any]", resource: type[Resource], ident: str, names: Iterable[str]
) -> dict[str, Any]:
    """Return these fields of a row as callers know them, read in one statement; raises the resource's "not found"."""
    columns = tuple(dict.fromkeys(names))
    found = dict(zip(columns, repository.row(columns, ident), strict=True))
    for name in columns:
        if name in resource.table.fields and isinstance(resource.table.fields[name].type, Json):
            found[name] = orjson.loads(found[name] or "{}")
    return found


# For the handler of a patch whose new values are stored elsewhere: if another request is faster, both changes are kept.
repeated_if_changed = tenacity.retry(
    retry=tenacity.retry_if_exception_type(ChangedMeanwhile), stop=tenacity.stop_after_attempt(10), reraise=True
)


def made_from(document: Mapping[str, object], values: Iterable[str]) -> dict[str, object]:
    """Return the objects of a document of which a patch may have changed a part only, and kept the rest."""
    return {name: document[name] for name in values if isinstance(document.get(name), dict)}


def patched(
    resource: type[Resource], document: Mapping[str, object], changes: Sequence[Change], request: Request
) -> dict[str, Any]:
    """Return the new values, checked, of the fields that a patch changes to another value.

    ``document`` has the present values of all fields that the patch touches. Raises an error for a value that the field
    does not take.
    """
    known = resource.writable("patch")
    after = apply(document, changes)
    touched = {change.root: after[change.root] for change in changes}
    last_op = {change.root: change.op for change in changes}
    for name, value in touched.items():
        one = known[name]
        if value is None:
            if one.empty is REQUIRED:
                raise InvalidParameterValue(err=f"{name} must not be removed.")
            # A removed field that is never null gets its empty value; any other null is checked with the values.
            touched[name] = one.empty if last_op[name] == "remove" and not one.nullable else None
        elif one.mask is not None:
            touched[name] = secret_updates.restored_secrets(value, document.get(name), one.mask)
    values = arguments.checked_fields(known, touched, request.minor)
    changed = {name: value for name, value in values.items() if value != document.get(name)}
    arguments.check_sizes(known, changed, document, request.settings.largest_field)
    return changed


def check_logins(
    request: Request,
    rule: str,
    name: str,
    document: Mapping[str, Any],
    values: Mapping[str, Any],
    changes: Sequence[Change],
) -> None:
    """Raise InvalidParameterValue when a project's patch would send stored secrets, which it never sees, elsewhere.

    ``rule`` guards changes of the field ``name``; ``document`` is what `patched` took and ``values`` what it returned.
    """
    if name not in values or not access.acts_for_project(request, rule):
        return
    names = secret_updates.redirected_secrets(document[name] or {}, values[name], written(changes)[name])
    secret_updates.refuse_redirected(names, name)


def written(changes: Sequence[Change]) -> Mapping[str, secret_updates.Written]:
    """Return what a patch writes by field, path in the field and value, in its order; nothing for other fields."""
    found = defaultdict[str, list[tuple[secret_updates.Path, object]]](list)
    for change in changes:
        if change.op != "remove":
            found[change.root].append((change.path[1:], change.value))
    return found
