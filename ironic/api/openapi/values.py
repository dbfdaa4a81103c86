"""Types of the field table as JSON schemas: what callers may send, and what they are shown.

Both are read off the type itself, so a new type needs a row here only where its kind doesn't say enough.
"""

import functools
from collections.abc import Iterable
from typing import Final

from ironic.api.arguments import Argument, Arguments, Objects
from ironic.api.schema import LINK, TEXT, Schema, closed, list_of, nullable, ref
from ironic.core import syntax, traits
from ironic.core import values as kinds
from ironic.core.model.fields import FieldNames

_STRING: Final = TEXT


def whole(pattern: str) -> str:
    """Return a pattern that a whole text has to match."""
    return f"^({pattern})$"


def _in_any_case(words: Iterable[str]) -> str:
    """Return a pattern of words; the dialect of the document has no flag for it."""
    return "|".join("".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in word) for word in words)


TRUTH_WORDS: Final = _STRING | {"pattern": whole(_in_any_case(sorted(syntax.TRUE | syntax.FALSE)))}


@functools.singledispatch
def given(kind: kinds.ValueType) -> Schema:
    """Return the schema of a value that callers send."""
    return kind.described()


@given.register
def _(kind: kinds.Text) -> Schema:
    limits = {"minLength": kind.shortest or None, "maxLength": kind.longest}
    return _STRING | {name: limit for name, limit in limits.items() if limit is not None}


@given.register
def _(kind: kinds.Uuid) -> Schema:
    return _STRING | {"format": "uuid"}


@given.register
def _(kind: kinds.Pattern) -> Schema:
    return _STRING | {"pattern": whole(kind.pattern.pattern)}


@given.register
def _(kind: kinds.HostName) -> Schema:
    return _STRING | {"pattern": whole(syntax.HOST_NAME.pattern.removeprefix(r"(?=.{1,255}\Z)")), "maxLength": 255}


@given.register
def _(kind: kinds.LogicalName | kinds.NameOrUuid) -> Schema:
    return _STRING | {"pattern": whole(syntax.LOGICAL_NAME.pattern)}


@given.register
def _(kind: kinds.TraitName) -> Schema:
    return ref("Trait")


@given.register
def _(kind: kinds.Mac) -> Schema:
    return _STRING | {"pattern": f"^{syntax.MAC.pattern}$"}


@given.register
def _(kind: kinds.Enum) -> Schema:
    return _STRING | {"enum": list(kind.words)}


@given.register
def _(kind: kinds.Bool) -> Schema:
    return {"anyOf": [{"type": "boolean"}, TRUTH_WORDS]}


@given.register
def _(kind: kinds.StrictBool) -> Schema:
    return {"type": "boolean"}


@given.register
def _(kind: kinds.Integer) -> Schema:
    limits = {"minimum": kind.smallest, "maximum": kind.largest}
    return {"type": "integer"} | {name: limit for name, limit in limits.items() if limit is not None}


@given.register
def _(kind: kinds.Object) -> Schema:
    return {"type": "object"} | kind.described()


@given.register
def _(kind: kinds.Array) -> Schema:
    return {"type": "array"} | kind.described()


@given.register
def _(kind: kinds.ListOf) -> Schema:
    return list_of(given(kind.item))


@given.register
def _(kind: kinds.Words) -> Schema:
    return list_of(_STRING) | kind.described()


@given.register
def _(kind: Objects) -> Schema:
    return list_of(arguments(kind.each, _NEWEST)) | {"minItems": 1}


_NEWEST: Final = 10**6


def trait() -> Schema:
    """Return the schema that others refer to as Trait."""
    own = _STRING | {"pattern": whole(traits.CUSTOM.pattern), "maxLength": traits.MOST_CHARACTERS}
    return {"anyOf": [own, _STRING | {"enum": sorted(traits.published())}]}


def argument(one: Argument, minor: int) -> Schema:
    """Return the schema of an argument in one version."""
    if isinstance(one.type, FieldNames):
        return list_of(_STRING | {"enum": one.type.resource.selectable(minor)})
    schema = given((one.exact or one.type).at(minor))
    if one.words:
        schema |= {"enum": [word for word in schema["enum"] if one.words.get(word, 1) <= minor]}
    return schema


def arguments(several: Arguments, minor: int) -> Schema:
    """Return the schema of an object with arguments that a version takes; null counts as not given."""
    known = [one for one in several.declared if one.since <= minor]
    schemas = {one.name: argument(one, minor) for one in known}
    properties = {one.name: schemas[one.name] if one.required else nullable(schemas[one.name]) for one in known}
    return closed(properties, [one.name for one in known if one.required])


@functools.singledispatch
def shown(kind: kinds.ValueType) -> Schema:
    """Return the schema of a value in an answer; limits are for what comes in."""
    return {}


@shown.register
def _(kind: kinds.Text) -> Schema:
    return _STRING


@shown.register
def _(kind: kinds.Uuid) -> Schema:
    return _STRING | {"format": "uuid"}


@shown.register
def _(kind: kinds.Datetime) -> Schema:
    return _STRING | {"format": "date-time"}


@shown.register
def _(kind: kinds.Bool) -> Schema:
    return {"type": "boolean"}


@shown.register
def _(kind: kinds.Integer) -> Schema:
    return {"type": "integer"}


@shown.register
def _(kind: kinds.Object) -> Schema:
    return {"type": "object"}


@shown.register
def _(kind: kinds.Array) -> Schema:
    return {"type": "array"}


@shown.register
def _(kind: kinds.Links) -> Schema:
    return list_of(LINK)
