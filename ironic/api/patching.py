"""A patch from its operations to checked values, for every resource.

The patched document is checked again like a new one, but only in the fields that were touched; null and removal become
the field's empty value.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from ironic.api import access, input, json_patch
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.core import logins, sent_back
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.fields import REQUIRED, Field, Resource
from ironic.core.values import Json

if TYPE_CHECKING:
    from ironic.db.repository import Repository


def before(repository: "Repository[Any]", resource: type[Resource], ident: str, names: Iterable[str]) -> dict[str, Any]:
    """Return these columns of a row as callers know them; one statement, and only these."""
    columns = tuple(dict.fromkeys(names))
    found = dict(zip(columns, repository.row(columns, ident), strict=True))
    for name in columns:
        if name in resource.table.fields and isinstance(resource.table.fields[name].type, Json):
            found[name] = orjson.loads(found[name] or "{}")
    return found


def patched(
    resource: type[Resource], document: Mapping[str, object], changes: Sequence[Change], minor: int
) -> dict[str, Any]:
    """Return the new values of the fields that a patch touches and that come out different."""
    known = resource.writable("patch")
    after = json_patch.apply(document, changes)
    touched = {change.root: after[change.root] for change in changes}
    for name, value in touched.items():
        if value is None:
            touched[name] = _without(known[name], changes)
        elif (mask := known[name].mask) is not None:
            touched[name] = sent_back.restored(value, document.get(name), mask)
    values = input.written(known, touched, minor)
    return {name: value for name, value in values.items() if value != document.get(name)}


def check_logins(
    request: Request,
    rule: str,
    name: str,
    document: Mapping[str, Any],
    values: Mapping[str, Any],
    changes: Sequence[Change],
) -> None:
    """Refuse that a project has stored secrets, which it is never shown, sent where it likes.

    ``rule`` lets the caller change the field ``name``; ``document`` and ``values`` are what `patched` took and gave.
    """
    if name not in values or not access.acts_for_project(request, rule):
        return
    written = [(change.path[1:], change.value) for change in changes if change.root == name and change.op != "remove"]
    if names := logins.withheld(document[name] or {}, values[name], written):
        raise InvalidParameterValue(
            err=f"{name} leads logins to another place, so the secrets that go there have to be in the same patch: "
            f"{', '.join(names)}."
        )


def _without(one: Field, changes: Sequence[Change]) -> object:
    """Return what a field that is never null has when a patch takes it away; other nulls are judged with the values."""
    if one.empty is REQUIRED:
        raise InvalidParameterValue(err=f"{one.name} must not be removed.")
    last = [change.op for change in changes if change.root == one.name][-1]
    return one.empty if last == "remove" and not one.nullable else None
