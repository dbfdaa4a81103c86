"""Bodies as JSON schemas, for one version: the documents of a resource, and what actions take."""

from collections.abc import Collection
from typing import Final

from ironic.api.arguments import Arguments, Form, Parsed, Reader, Whole
from ironic.api.forms import Create, Patch
from ironic.api.json_patch import OPERATIONS, WRITING
from ironic.api.openapi.values import arguments, given, shown
from ironic.api.schema import Schema, closed, nullable, ref
from ironic.core.model.fields import REQUIRED, Field, Resource
from ironic.core.values import Json, Links, ValueType


def body(taken: Reader | None, minor: int) -> Schema | None:
    """Return what a row takes as its body; None where nothing belongs there."""
    match taken:
        case Whole():
            found = arguments(taken, minor)
            return {key: value for key, value in found.items() if key != "additionalProperties"}
        case Arguments():
            return arguments(taken, minor)
        case Parsed():
            return taken.schema
    return None


def of_resource(resource: type[Resource], minor: int, forms: Collection[Form]) -> dict[str, Schema]:
    """Return the schemas of a resource by name; ``forms`` is what the route table says is done with it."""
    name = resource.__name__
    found = {name: _one(resource, minor), f"{name}List": _list(resource)}
    for form in forms:
        if isinstance(form, Create):
            found[f"{name}Create"] = _create(form, minor)
        if isinstance(form, Patch):
            found[f"{name}Patch"] = _patch(form, minor)
    return found


def _one(resource: type[Resource], minor: int) -> Schema:
    properties = {one.name: _shown(one) for one in resource.visible(minor)}
    # Nothing is required: callers may choose fields, and lists have fewer of them.
    return closed(properties) | {"description": resource.__doc__}


def _shown(one: Field) -> Schema:
    schema = shown(one.type)
    never_null = isinstance(one.type, Links) or (isinstance(one.type, Json) and not one.is_computed)
    return schema if never_null else nullable(schema)


def _list(resource: type[Resource]) -> Schema:
    items: Schema = {"type": "array", "items": ref(resource.__name__)}
    properties = {resource.collection: items}
    if resource.paged:
        properties["next"] = {"type": "string", "format": "uri", "description": "Where the next page is."}
    return closed(properties, [resource.collection])


def _create(create: Create, minor: int) -> Schema:
    fields = [one for one in create.resource.writable("create").values() if one.since <= minor]
    properties = {one.name: _given(one, create.exact.get(one.name, one.type).at(minor)) for one in fields}
    return closed(properties, [one.name for one in fields if one.empty is REQUIRED])


def _given(one: Field, kind: ValueType) -> Schema:
    schema = given(kind)
    return nullable(schema) if one.nullable and one.empty is not REQUIRED else schema


_INSIDE: Final[Schema] = {"description": "What stands at this place inside of the field."}
_LEFT_ALONE: Final[Schema] = {"description": "Not looked at."}


def _patch(patch: Patch, minor: int) -> Schema:
    """A field is given a value of its type, or is removed; inside of objects and lists there is no type."""
    known = [one for one in patch.known().values() if one.since <= minor]
    written = [one for one in known if "patch" in one.write]
    operations = [_operation(WRITING, f"^/{one.name}$", _value(one, minor)) for one in written]
    if removable := [one.name for one in written if one.may_be_removed(minor)]:
        operations.append(_operation(["remove"], f"^/({'|'.join(removable)})$", _LEFT_ALONE))
    if open_ones := [one.name for one in written if isinstance(one.type, Json)]:
        operations.append(_operation(OPERATIONS, f"^/({'|'.join(open_ones)}){patch.syntax.pattern}$", _INSIDE))
    # What a patch may name although it never changes.
    if fixed := [one.name for one in known if one not in written]:
        operations.append(_operation(WRITING, f"^/({'|'.join(fixed)})$", {"description": "What it is."}))
    return {"type": "array", "items": {"anyOf": operations}}


def _value(one: Field, minor: int) -> Schema:
    schema = given(one.type.at(minor))
    return nullable(schema) if one.nullable and not one.only_removed and one.empty is not REQUIRED else schema


def _operation(words: Collection[str], path: str, value: Schema) -> Schema:
    needed = ["op", "path", *(["value"] if "remove" not in words else [])]
    operation: Schema = {"type": "string", "enum": sorted(words)}
    return closed({"op": operation, "path": {"type": "string", "pattern": path}, "value": value}, needed)
