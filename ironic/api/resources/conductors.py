"""`/v1/conductors`: list and show conductors.

A conductor is named by its host name; rows of dead ones stay. Source: doc/contract/fields.md#conductor.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from ironic.api import answers, listing, projection
from ironic.api.answers import Answer
from ironic.api.crud import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.model.conductor import Conductor


def alive(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[bool]:
    """Return whether each conductor is alive: online, with a heartbeat within the time-out.

    One that did not take a call of this process is dead until its next heartbeat.
    """
    seconds = request.settings.conductor_heartbeat_timeout
    oldest = request.store.conductors.oldest_alive(seconds)

    def newest_silence(hostname: str) -> datetime:
        missed = request.services.conductors.seconds_since_missed(hostname)
        return oldest if missed is None else max(oldest, oldest + timedelta(seconds=seconds - missed))

    return [
        bool(online) and updated_at is not None and updated_at >= newest_silence(hostname)
        for online, updated_at, hostname in rows
    ]


projection.bind_computed(Conductor, alive=alive)


def index(request: Request, page: Page) -> Answer:
    """List conductors."""
    return listing.answer(request, Conductor, request.store.conductors, page)


def show(request: Request, hostname: str, view: Projection) -> Answer:
    """Show one conductor."""
    return answers.document(view.document(request, request.store.conductors.row(view.columns, hostname)))


_ALL: Final = "/v1/conductors"
_RULE: Final = "baremetal:conductor:get"

ROUTES = (
    Route("GET", _ALL, index, since=49, shape=FAULT, rule=_RULE, of=List(Conductor)),
    Route("GET", f"{_ALL}/{{hostname}}", show, since=49, shape=FAULT, rule=_RULE, of=One(Conductor)),
)
