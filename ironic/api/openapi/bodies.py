"""Bodies as JSON schemas, for one version: the documents of a resource, and what actions take."""

from collections.abc import Collection
from typing import Final

from ironic.api.arguments import Arguments, Form, Parsed, Reader, Whole
from ironic.api.forms import Create, Patch
from ironic.api.json_patch import OPERATIONS
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


_VALUE: Final[Schema] = {"description": "What the field, or the key in it, is to be."}


def _patch(patch: Patch, minor: int) -> Schema:
    roots = "|".join(name for name, one in patch.known().items() if one.since <= minor)
    path: Schema = {"type": "string", "pattern": f"^/({roots}){patch.syntax.pattern.removesuffix('+')}*$"}
    operation: Schema = {"type": "string", "enum": sorted(OPERATIONS)}
    item = closed({"op": operation, "path": path, "value": _VALUE}, ["op", "path"])
    return {"type": "array", "items": item}
