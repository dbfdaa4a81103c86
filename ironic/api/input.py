"""What comes in, checked by the types that the field table and the route table declare.

Bodies and queries go through the same reader: each value is given to its own WSME user type, unknown keys are refused,
null stays apart from "not given". A key that exists but is newer than the caller's version is a 406, which is told from
an unknown one (400). Types are declared once, when a module is loaded; a request makes none, whichever fields it names:
WSME's registry never forgets a class.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any

import wsme.types

from ironic.api.errors import unacceptable
from ironic.api.request import printable
from ironic.core import sent_back
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.model.fields import REQUIRED, Field, Resource
from ironic.core.values import ValueType, Words


def check(types: Mapping[str, ValueType], given: Mapping[str, object]) -> dict[str, Any]:
    """Return the given values, each of which has a type, as these want them stored, or refuse them."""
    return {name: checked(name, types[name], value) for name, value in given.items()}


def refuse_unknown(given: Iterable[str], known: Container[str]) -> None:
    """Refuse what is not known."""
    if unknown := [name for name in given if name not in known]:
        raise InvalidParameterValue(err=f"Unknown: {_listed(unknown)}.")


def checked(name: str, kind: ValueType, value: object) -> object:
    """Return one value as its type wants it stored, or refuse it."""
    try:
        return wsme.types.validate_value(kind, value)
    except (ValueError, TypeError) as error:
        raise InvalidParameterValue(err=f"{name} {error}.") from None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(printable(str(name)) for name in sorted(names))


def require_object(raw: object) -> dict[str, object]:
    """Return a body that has to be a JSON object."""
    if not isinstance(raw, dict):
        raise InvalidParameterValue(err="The request body has to be a JSON object.")
    return raw


def create(resource: type[Resource], raw: object, minor: int) -> dict[str, object]:
    """Read the body that creates a thing: only what was given, checked, null turned into what it means."""
    given = require_object(raw)
    known = resource.writable("create")
    if unknown := given.keys() - known.keys():
        raise InvalidParameterValue(err=f"Not settable in a new {resource.singular}: {_listed(unknown)}.")
    values = _of_version(known, given, minor)
    for name, one in known.items():
        if one.empty is REQUIRED and values.get(name) is None:
            raise MissingParameterValue(err=f"{name} is required.")
    return {name: _unmasked(known[name], value) for name, value in written(known, values, minor).items()}


def _unmasked(one: Field, value: object) -> object:
    return value if one.mask is None else sent_back.restored(value, None, one.mask)


def _of_version(known: Mapping[str, Field], given: Mapping[str, object], minor: int) -> dict[str, object]:
    """Drop null in fields newer than the version; any other value there is a 406."""
    newer = [name for name in given if known[name].since > minor]
    for name in newer:
        if given[name] is not None:
            raise unacceptable(f"Field {name}", known[name].since)
    return {name: value for name, value in given.items() if name not in newer}


def written(known: Mapping[str, Field], values: Mapping[str, object], minor: int) -> dict[str, Any]:
    """Check values of fields; null becomes the field's empty value where it may be null."""
    present = {name: value for name, value in values.items() if value is not None}
    checked = check({name: known[name].type.at(minor) for name in present}, present)
    return {name: checked[name] if name in checked else _null(known[name]) for name in values}


def _null(one: Field) -> object:
    if not one.nullable:
        raise InvalidParameterValue(err=f"{one.name} must not be null.")
    return one.empty


def query(pairs: Iterable[tuple[str, str]], types: Mapping[str, ValueType]) -> dict[str, Any]:
    """Read query parameters; a repeated one is refused unless it is a list."""
    given: dict[str, str] = {}
    for name, value in pairs:
        if name not in types:
            raise InvalidParameterValue(err=f"Unknown query parameter: {printable(name)}.")
        if name in given and not isinstance(types[name], Words):
            raise InvalidParameterValue(err=f"Query parameter {name} is given twice.")
        given[name] = f"{given[name]},{value}" if name in given else value
    return check(types, given)
