"""Nodes: list and show.

A handler reads the request into plain values, makes one call and shapes the answer. Reading never goes through a
conductor.
"""

from typing import TYPE_CHECKING, Any

from ironic.api import access, answers, listing, named_nodes, projection
from ironic.api.answers import Answer
from ironic.api.errors import Refused
from ironic.api.forms import List, One
from ironic.api.listing import Keep, Page
from ironic.api.projection import Projection
from ironic.api.refusing import Refuses, refuses
from ironic.api.request import Request
from ironic.api.resources.nodes import computed
from ironic.api.routes import Route
from ironic.core.errors import HTTPForbidden, InvalidParameterValue
from ironic.core.model.node import Node

if TYPE_CHECKING:
    from ironic.db import NodeRecord


def index(request: Request, page: Page) -> Answer:
    """List nodes."""
    return listed(request, page, "nodes")


def listed(request: Request, page: Page, path: str) -> Answer:
    """Answer with the page that was asked for."""
    filters = listing.store_filters(Node, page)
    if (project := access.own_project(request)) is not None and filters.setdefault("project", project) != project:
        raise HTTPForbidden(resource=f"{access.LIST_NODES}_all")
    if page.filters.get("parent_node") is None and not page.filters.get("include_children"):
        filters["top_level"] = True
    if (chassis := page.filters.get("chassis_uuid")) is not None:
        if access.allows(request, "baremetal:chassis:get"):
            request.store.chassis.row(("id",), chassis)
        filters["chassis_uuid"] = chassis
    return listing.answer(
        request, Node, request.store.nodes, page, filters, path=path, keep=_of_conductor(request, page)
    )


def index_of_chassis(request: Request, chassis: str, page: Page) -> Answer:
    """List the nodes of a chassis."""
    if page.filters.setdefault("chassis_uuid", chassis) != chassis:
        raise InvalidParameterValue(err="chassis_uuid is another chassis than the one that the path names.")
    return listed(request, page, f"chassis/{chassis}/nodes")


def _of_conductor(request: Request, page: Page) -> Keep | None:
    host = page.filters.get("conductor")
    if host is None:
        return None
    return Keep(computed.PLACED_BY, lambda *placed_by: computed.host(request, *placed_by) == host)


def show(request: Request, node: str, view: Projection) -> Answer:
    """Show one node."""
    row = named_nodes.row(request, view.columns, node)
    return (answers.secret if view.is_unmasked else answers.document)(view.document(request, row))


def document(request: Request, record: "NodeRecord") -> dict[str, Any]:
    """Return the whole document of a node that was just written."""
    others = {"chassis_uuid": None, "allocation_uuid": None}
    if record.chassis_id is not None or record.allocation_id is not None:
        others = dict(zip(others, request.store.nodes.row(tuple(others), record.id), strict=True))
    return projection.full(Node, request.minor, projection.sight(request, Node)).of_record(request, record, others)


# Such segments once were read as fields, hence the status.
_OF_CHASSIS = "/v1/chassis/{chassis}/nodes"
_NO_PART = refuses("A node has no such part.")
_BELOW_DETAIL = Refuses(lambda: Refused(404, "There is nothing below the detailed list."))
ROUTES = (
    Route("GET", "/v1/nodes", index, rule="baremetal:node:list", of=List(Node)),
    Route("GET", "/v1/nodes/detail", index, rule="baremetal:node:list", of=List(Node, detailed=True)),
    Route("GET", "/v1/nodes/detail/*", _BELOW_DETAIL),
    Route("GET", _OF_CHASSIS, index_of_chassis, rule="baremetal:node:list", of=List(Node)),
    Route("GET", f"{_OF_CHASSIS}/detail", index_of_chassis, rule="baremetal:node:list", of=List(Node, detailed=True)),
    Route("GET", f"{_OF_CHASSIS}/*", refuses("Of the nodes of a chassis there is only the list.")),
    Route("GET", "/v1/nodes/{node}", show, rule="baremetal:node:get", of=One(Node)),
    Route("GET", "/v1/nodes/{node}/*", _NO_PART),
)
