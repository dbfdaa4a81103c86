"""Words for JSON schemas: what rows of the route table say of their answers, and the OpenAPI document of everything.

Plain dictionaries and nothing that costs who never asks for the document.
"""

from typing import Any, Final

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "integer"}
OPEN: Final[Schema] = {"type": "object"}
LINK: Final[Schema] = {"$ref": "#/components/schemas/Link"}


def ref(name: str) -> Schema:
    """Refer to a schema of the document; that of a resource has the name of its class, of a list `<class>List`."""
    return {"$ref": f"#/components/schemas/{name}"}


def closed(properties: dict[str, Schema], required: list[str] | None = None) -> Schema:
    """Return the schema of an object with these keys and no others."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | {"required": required} if required else schema


def list_of(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def items(name: str, schema: Schema) -> Schema:
    """Return the schema of a document with one list in it."""
    return closed({name: list_of(schema)}, [name])


def nullable(schema: Schema) -> Schema:
    """Return the schema that takes null too."""
    if not schema:
        return schema
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return schema | {"type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


# What inspection rules did, or would do.
RUN_OF_RULES: Final = closed({"rules": list_of(OPEN), "changes": OPEN}, ["rules", "changes"])
