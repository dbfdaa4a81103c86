"""Conductors: who there is and who is alive.

A conductor is named by its host name; rows of dead ones stay. Source: doc/contract/fields.md#conductor.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ironic.api import answers, computed, listing
from ironic.api.answers import Answer
from ironic.api.forms import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.model.conductor import Conductor


def alive(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[bool]:
    """Tell of each conductor whether it has given a sign of life lately."""
    oldest = request.store.clock() - timedelta(seconds=request.settings.conductor_heartbeat_timeout)
    return [bool(online) and updated_at is not None and updated_at >= oldest for online, updated_at in rows]


computed.bind(Conductor, alive=alive)


def index(request: Request, page: Page) -> Answer:
    """List conductors."""
    return listing.answer(request, Conductor, request.store.conductors, page)


def show(request: Request, hostname: str, view: Projection) -> Answer:
    """Show one conductor."""
    return answers.document(view.document(request, request.store.conductors.row(view.columns, hostname)))


ROUTES = (
    Route("GET", "/v1/conductors", index, since=49, shape=FAULT, rule="baremetal:conductor:get", of=List(Conductor)),
    Route(
        "GET",
        "/v1/conductors/{hostname}",
        show,
        since=49,
        shape=FAULT,
        rule="baremetal:conductor:get",
        of=One(Conductor),
    ),
)
