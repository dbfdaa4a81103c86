"""Allocations: list and show, also as a part of their node. Writing is in `allocation_writes`."""

from ironic.api import access, answers, listing, named_nodes
from ironic.api.answers import Answer
from ironic.api.forms import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.errors import HTTPForbidden, InvalidParameterValue, NodeNotFound
from ironic.core.model.allocation import Allocation
from ironic.core.resource_errors import AllocationNotFound


def index(request: Request, page: Page) -> Answer:
    """List allocations."""
    filters = listing.store_filters(Allocation, page)
    if (node := page.filters.get("node")) is not None:
        filters["node_id"] = _node_id(request, node)
    _narrow(request, filters)
    return listing.answer(request, Allocation, request.store.allocations, page, filters)


def _node_id(request: Request, ident: str) -> int:
    try:
        found, owner, lessee = request.store.nodes.row(("id", "owner", "lessee"), ident)
        access.require_seen(request, ident, owner, lessee)
    except NodeNotFound:
        raise InvalidParameterValue(err="node names no node.") from None
    return int(found)


def _narrow(request: Request, filters: dict[str, object]) -> None:
    """Keep a caller who may not see all to the allocations of the own project."""
    project = access.own_project(request, access.LIST_ALLOCATIONS)
    if project is None:
        return
    if filters.setdefault("owner", project) != project:
        raise HTTPForbidden(resource=f"{access.LIST_ALLOCATIONS}_all")


def show(request: Request, allocation: str, view: Projection) -> Answer:
    """Show one allocation."""
    return answers.document(view.document(request, request.store.allocations.row(view.columns, allocation)))


def show_of_node(request: Request, node: str, view: Projection) -> Answer:
    """Show the allocation of a node."""
    found = of_node(request, node, "baremetal:allocation:get")
    return answers.document(view.document(request, request.store.allocations.row(view.columns, found)))


def of_node(request: Request, node: str, rule: str) -> str:
    """Return the UUID of a node's allocation, if there is one and the caller may."""
    uuid, allocation = named_nodes.row(request, ("uuid", "allocation_uuid"), node)
    if allocation is None:
        raise AllocationNotFound(f"Node {uuid} has no allocation.", allocation=None)
    if not request.services.policy.is_open:
        (owner,) = request.store.allocations.row(("owner",), allocation)
        access.require_own(request, rule, "allocation", allocation, owner)
    return str(allocation)


_GET = "baremetal:allocation:get"

ROUTES = (
    Route("GET", "/v1/allocations", index, since=52, shape=FAULT, rule=access.LIST_ALLOCATIONS, of=List(Allocation)),
    Route("GET", "/v1/allocations/{allocation}", show, since=52, shape=FAULT, rule=_GET, of=One(Allocation)),
    Route("GET", "/v1/nodes/{node}/allocation", show_of_node, since=52, rule=access.SEE_NODE, of=One(Allocation)),
)
