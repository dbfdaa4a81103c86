"""What comes in, checked by types generated from the field table.

Bodies and queries go through the same reader: a WSME complex type is made per set of fields and version (lazily, the
registry never forgets one), unknown keys are refused, null stays apart from "not given". A key that exists but is newer
than the caller's version is a 406, which has to be told from an unknown one (400) before WSME looks.
"""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import wsme
import wsme.exc
import wsme.rest.json
import wsme.types

from ironic.api.errors import unacceptable
from ironic.api.fields import REQUIRED, Field, Resource
from ironic.api.request import printable
from ironic.api.types import ValueType, Words
from ironic.core.errors import InvalidParameterValue, MissingParameterValue

Types = tuple[tuple[str, ValueType], ...]


@functools.cache
def input_type(types: Types) -> type:
    """Make the WSME type of these named values."""
    attributes: dict[str, Any] = {_attribute(name): wsme.types.wsattr(kind, name=name) for name, kind in types}
    # Without the order WSME searches source files for it.
    made = type("Input", (wsme.types.Base,), attributes | {"_wsme_attr_order": tuple(attributes)})
    wsme.types.registry.register(made)
    return made


def check(types: Types, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values as their types want them stored, or refuse them."""
    try:
        read = wsme.rest.json.fromjson(input_type(types), given)
    except wsme.exc.UnknownAttribute as error:
        raise InvalidParameterValue(err=f"Unknown: {_listed(error.attributes)}.") from None
    except wsme.exc.InvalidInput as error:
        # The library's own text quotes the value, which may be a secret.
        raise InvalidParameterValue(err=f"{error.fieldname} {error.msg}.") from None
    return {name: getattr(read, _attribute(name)) for name in given}


def _attribute(name: str) -> str:
    # Keys of other services have colons, which no attribute can have.
    return name.replace(":", "_")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(printable(str(name)) for name in sorted(names))


def require_object(raw: Any) -> dict[str, Any]:
    """Return a body that has to be a JSON object."""
    if not isinstance(raw, dict):
        raise InvalidParameterValue(err="The request body has to be a JSON object.")
    return raw


def create(resource: type[Resource], raw: Any, minor: int) -> dict[str, Any]:
    """Read the body that creates a thing: only what was given, checked, null turned into what it means."""
    given = require_object(raw)
    known = resource.writable("create")
    if unknown := given.keys() - known.keys():
        raise InvalidParameterValue(err=f"Not settable in a new {resource.singular}: {_listed(unknown)}.")
    values = _of_version(known, given, minor)
    for name, one in known.items():
        if one.empty is REQUIRED and values.get(name) is None:
            raise MissingParameterValue(err=f"{name} is required.")
    return written(known, values, minor)


def _of_version(known: Mapping[str, Field], given: Mapping[str, Any], minor: int) -> dict[str, Any]:
    """Drop null in fields newer than the version; any other value there is a 406."""
    newer = [name for name in given if known[name].since > minor]
    for name in newer:
        if given[name] is not None:
            raise unacceptable(f"Field {name}", known[name].since)
    return {name: value for name, value in given.items() if name not in newer}


def written(known: Mapping[str, Field], values: Mapping[str, Any], minor: int) -> dict[str, Any]:
    """Check values of fields; null becomes the field's empty value where it may be null."""
    present = {name: value for name, value in values.items() if value is not None}
    checked = check(tuple((name, known[name].type.at(minor)) for name in present), present)
    return {name: checked[name] if name in checked else _null(known[name]) for name in values}


def _null(one: Field) -> Any:
    if not one.nullable:
        raise InvalidParameterValue(err=f"{one.name} must not be null.")
    return one.empty


def arguments(given: Mapping[str, Any], optional: Types, required: Types = ()) -> dict[str, Any]:
    """Read the arguments of an action; null counts as not given."""
    types = dict(required) | dict(optional)
    if unknown := given.keys() - types.keys():
        raise InvalidParameterValue(err=f"Unknown: {_listed(unknown)}.")
    present = {name: value for name, value in given.items() if value is not None}
    for name, _ in required:
        if name not in present:
            raise MissingParameterValue(err=f"{name} is required.")
    return check(tuple((name, types[name]) for name in present), present)


def query(pairs: Iterable[tuple[str, str]], types: Mapping[str, ValueType]) -> dict[str, Any]:
    """Read query parameters; a repeated one is refused unless it is a list."""
    given: dict[str, str] = {}
    for name, value in pairs:
        if name not in types:
            raise InvalidParameterValue(err=f"Unknown query parameter: {printable(name)}.")
        if name in given and not isinstance(types[name], Words):
            raise InvalidParameterValue(err=f"Query parameter {name} is given twice.")
        given[name] = f"{given[name]},{value}" if name in given else value
    if not given:
        return {}
    return check(tuple((name, types[name]) for name in given), given)
