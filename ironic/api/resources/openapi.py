"""`/v1/openapi.json`: the OpenAPI document of the version of the request."""

import functools
from collections.abc import Sequence

import orjson

from ironic.api.answers import Answer
from ironic.api.json_schema import OPEN
from ironic.api.request import Request
from ironic.api.routes import Route


def routes(others: Sequence[Route]) -> tuple[Route, ...]:
    """Return the row of the document, which describes all other rows and itself."""

    # Few versions and base URLs are requested, and those repeatedly.
    @functools.lru_cache(maxsize=16)
    def encoded(minor: int, base: str) -> bytes:
        # Imported only by processes that serve the document.
        from ironic.api.openapi import document

        return orjson.dumps(document((*others, row), minor, base))

    def show(request: Request) -> Answer:
        """Show the OpenAPI document of the API."""
        return Answer(200, encoded(request.minor, request.base))

    row = Route("GET", "/v1/openapi.json", show, public=True, ok=200, answer=OPEN)
    return (row,)
