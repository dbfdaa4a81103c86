"""Chassis: what nodes stand in. Rows and nothing more; no conductor has a part in them.

Source: facts/fields.yaml and endpoints.yaml.
"""

from collections.abc import Sequence
from typing import Any

from ironic.api import answers, computed, input, listing, patching, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.refusing import refuses
from ironic.api.request import Request
from ironic.api.resources import nodes
from ironic.api.resources.node_fields import Node
from ironic.api.routes import Route
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.chassis import Chassis


def links_to_nodes(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
    """Return the links to the nodes of each chassis; they always were one list deeper than other links."""
    return [[projection.links(request.base, f"chassis/{uuid}/nodes")] for (uuid,) in rows]


computed.bind(Chassis, nodes=links_to_nodes)


def index(request: Request) -> Answer:
    """List chassis."""
    return listing.answer(request, Chassis, request.store.chassis, listing.read(request, Chassis), {})


def detail(request: Request) -> Answer:
    """List chassis with all fields; the older spelling of `detail=true`."""
    page = listing.read(request, Chassis, detailed=True)
    return listing.answer(request, Chassis, request.store.chassis, page, {}, path="chassis/detail")


def show(request: Request, chassis: str) -> Answer:
    """Show one chassis."""
    view = listing.one(request, Chassis)
    return answers.document(view.document(request, request.store.chassis.row(view.columns, chassis)))


def create(request: Request) -> Answer:
    """Add a chassis."""
    input.query(request.query(), {})
    record = request.store.chassis.create(input.create(Chassis, request.json(), request.minor))
    document = projection.full(Chassis, request.minor).of_record(request, record, {})
    return answers.created(document, request.url(f"/v1/chassis/{record.uuid}"))


def patch(request: Request, chassis: str) -> Answer:
    """Change a chassis."""
    input.query(request.query(), {})
    changes = patching.read(request, Chassis)
    with request.store.writing():
        record = request.store.chassis.get(chassis)
        before = {name: getattr(record, name) for name in Chassis.writable("patch")}
        values = patching.patched(Chassis, before, changes, request.minor)
        if "uuid" in values:
            raise InvalidParameterValue(err="A chassis keeps its UUID.")
        for name, value in values.items():
            setattr(record, name, value)
        record.save()
    return answers.document(projection.full(Chassis, request.minor).of_record(request, record, {}))


def delete(request: Request, chassis: str) -> Answer:
    """Delete a chassis that holds no nodes."""
    input.query(request.query(), {})
    request.store.chassis.delete(chassis)
    return NO_CONTENT


def index_of_nodes(request: Request, chassis: str) -> Answer:
    """List the nodes of a chassis."""
    page = listing.read(request, Node)
    page.filters["chassis_uuid"] = chassis
    return nodes.listed(request, page, f"chassis/{chassis}/nodes")


def detail_of_nodes(request: Request, chassis: str) -> Answer:
    """List the nodes of a chassis with all fields."""
    page = listing.read(request, Node, detailed=True)
    page.filters["chassis_uuid"] = chassis
    return nodes.listed(request, page, f"chassis/{chassis}/nodes/detail")


_ONE = "/v1/chassis/{chassis}"

_ELSEWHERE = refuses("This needs a chassis's UUID in the path; of its nodes there is only the list.")
ROUTES = (
    Route("GET", "/v1/chassis", index, rule="baremetal:chassis:get"),
    Route("GET", "/v1/chassis/detail", detail, rule="baremetal:chassis:get"),
    Route("POST", "/v1/chassis", create, rule="baremetal:chassis:create"),
    Route("PATCH", "/v1/chassis", _ELSEWHERE),
    Route("DELETE", "/v1/chassis", _ELSEWHERE),
    Route("GET", _ONE, show, rule="baremetal:chassis:get"),
    Route("PATCH", _ONE, patch, rule="baremetal:chassis:update"),
    Route("DELETE", _ONE, delete, rule="baremetal:chassis:delete"),
    Route("GET", f"{_ONE}/nodes", index_of_nodes, rule="baremetal:node:list"),
    Route("GET", f"{_ONE}/nodes/detail", detail_of_nodes, rule="baremetal:node:list"),
    Route("GET", f"{_ONE}/nodes/*", _ELSEWHERE),
)
