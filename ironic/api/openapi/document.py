"""The OpenAPI document of one version, put together from the tables of routes and of fields."""

from collections.abc import Collection, Sequence
from http import HTTPStatus
from typing import Any, Final

from ironic.api import errors, versions
from ironic.api.arguments import Form
from ironic.api.openapi import links, operations, values
from ironic.api.openapi.bodies import of_resource
from ironic.api.routes import Route
from ironic.api.schema import Schema, closed

OPENAPI: Final = "3.1.0"
TITLE: Final = "Ironic bare metal API"

_TEXT: Final[Schema] = {"type": "string"}
_LINK: Final = closed({"href": _TEXT, "rel": _TEXT, "type": _TEXT}, ["href", "rel"])
_ERROR: Final[Schema] = {
    "description": "error_message is JSON in a text: faultcode, faultstring and debuginfo of what was met inside; "
    "code, title and description of what was refused before. What is not looked at has no such wrapper.",
    "anyOf": [
        closed({"error_message": _TEXT}, ["error_message"]),
        closed({"faultcode": _TEXT, "faultstring": _TEXT}, ["faultcode", "faultstring"]),
        closed({"error": {"type": "object"}}, ["error"]),
    ],
}
_STATUSES: Final = (400, 401, 403, 404, 405, 406, 409, 413, 500, 502, 503)


def document(rows: Collection[Route], minor: int, base: str) -> dict[str, Any]:
    """Return the document for callers of a version; ``base`` is where they reach the service."""
    shown = [route for route in rows if operations.is_shown(route, minor)]
    paths: dict[str, dict[str, Any]] = {}
    for route in shown:
        method = "get" if route.method == "*" else route.method.lower()
        paths.setdefault(route.path, {})[method] = operations.operation(route, minor)
    links.add(paths, operations.resources())
    return {
        "openapi": OPENAPI,
        "info": {"title": TITLE, "version": versions.text(minor), "license": {"name": "Apache-2.0", "url": _LICENSE}},
        "servers": [{"url": base}],
        "security": [{}, {"token": []}, {"password": []}],
        "paths": paths,
        "components": _components([row.of for row in rows if row.of is not None], minor),
    }


_LICENSE: Final = "https://www.apache.org/licenses/LICENSE-2.0"


def _components(forms: Sequence[Form], minor: int) -> dict[str, object]:
    schemas: dict[str, Schema] = {"Link": _LINK, "Error": _ERROR, "Trait": values.trait()}
    for resource in operations.resources().values():
        if resource.visible(minor):
            schemas |= of_resource(resource, minor, [form for form in forms if form.resource is resource])
    return {
        "schemas": schemas,
        "parameters": {"Version": _version(minor), "IfNoneMatch": _IF_NONE_MATCH},
        "headers": _HEADERS,
        "responses": {f"Error{status}": _error(status) for status in _STATUSES},
        "securitySchemes": _SECURITY,
    }


def _version(minor: int) -> dict[str, object]:
    return {
        "name": errors.VERSION_HEADER,
        "in": "header",
        "required": True,
        "description": "The version that this document is about; without it a request speaks the oldest one.",
        "schema": {"type": "string", "enum": [versions.text(minor)]},
    }


_IF_NONE_MATCH: Final[dict[str, Any]] = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The ETag of a document that the client has.",
    "schema": {"type": "string"},
}
# Which of them a service asks for, if any, is its operator's decision.
_SECURITY: Final[dict[str, Any]] = {
    "token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"},
    "password": {"type": "http", "scheme": "basic"},
}
_HEADERS: Final[dict[str, Any]] = {
    "Version": {"description": "The version that was spoken.", "schema": _TEXT},
    "ETag": {"description": "Changes with the document.", "schema": _TEXT},
    "Location": {"description": "Where to look next.", "schema": {"type": "string", "format": "uri"}},
}


def _error(status: int) -> dict[str, object]:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": HTTPStatus(status).phrase, "content": {"application/json": {"schema": schema}}}
