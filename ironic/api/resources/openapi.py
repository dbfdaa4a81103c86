"""`/v1/openapi.json`: the OpenAPI document of the version asked for."""

import functools
from collections.abc import Sequence

import orjson

from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import OPEN


def routes(others: Sequence[Route]) -> tuple[Route, ...]:
    """Return the row that describes all other rows, and itself."""

    # Few ask for it, and those again and again.
    @functools.lru_cache(maxsize=16)
    def encoded(minor: int, base: str) -> bytes:
        # Who never asks needs none of what it is made with.
        from ironic.api.openapi import document

        return orjson.dumps(document((*others, row), minor, base))

    def show(request: Request) -> Answer:
        """Show this description of the API."""
        return Answer(200, encoded(request.minor, request.base))

    row = Route("GET", "/v1/openapi.json", show, public=True, ok=200, answer=OPEN)
    return (row,)
