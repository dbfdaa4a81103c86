"""The documents of a resource as JSON schemas, for one version: one of it, a list, what creates it, what patches it."""

from typing import Final

from ironic.api.json_patch import OPERATIONS
from ironic.api.openapi.values import Schema, given, nullable, shown
from ironic.core.model.fields import REQUIRED, Field, Resource
from ironic.core.values import Json, Links


def ref(name: str) -> Schema:
    """Refer to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def closed(properties: dict[str, Schema], required: list[str] | None = None) -> Schema:
    """Return the schema of an object with these keys and no others."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | {"required": required} if required else schema


def of_resource(resource: type[Resource], minor: int) -> dict[str, Schema]:
    """Return the schemas of a resource by name."""
    name = resource.__name__
    found = {name: _one(resource, minor), f"{name}List": _list(resource)}
    if resource.writable("create"):
        found[f"{name}Create"] = _create(resource, minor)
    if resource.writable("patch"):
        found[f"{name}Patch"] = _patch(resource, minor)
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


def _create(resource: type[Resource], minor: int) -> Schema:
    fields = [one for one in resource.writable("create").values() if one.since <= minor]
    properties = {one.name: _given(one, minor) for one in fields}
    return closed(properties, [one.name for one in fields if one.empty is REQUIRED])


def _given(one: Field, minor: int) -> Schema:
    schema = given(one.type.at(minor))
    return nullable(schema) if one.nullable and one.empty is not REQUIRED else schema


_VALUE: Final[Schema] = {"description": "What the field, or the key in it, is to be."}


def _patch(resource: type[Resource], minor: int) -> Schema:
    roots = "|".join(name for name, one in resource.writable("patch").items() if one.since <= minor)
    path: Schema = {"type": "string", "pattern": f"^/({roots})(/[A-Za-z0-9_-]+)*$"}
    operation: Schema = {"type": "string", "enum": sorted(OPERATIONS)}
    item = closed({"op": operation, "path": path, "value": _VALUE}, ["op", "path"])
    return {"type": "array", "items": item}
