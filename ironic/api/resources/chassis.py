"""Chassis: what nodes stand in. Rows and nothing more; no conductor has a part in them.

Source: doc/contract/fields.md#chassis and doc/contract/requests.md#chassis.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ironic.api import answers, computed, listing, patching, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.forms import Create, Delete, List, One, Patch
from ironic.api.json_patch import Change
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.refusing import refuses
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.chassis import Chassis
from ironic.db import ChassisRecord
from ironic.services import records


def links_to_nodes(request: Request, rows: Sequence[tuple[object, ...]]) -> Sequence[object]:
    """Return the links to the nodes of each chassis; they always were one list deeper than other links."""
    return [[projection.links(request.base, f"chassis/{uuid}/nodes")] for (uuid,) in rows]


computed.bind(Chassis, nodes=links_to_nodes)


def index(request: Request, page: Page) -> Answer:
    """List chassis."""
    return listing.answer(request, Chassis, request.store.chassis, page)


def show(request: Request, chassis: str, view: Projection) -> Answer:
    """Show one chassis."""
    return answers.document(view.document(request, request.store.chassis.row(view.columns, chassis)))


def create(request: Request, values: Mapping[str, object]) -> Answer:
    """Add a chassis."""
    record = request.store.chassis.create(values)
    document = projection.full(Chassis, request.minor).of_record(request, record, {})
    return answers.created(document, request.url(f"/v1/chassis/{record.uuid}"))


def patch(request: Request, chassis: str, changes: Sequence[Change]) -> Answer:
    """Change a chassis."""

    def revise(record: ChassisRecord) -> dict[str, Any]:
        before = {name: getattr(record, name) for name in Chassis.writable("patch")}
        after = patching.patched(Chassis, before, changes, request.minor)
        if "uuid" in after:
            raise InvalidParameterValue(err="A chassis keeps its UUID.")
        return after

    record = records.change(request.store, request.store.chassis, chassis, revise)
    return answers.document(projection.full(Chassis, request.minor).of_record(request, record, {}))


def delete(request: Request, chassis: str) -> Answer:
    """Delete a chassis that holds no nodes."""
    request.store.chassis.delete(chassis)
    return NO_CONTENT


_ONE = "/v1/chassis/{chassis}"

_ELSEWHERE = refuses("This needs a chassis's UUID in the path.")
ROUTES = (
    Route("GET", "/v1/chassis", index, rule="baremetal:chassis:get", of=List(Chassis)),
    Route("GET", "/v1/chassis/detail", index, rule="baremetal:chassis:get", of=List(Chassis, detailed=True)),
    Route("POST", "/v1/chassis", create, rule="baremetal:chassis:create", of=Create(Chassis)),
    Route("PATCH", "/v1/chassis", _ELSEWHERE),
    Route("DELETE", "/v1/chassis", _ELSEWHERE),
    Route("GET", _ONE, show, rule="baremetal:chassis:get", of=One(Chassis)),
    Route("PATCH", _ONE, patch, rule="baremetal:chassis:update", of=Patch(Chassis)),
    Route("DELETE", _ONE, delete, rule="baremetal:chassis:delete", of=Delete(Chassis)),
)
