"""A patch from request to checked values, for every resource.

The patched document is checked again like a new one, but only in the fields that were touched; null and removal become
the field's empty value.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ironic.api import input, json_patch
from ironic.api.fields import REQUIRED, Field, Resource
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.core.errors import InvalidParameterValue


def read(request: Request, resource: type[Resource]) -> list[Change]:
    """Read the patch of a request."""
    known = resource.writable("patch")
    return json_patch.read(request.json(), known, request.minor, request.settings.max_patch_operations)


def patched(
    resource: type[Resource], document: Mapping[str, Any], changes: Sequence[Change], minor: int
) -> dict[str, Any]:
    """Return the new values of the fields that a patch touches and that come out different."""
    known = resource.writable("patch")
    after = json_patch.apply(document, changes)
    touched = {change.root: after[change.root] for change in changes}
    for name, value in touched.items():
        if value is None:
            _check_removable(known[name])
    values = input.written(known, touched, minor)
    return {name: value for name, value in values.items() if value != document.get(name)}


def _check_removable(one: Field) -> None:
    if one.empty is REQUIRED:
        raise InvalidParameterValue(err=f"{one.name} must not be removed.")
