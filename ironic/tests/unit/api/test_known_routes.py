"""Every request that clients of a reference release know is there, since the same version, with the same success.

The file has rows of [method, path, first minor version, status for callers of older ones, status of success]; null is
"not known". A pair of braces stands for a name.
"""

import json
import re
from typing import Any

import pytest

from ironic.api import version_negotiation
from ironic.api.openapi import operations
from ironic.api.resources import ROUTES
from ironic.api.routes import Route
from ironic.tests.repository import ROOT

KNOWN: list[list[Any]] = json.loads((ROOT / "ironic" / "tests" / "data" / "routes.json").read_text())
# Known to one older version too; the handler distinguishes them.
JUDGED_INSIDE = {("POST", "/v1/continue_inspection")}


def _by_place() -> dict[tuple[str, str], Route]:
    places = {(route.method, re.sub(r"\{\w+\}", "{}", route.path)): route for route in ROUTES}
    return places | {("GET", "/"): places["*", "/"]}


PLACES = _by_place()


@pytest.mark.parametrize(
    ("method", "path", "since", "below", "success"), KNOWN, ids=[f"{row[0]} {row[1]}" for row in KNOWN]
)
def test_a_known_request_is_there(method: str, path: str, since: int, below: int | None, success: int | None) -> None:
    route = PLACES[method, path]
    # Some were announced with a version, but never kept from older callers.
    if (method, path) not in JUDGED_INSIDE and (below is None or below >= 400):
        assert (route.since, route.below) == (since, below or route.below)
    told = operations.content_of(route, version_negotiation.MAXIMUM)
    assert success is None or success in (told.ok, *route.also)
