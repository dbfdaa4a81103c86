"""Types of the field table as JSON schemas: what callers may send, and what they are shown.

Both are read off the type itself, so a new type needs a row here only where its kind doesn't say enough.
"""

import functools
from collections.abc import Iterable
from typing import Any, Final

from ironic.core import syntax
from ironic.core import values as kinds

Schema = dict[str, Any]

LINK: Final = {"$ref": "#/components/schemas/Link"}
_STRING: Final[Schema] = {"type": "string"}


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
    return _STRING | {"format": "hostname", "maxLength": 255}


@given.register
def _(kind: kinds.LogicalName | kinds.NameOrUuid) -> Schema:
    return _STRING | {"pattern": whole(syntax.LOGICAL_NAME.pattern)}


@given.register
def _(kind: kinds.TraitName) -> Schema:
    return _STRING | {"pattern": "^[A-Z0-9_]+$", "maxLength": 255}


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
def _(kind: kinds.TraitNames) -> Schema:
    return {"type": "array", "items": given(kinds.TraitName())}


@given.register
def _(kind: kinds.Words) -> Schema:
    return {"type": "array", "items": _STRING}


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
    return {"type": "array", "items": LINK}


def nullable(schema: Schema) -> Schema:
    """Return the schema that takes null too."""
    if not schema:
        return schema
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return schema | {"type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}
