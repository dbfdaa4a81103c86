"""Port groups: list and show, also as a part of their node."""

from collections.abc import Mapping
from typing import Any

from ironic.api import access, answers, listing, named_nodes
from ironic.api.answers import Answer
from ironic.api.forms import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.refusing import refuses
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.portgroup import Portgroup

# Filters of which a request may have one.
_EITHER = ("node", "address", "shard", "conductor_groups")
# None can be asked for where the path names the node.
_SAID = frozenset(_EITHER)


def index(request: Request, page: Page) -> Answer:
    """List port groups."""
    filters = _filters(request, page, page.filters)
    if (node := page.filters.get("node")) is not None:
        filters["node_id"] = named_nodes.seen(request, node)
    return listing.answer(request, Portgroup, request.store.portgroups, page, filters)


def index_of_node(request: Request, node: str, page: Page) -> Answer:
    """List the port groups of a node."""
    (found,) = named_nodes.row(request, ("id",), node)
    filters = _filters(request, page, page.filters | {"node": node}) | {"node_id": found}
    # Links to further pages leave the node, as they lose other filters; clients know both.
    return listing.answer(request, Portgroup, request.store.portgroups, page, filters)


def _filters(request: Request, page: Page, asked: Mapping[str, Any]) -> dict[str, Any]:
    if sum(name in asked for name in _EITHER) > 1:
        raise InvalidParameterValue(err=f"Only one of {', '.join(_EITHER)} can be asked for at a time.")
    filters = listing.store_filters(Portgroup, page)
    if "conductor_groups" in filters:
        filters["conductor_groups"] = [name.lower() for name in filters["conductor_groups"]]
    if (project := access.own_project(request, access.LIST_PORTGROUPS)) is not None:
        filters["project"] = project
    return filters


def show(request: Request, portgroup: str, view: Projection) -> Answer:
    """Show one port group."""
    return answers.document(view.document(request, request.store.portgroups.row(view.columns, portgroup)))


_ONE, _OF_NODE = "/v1/portgroups/{portgroup}", "/v1/nodes/{node}/portgroups"

_LISTED = refuses("Below a node port groups can only be listed; address one as /v1/portgroups/<port group>.")
ROUTES = (
    Route("GET", "/v1/portgroups", index, since=23, shape=FAULT, rule=access.LIST_PORTGROUPS, of=List(Portgroup)),
    Route(
        "GET",
        "/v1/portgroups/detail",
        index,
        since=23,
        shape=FAULT,
        rule=access.LIST_PORTGROUPS,
        of=List(Portgroup, detailed=True),
    ),
    Route("GET", _ONE, show, since=23, shape=FAULT, rule="baremetal:portgroup:get", of=One(Portgroup)),
    Route("GET", _OF_NODE, index_of_node, since=24, rule=access.SEE_NODE, of=List(Portgroup, without=_SAID)),
    Route(
        "GET",
        f"{_OF_NODE}/detail",
        index_of_node,
        since=24,
        rule=access.SEE_NODE,
        of=List(Portgroup, detailed=True, without=_SAID),
    ),
    *(Route(method, _OF_NODE, _LISTED, since=24) for method in ("POST", "PATCH", "DELETE")),
    *(Route(method, f"{_OF_NODE}/*", _LISTED, since=24) for method in ("GET", "POST", "PATCH", "DELETE")),
)
