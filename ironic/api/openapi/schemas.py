"""JSON schemas of values, request bodies and documents, for one version.

The schema of a field is derived from its type, once for requests (`given`) and once for responses (`shown`). A new type
needs a function here only if its `described()` does not say enough.
"""

import functools
from collections.abc import Collection
from typing import Final

from ironic.api.arguments import Argument, Arguments, Form, Objects, OpenBody, Reader, UncheckedBody
from ironic.api.crud import Create, Patch
from ironic.api.json_patch import OPERATIONS, WRITING
from ironic.api.json_schema import LINK, TEXT, Schema, closed, list_of, nullable, ref
from ironic.core.model.fields import REQUIRED, FieldNames, Resource
from ironic.core.texts import syntax
from ironic.core.values import traits
from ironic.core.values import value_types as kinds
from ironic.core.values.value_types import Json, Links

_STRING: Final = TEXT


def whole(pattern: str) -> str:
    """Return a pattern that matches only whole texts."""
    return f"^({pattern})$"


# JSON schema has no flag to ignore case.
_TRUTH: Final = "|".join(
    "".join(f"[{letter}{letter.upper()}]" if letter.isalpha() else letter for letter in word)
    for word in sorted(syntax.TRUE | syntax.FALSE)
)
TRUTH_WORDS: Final = _STRING | {"pattern": whole(_TRUTH)}


@functools.singledispatch
def given(kind: kinds.ValueType) -> Schema:
    """Return the schema of a value in a request."""
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
def _(kind: kinds.NameOrUuid) -> Schema:
    return _STRING | {"pattern": whole(syntax.LOGICAL_NAME.pattern)}


@given.register
def _(kind: kinds.LogicalName) -> Schema:
    return _STRING | {"pattern": whole(syntax.LOGICAL_NAME.pattern), "not": {"enum": list(syntax.DOTS)}}


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
    """Return the schema of a trait, to which others refer as Trait."""
    own = _STRING | {"pattern": whole(traits.CUSTOM.pattern), "maxLength": traits.MOST_CHARACTERS}
    return {"anyOf": [own, _STRING | {"enum": sorted(traits.published())}]}


def argument(one: Argument, minor: int) -> Schema:
    """Return the schema of an argument in one version."""
    if isinstance(one.type, FieldNames):
        # Empty names are dropped.
        return list_of(_STRING | {"enum": [*one.type.resource.selectable(minor), ""]})
    schema = given((one.exact or one.type).at(minor))
    if one.words:
        schema |= {"enum": [word for word in schema["enum"] if one.words.get(word, 1) <= minor]}
    return schema


def arguments(several: Arguments, minor: int) -> Schema:
    """Return the schema of an object with the arguments of a version; null counts as not given."""
    known = [one for one in several.declared if one.since <= minor]
    schemas = {one.name: argument(one, minor) for one in known}
    properties = {one.name: schemas[one.name] if one.required else nullable(schemas[one.name]) for one in known}
    return closed(properties, [one.name for one in known if one.required])


@functools.singledispatch
def shown(kind: kinds.ValueType) -> Schema:
    """Return the schema of a value in a response, without the limits of requests."""
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


def body(taken: Reader | None, minor: int) -> Schema | None:
    """Return the schema of the body of a route, None for a route without one."""
    match taken:
        case OpenBody():
            found = arguments(taken, minor)
            return {key: value for key, value in found.items() if key != "additionalProperties"}
        case Arguments():
            return arguments(taken, minor)
        case UncheckedBody():
            return taken.schema
    return None


def of_resource(resource: type[Resource], minor: int, forms: Collection[Form]) -> dict[str, Schema]:
    """Return the schemas of a resource by name; ``forms`` are the operations on it in the route table."""
    name = resource.__name__
    shown_fields = {}
    for one in resource.visible(minor):
        never_null = isinstance(one.type, Links) or (isinstance(one.type, Json) and not one.is_computed)
        shown_fields[one.name] = shown(one.type) if never_null else nullable(shown(one.type))
    page: dict[str, Schema] = {resource.collection: {"type": "array", "items": ref(name)}}
    if resource.paged:
        page["next"] = {"type": "string", "format": "uri", "description": "The URL of the next page."}
    # No field is required: clients choose fields, and lists have fewer of them.
    found = {
        name: closed(shown_fields) | {"description": resource.__doc__},
        f"{name}List": closed(page, [resource.collection]),
    }
    for form in forms:
        if isinstance(form, Create):
            found[f"{name}Create"] = _create(form, minor)
        if isinstance(form, Patch):
            found[f"{name}Patch"] = _patch(form, minor)
    return found


def _create(create: Create, minor: int) -> Schema:
    fields = [one for one in create.resource.writable("create").values() if one.since <= minor]
    properties = {}
    for one in fields:
        schema = given(create.exact.get(one.name, one.type).at(minor))
        properties[one.name] = nullable(schema) if one.nullable and one.empty is not REQUIRED else schema
    return closed(properties, [one.name for one in fields if one.empty is REQUIRED])


_INSIDE: Final[Schema] = {"description": "The new value inside of the field."}
_IGNORED: Final[Schema] = {"description": "Ignored."}


def _patch(patch: Patch, minor: int) -> Schema:
    """Return the schema of a patch: a field takes a value of its type, a path inside of it takes any value."""
    known = [one for one in patch.known().values() if one.since <= minor]
    written = [one for one in known if "patch" in one.write]
    operations = []
    for one in written:
        schema = given(one.type.at(minor))
        takes_null = one.nullable and not one.only_removed and one.empty is not REQUIRED
        operations.append(_operation(WRITING, f"^/{one.name}$", nullable(schema) if takes_null else schema))
    if removable := [one.name for one in written if one.may_be_removed(minor)]:
        operations.append(_operation(["remove"], f"^/({'|'.join(removable)})$", _IGNORED))
    if open_ones := [one.name for one in written if isinstance(one.type, Json)]:
        operations.append(_operation(OPERATIONS, f"^/({'|'.join(open_ones)}){patch.syntax.pattern}$", _INSIDE))
    # Fields that a patch may name although they never change.
    if fixed := [one.name for one in known if one not in written]:
        operations.append(_operation(WRITING, f"^/({'|'.join(fixed)})$", {"description": "The present value."}))
    return {"type": "array", "items": {"anyOf": operations}}


def _operation(words: Collection[str], path: str, value: Schema) -> Schema:
    needed = ["op", "path", *(["value"] if "remove" not in words else [])]
    operation: Schema = {"type": "string", "enum": sorted(words)}
    return closed({"op": operation, "path": {"type": "string", "pattern": path}, "value": value}, needed)
