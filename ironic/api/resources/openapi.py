"""`/v1/openapi.json`: the OpenAPI document of the version of the request."""

import functools
import zlib
from collections.abc import Sequence
from typing import Final

import orjson

from ironic.api import answers
from ironic.api.answers import Answer
from ironic.api.json_schema import OPEN
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.permit import PERMIT

# Stands for the base URL in documents that are kept; no client reaches the service under it.
_BASE: Final = "base:/"


def routes(others: Sequence[Route]) -> tuple[Route, ...]:
    """Return the row of the document, which describes all other rows and itself."""

    # Every version that is asked for is built once; it is kept packed, as few are asked for repeatedly.
    @functools.lru_cache(maxsize=200)
    def packed(minor: int) -> bytes:
        # Imported only by processes that serve the document.
        from ironic.api.openapi import document

        PERMIT.check_may_wait()  # it takes long
        return zlib.compress(orjson.dumps(document((*others, row), minor, _BASE)))

    # The base URL is the client's to choose.
    @functools.lru_cache(maxsize=16)
    def ready_made(minor: int, base: str) -> Answer:
        return answers.ready_made(zlib.decompress(packed(minor)).replace(orjson.dumps(_BASE), orjson.dumps(base)))

    def show(request: Request) -> Answer:
        """Show the OpenAPI document of the API."""
        return ready_made(request.minor, request.base)

    row = Route("GET", "/v1/openapi.json", show, public=True, ok=200, answer=OPEN)
    return (row,)
