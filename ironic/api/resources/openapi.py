"""`/v1/openapi.json`: the OpenAPI document of the version of the request."""

import functools
from collections.abc import Sequence
from typing import Final

import orjson

from ironic.api import answers
from ironic.api.answers import Answer
from ironic.api.json_schema import OPEN
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.microversions import MICROVERSIONS
from ironic.core.permit import PERMIT

# Where paths begin, seen from the document: it is the same document whatever name a client calls the service by.
_BASE: Final = ".."


def routes(others: Sequence[Route]) -> tuple[Route, ...]:
    """Return the row of the document, which describes all other rows and itself."""

    # One for each version that is asked for, some 120 KiB each, as a client may ask for one after another.
    @functools.lru_cache(maxsize=len(MICROVERSIONS))
    def ready_made(minor: int, base: str) -> Answer:
        # Imported only by processes that serve the document.
        from ironic.api.openapi import document

        PERMIT.check_may_wait()  # it takes long
        return answers.ready_made(orjson.dumps(document((*others, row), minor, base)))

    def show(request: Request) -> Answer:
        """Show the OpenAPI document of the API."""
        return ready_made(request.minor, request.settings.public_endpoint or _BASE)

    row = Route("GET", "/v1/openapi.json", show, public=True, ok=200, answer=OPEN)
    return (row,)
