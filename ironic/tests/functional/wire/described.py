"""Holds answers against the OpenAPI document: the status has to be in it, the body has to be of its schema."""

import functools
from typing import Any
from urllib.parse import quote

import jsonschema
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from ironic.api.openapi import document, operations
from ironic.api.resources import ROUTES
from ironic.api.routes import Routes

_TABLE = Routes(ROUTES)
_NAME = "urn:openapi"


@functools.cache
def described(minor: int) -> dict[str, Any]:
    """Return the document of a version."""
    return document(ROUTES, minor, "http://wire.test:6385")


def check(method: str, path: str, minor: int, status: int, body: Any) -> bool:
    """Hold an answer against the document; return whether the document has such requests."""
    try:
        route, _ = _TABLE.find(method, path.partition("?")[0])
    except Exception:
        return False
    said = described(minor)["paths"].get(route.path, {}).get(method.lower())
    if said is None or not operations.is_shown(route, minor):
        return False
    assert str(status) in said["responses"], f"{method} {route.path} says nothing of {status}"
    # Errors only refer to what all of them look like, and of files nothing is said.
    if status < 400 and "application/json" in said["responses"][str(status)].get("content", ()):
        _validator(minor, route.path, method.lower(), status).validate(body)
    return True


def parameters(method: str, path: str, minor: int) -> set[str]:
    """Return which parameters a query may have according to the document."""
    route, _ = _TABLE.find(method, path.partition("?")[0])
    told = described(minor)["paths"][route.path][method.lower()]["parameters"]
    return {one["name"] for one in told if one.get("in") == "query"}


@functools.cache
def _validator(minor: int, path: str, method: str, status: int) -> Any:
    place = f"paths/{path.replace('/', '~1')}/{method}/responses/{status}/content/application~1json/schema"
    return jsonschema.Draft202012Validator({"$ref": f"{_NAME}#/{quote(place, safe='/~')}"}, registry=_registry(minor))


@functools.cache
def _registry(minor: int) -> Any:
    return Registry().with_resource(_NAME, DRAFT202012.create_resource(described(minor)))
