"""Conductors: who there is and who is alive.

A conductor is named by its host name; rows of dead ones stay. Source: facts/fields.yaml.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from ironic.api import answers, listing
from ironic.api.answers import Answer
from ironic.api.fields import NOBODY, Field, Resource
from ironic.api.forms import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.api.types import Array, Bool, Datetime, Links, Text, ValueType


def alive(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[bool]:
    """Tell of each conductor whether it has given a sign of life lately."""
    oldest = request.store.clock() - timedelta(seconds=request.settings.conductor_heartbeat_timeout)
    return [bool(online) and updated_at is not None and updated_at >= oldest for online, updated_at in rows]


class Conductor(Resource):
    """A process that looks after nodes."""

    collection = "conductors"
    singular = "conductor"
    key = "hostname"
    marker: ClassVar[ValueType] = Text()

    created_at = Field(Datetime(), since=49, write=NOBODY)
    updated_at = Field(Datetime(), since=49, write=NOBODY)
    hostname = Field(Text(), since=49, write=NOBODY, plain=True)
    conductor_group = Field(Text(), since=49, write=NOBODY, plain=True)
    drivers = Field(Array(), since=49, write=NOBODY)
    links = Field(Links("conductors/{}"), since=49, write=NOBODY, plain=True)
    alive = Field(Bool(), since=49, write=NOBODY, plain=True, needs=("online", "updated_at"), gather=alive)


def index(request: Request, page: Page) -> Answer:
    """List conductors."""
    return listing.answer(request, Conductor, request.store.conductors, page, {})


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
