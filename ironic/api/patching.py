"""A patch from request to checked values, for every resource.

The patched document is checked again like a new one, but only in the fields that were touched; null and removal become
the field's empty value.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from ironic.api import input, json_patch
from ironic.api.fields import REQUIRED, Field, Resource
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.api.types import Json
from ironic.core.errors import InvalidParameterValue

if TYPE_CHECKING:
    from ironic.db.repository import Repository


def read(request: Request, resource: type[Resource]) -> list[Change]:
    """Read the patch of a request."""
    known = resource.writable("patch")
    return json_patch.read(request.json(), known, request.minor, request.settings.max_patch_operations)


def before(repository: "Repository[Any]", resource: type[Resource], ident: str, names: Iterable[str]) -> dict[str, Any]:
    """Return these columns of a row as callers know them; one statement, and only these."""
    columns = tuple(dict.fromkeys(names))
    found = dict(zip(columns, repository.row(columns, ident), strict=True))
    for name in columns:
        if name in resource.table.fields and isinstance(resource.table.fields[name].type, Json):
            found[name] = orjson.loads(found[name] or "{}")
    return found


def patched(
    resource: type[Resource], document: Mapping[str, Any], changes: Sequence[Change], minor: int
) -> dict[str, Any]:
    """Return the new values of the fields that a patch touches and that come out different."""
    known = resource.writable("patch")
    after = json_patch.apply(document, changes)
    touched = {change.root: after[change.root] for change in changes}
    for name, value in touched.items():
        if value is None:
            touched[name] = _without(known[name], changes)
    values = input.written(known, touched, minor)
    return {name: value for name, value in values.items() if value != document.get(name)}


def _without(one: Field, changes: Sequence[Change]) -> Any:
    """Return what a field that is never null has when a patch takes it away; other nulls are judged with the values."""
    if one.empty is REQUIRED:
        raise InvalidParameterValue(err=f"{one.name} must not be removed.")
    last = [change.op for change in changes if change.root == one.name][-1]
    return one.empty if last == "remove" and not one.nullable else None
