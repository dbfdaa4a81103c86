"""`/v1/openapi.json`: the OpenAPI document of the version asked for."""

import functools

import orjson

from ironic.api import input
from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.api.routes import Route


@functools.lru_cache(maxsize=16)
def encoded(minor: int, base: str) -> bytes:
    """Return the document as it is sent; few ask for it, and those again and again."""
    # Here, because the table of all routes has this one in it.
    from ironic.api.openapi import document
    from ironic.api.resources import ROUTES

    return orjson.dumps(document(ROUTES, minor, base))


def show(request: Request) -> Answer:
    """Show this description of the API."""
    input.query(request.query(), {})
    return Answer(200, encoded(request.minor, request.base))


ROUTES = (Route("GET", "/v1/openapi.json", show, public=True),)
