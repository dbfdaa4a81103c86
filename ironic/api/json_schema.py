"""Helpers to write JSON schemas, for the answers in the route table and for the OpenAPI document.

They return plain dictionaries and cost nothing in processes that never serve the document.
"""

from typing import Any, Final

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "integer"}
OPEN: Final[Schema] = {"type": "object"}
LINK: Final[Schema] = {"$ref": "#/components/schemas/Link"}


def ref(name: str) -> Schema:
    """Return a reference to a schema of the document: `<class>` for a resource, `<class>List` for a list of it."""
    return {"$ref": f"#/components/schemas/{name}"}


def closed(properties: dict[str, Schema], required: list[str] | None = None) -> Schema:
    """Return the schema of an object with these keys and no others."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | {"required": required} if required else schema


def list_of(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def items(name: str, schema: Schema) -> Schema:
    """Return the schema of an object whose only key is a list."""
    return closed({name: list_of(schema)}, [name])


def nullable(schema: Schema) -> Schema:
    """Return the schema that also allows null."""
    if not schema:
        return schema
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return schema | {"type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


# The result of a run of inspection rules.
RUN_OF_RULES: Final = closed({"rules": list_of(OPEN), "changes": OPEN}, ["rules", "changes"])
