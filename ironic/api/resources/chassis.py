"""`/v1/chassis`: list, show, create, patch and delete chassis, which group nodes.

They are rows only; no conductor is involved. Source: doc/contract/fields.md#chassis and
doc/contract/requests.md#chassis.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.api import answers, json_patch, listing, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.crud import Create, Delete, List, One, Patch
from ironic.api.json_patch import Change
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import Route, refuse_collection
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.node import Chassis
from ironic.db import ChassisRecord
from ironic.services import row_changes


def links_to_nodes(request: Request, rows: Sequence[tuple[object, ...]]) -> Sequence[object]:
    """Return the links to the nodes of each chassis, which are nested one list deeper than other links."""
    return [[projection.links(request.base, f"chassis/{uuid}/nodes")] for (uuid,) in rows]


projection.bind_computed(Chassis, nodes=links_to_nodes)


def index(request: Request, page: Page) -> Answer:
    """List chassis."""
    return listing.answer(request, Chassis, request.store.chassis, page)


def show(request: Request, chassis: str, view: Projection) -> Answer:
    """Show one chassis."""
    return answers.document(view.document(request, request.store.chassis.row(view.columns, chassis)))


def create(request: Request, values: Mapping[str, object]) -> Answer:
    """Create a chassis."""
    record = request.store.chassis.create(values)
    document = projection.full(Chassis, request.minor).of_record(request, record, {})
    return answers.created(document, request.url(f"/v1/chassis/{record.uuid}"))


def patch(request: Request, chassis: str, changes: Sequence[Change]) -> Answer:
    """Change a chassis."""

    def revise(record: ChassisRecord) -> dict[str, Any]:
        before = {name: getattr(record, name) for name in Chassis.writable("patch")}
        after = json_patch.patched(Chassis, before, changes, request)
        if "uuid" in after:
            raise InvalidParameterValue(err="The UUID of a chassis can't be changed.")
        return after

    record = row_changes.change(request.store, request.store.chassis, chassis, revise)
    return answers.document(projection.full(Chassis, request.minor).of_record(request, record, {}))


def delete(request: Request, chassis: str) -> Answer:
    """Delete a chassis that has no nodes."""
    request.store.chassis.delete(chassis)
    return NO_CONTENT


_ALL: Final = "/v1/chassis"
_ONE: Final = "/v1/chassis/{chassis}"
_GET: Final = "baremetal:chassis:get"
_WHOLE: Final = refuse_collection("the UUID of a chassis")

ROUTES = (
    Route("GET", _ALL, index, rule=_GET, of=List(Chassis)),
    Route("GET", f"{_ALL}/detail", index, rule=_GET, of=List(Chassis, detailed=True)),
    Route("POST", _ALL, create, rule="baremetal:chassis:create", of=Create(Chassis)),
    Route("PATCH", _ALL, _WHOLE),
    Route("DELETE", _ALL, _WHOLE),
    Route("GET", _ONE, show, rule=_GET, of=One(Chassis)),
    Route("PATCH", _ONE, patch, rule="baremetal:chassis:update", of=Patch(Chassis)),
    Route("DELETE", _ONE, delete, rule="baremetal:chassis:delete", of=Delete(Chassis)),
)
