"""The OpenAPI document of one version, derived from the route table and the fields of the resources.

It includes links, which lead from a response to further operations on what it contains: from a new row to all
operations below its path and to creating what belongs to it, and from a list to showing, changing and deleting its
first row. Programs that explore the service depend on them.
"""

from collections.abc import Collection, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from ironic.api import error_responses, version_negotiation
from ironic.api.json_schema import TEXT, Schema, closed, ref
from ironic.api.openapi import operations
from ironic.api.openapi import schemas as values
from ironic.api.routes import Route
from ironic.core.model.fields import Resource

Paths = Mapping[str, dict[str, Any]]
# An operation by its name, with its parameters.
Link = tuple[str, dict[str, Any]]

OPENAPI: Final = "3.1.0"
TITLE: Final = "Ironic bare metal API"
LICENSE: Final = {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"}

_LINK: Final = closed({"href": TEXT, "rel": TEXT, "type": TEXT}, ["href", "rel"])
_ERROR: Final[Schema] = {
    "description": "An error. `error_message` is JSON as text: `faultcode`, `faultstring` and `debuginfo` for an error "
    "while the request was handled; `code`, `title` and `description` for a request that was refused before. A body "
    "that was refused before it was parsed is answered without `error_message`.",
    "anyOf": [
        closed({"error_message": TEXT}, ["error_message"]),
        closed({"faultcode": TEXT, "faultstring": TEXT}, ["faultcode", "faultstring"]),
        closed({"error": {"type": "object"}}, ["error"]),
    ],
}
_STATUSES: Final = (400, 401, 403, 404, 405, 406, 409, 413, 429, 500, 502, 503)
_IF_NONE_MATCH: Final[dict[str, Any]] = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The ETag of a document that the client has cached.",
    "schema": {"type": "string"},
}
# The operator decides which of them the service requires, if any.
_SECURITY: Final[dict[str, Any]] = {
    "token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"},
    "password": {"type": "http", "scheme": "basic"},
}
_HEADERS: Final[dict[str, Any]] = {
    "Version": {"description": "The API version of the response.", "schema": TEXT},
    "ETag": {"description": "A hash of the document.", "schema": TEXT},
    "RetryAfter": {
        "description": "Seconds to wait before the same request is sent again. Not there if it may have had an effect.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
    "Location": {
        "description": "The URL of the new resource, or of the progress of the request.",
        "schema": {"type": "string", "format": "uri"},
    },
}
# Statuses after which a client may send the same request again.
_RETRIED: Final = (429, 503)
_RETRY: Final[dict[str, Any]] = {"Retry-After": {"$ref": "#/components/headers/RetryAfter"}}
# Operations that a list links to on one of its rows; all others are linked from the row itself.
_ON_ONE: Final = ("get", "patch", "delete")


def document(rows: Collection[Route], minor: int, base: str) -> dict[str, Any]:
    """Return the document of a version; ``base`` is the URL of the service, perhaps relative to its own."""
    paths: dict[str, dict[str, Any]] = {}
    for route in rows:
        if operations.is_shown(route, minor):
            method = "get" if route.method == "*" else route.method.lower()
            paths.setdefault(route.path, {})[method] = operations.operation(route, minor)
    add_links(paths, operations.resources())
    forms = [row.of for row in rows if row.of is not None]
    schemas: dict[str, Schema] = {"Link": _LINK, "Error": _ERROR, "Trait": values.trait()}
    for resource in operations.resources().values():
        if resource.visible(minor):
            schemas |= values.of_resource(resource, minor, [form for form in forms if form.resource is resource])
    version = {
        "name": error_responses.VERSION_HEADER,
        "in": "header",
        "required": True,
        "description": "The version of this document; a request without this header has the oldest version.",
        "schema": {"type": "string", "enum": [version_negotiation.text(minor)]},
    }
    error = {"application/json": {"schema": ref("Error")}}
    return {
        "openapi": OPENAPI,
        "info": {"title": TITLE, "version": version_negotiation.text(minor), "license": LICENSE},
        "servers": [{"url": base}],
        "security": [{}, {"token": []}, {"password": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "parameters": {"Version": version, "IfNoneMatch": _IF_NONE_MATCH},
            "headers": _HEADERS,
            "responses": {
                f"Error{status}": {"description": HTTPStatus(status).phrase, "content": error}
                | ({"headers": _RETRY} if status in _RETRIED else {})
                for status in _STATUSES
            },
            "securitySchemes": _SECURITY,
        },
    }


def add_links(paths: Paths, resources: Mapping[str, type[Resource]]) -> None:
    """Add links to every response that contains a new row or a list."""
    for path, methods in paths.items():
        if "201" in (created := methods.get("post", {}).get("responses", {})):
            created["201"]["links"] = dict(_from_created(paths, path, resources))
        resource = resources.get(_collection(path))
        response = methods.get("get", {}).get("responses", {}).get("200", {})
        schemas = [content["schema"] for content in response.get("content", {}).values()]
        is_list = resource is not None and ref(f"{resource.__name__}List") in schemas
        if resource is not None and is_list and (links := dict(_from_list(paths, path, resource))):
            response["links"] = links


def _collection(path: str) -> str:
    return path.removesuffix("/detail").rpartition("/")[2]


def _from_created(paths: Paths, collection: str, resources: Mapping[str, type[Resource]]) -> Iterator[Link]:
    """Yield links from a new row of a collection: to operations below its path, and to creating what belongs to it."""
    for path, methods in paths.items():
        if (name := _only_name(path, collection)) is not None:
            for one in methods.values():
                yield _link(one, {f"path.{name}": "$response.body#/uuid"})
    if (resource := resources.get(_collection(collection))) is not None:
        key = f"{resource.__name__.lower()}_uuid"
        for path, methods in paths.items():
            part = resources.get(_collection(path))
            if "post" in methods and part is not None and key in part.writable("create"):
                yield _link(methods["post"], {}, {key: "$response.body#/uuid"})


def _from_list(paths: Paths, path: str, resource: type[Resource]) -> Iterator[Link]:
    """Yield links from a list to operations on its first row."""
    whole = path.removesuffix("/detail")
    # A part of a row is shown below the row; a resource of its own also has a path of its own.
    collection = whole if whole in paths and _item(paths, whole) else f"/v1/{resource.collection}"
    if (item := _item(paths, collection)) is None:
        return
    *above, name = _names(item)
    parameters = {f"path.{one}": f"$request.path.{one}" for one in above}
    parameters[f"path.{name}"] = f"$response.body#/{resource.collection}/0/{resource.key}"
    for below, methods in paths.items():
        # Rows that no request creates can be reached from their list only.
        if below == item or ("post" not in paths[collection] and _only_name(below, collection) == name):
            for method, one in methods.items():
                if below != item or method in _ON_ONE:
                    yield _link(one, parameters)


def _item(paths: Paths, collection: str) -> str | None:
    """Return the path of one row of a collection, None for a collection without such a path."""
    for path in paths:
        if path.startswith(f"{collection}/{{") and path.endswith("}") and "/" not in path[len(collection) + 1 :]:
            return path
    return None


def _only_name(path: str, collection: str) -> str | None:
    """Return the only wildcard of a path below a collection, None for a path with several or elsewhere."""
    names = _names(path)
    return names[0] if path.startswith(f"{collection}/{{") and len(names) == 1 else None


def _names(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def _link(operation: Mapping[str, Any], parameters: Mapping[str, str], body: Mapping[str, str] | None = None) -> Link:
    name = operation["operationId"]
    link: dict[str, Any] = {"operationId": name}
    if parameters:
        link["parameters"] = dict(parameters)
    if body:
        link["requestBody"] = dict(body)
    return name, link
