"""Ports: list and show, also as a part of their node or port group.

Reading never goes through a conductor. Writing is in `writes`.
"""

from collections.abc import Mapping
from typing import Any

from ironic.api import access, answers, listing, named_nodes
from ironic.api.answers import Answer
from ironic.api.errors import Refused, unacceptable
from ironic.api.forms import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.refusing import refuses
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.port import Port
from ironic.core.resource_errors import PortgroupNotFound

# Filters of which a request may have one.
_EITHER = ("node", "portgroup", "shard")
# What can't be asked for where the path says whose ports they are.
_SAID = frozenset({*_EITHER, "conductor_groups"})
_JUDGED_BY = ("owner", "lessee")
_NOT_WITH_GROUPS = ("node", "portgroup", "address")


def index(request: Request, page: Page) -> Answer:
    """List ports."""
    filters = _filters(request, page, page.filters)
    if (node := page.filters.get("node")) is not None:
        filters["node_id"] = _node_id(request, node)
    if (portgroup := page.filters.get("portgroup")) is not None:
        filters["portgroup_id"] = _portgroup_id(request, portgroup)
    return listing.answer(request, Port, request.store.ports, page, filters)


def index_of_node(request: Request, node: str, page: Page) -> Answer:
    """List the ports of a node."""
    (found,) = named_nodes.row(request, ("id",), node)
    filters = _filters(request, page, page.filters | {"node": node}) | {"node_id": found}
    # Links to further pages leave the node, as they lose other filters; clients know both.
    return listing.answer(request, Port, request.store.ports, page, filters)


def index_of_portgroup(request: Request, portgroup: str, page: Page) -> Answer:
    """List the ports of a port group."""
    found, uuid = request.store.portgroups.row(("id", "uuid"), portgroup)
    filters = _filters(request, page, page.filters | {"portgroup": portgroup}) | {"portgroup_id": found}
    return listing.answer(request, Port, request.store.ports, page, filters, path=f"portgroups/{uuid}/ports")


def _portgroup_id(request: Request, ident: str) -> int:
    found: int
    found, node = request.store.portgroups.row(("id", "node_id"), ident)
    owner, lessee = (None, None) if access.sees_all_nodes(request) else request.store.nodes.row(_JUDGED_BY, node)
    if not access.sees(request, owner, lessee):
        raise PortgroupNotFound(portgroup=ident)
    return found


def _filters(request: Request, page: Page, asked: Mapping[str, Any]) -> dict[str, Any]:
    _check_combination(asked)
    filters = listing.store_filters(Port, page)
    if (project := access.own_project(request, access.LIST_PORTS)) is not None:
        filters["project"] = project
    if "conductor_groups" in filters:
        # Nodes have their group in lower case, however it was spelled.
        filters["conductor_groups"] = [name.lower() for name in filters["conductor_groups"]]
    return filters


def _check_combination(filters: Mapping[str, object]) -> None:
    if sum(name in filters for name in _EITHER) > 1:
        raise Refused(403, f"Only one of {', '.join(_EITHER)} can be asked for at a time.")
    if "conductor_groups" in filters and any(name in filters for name in _NOT_WITH_GROUPS):
        raise InvalidParameterValue(err=f"conductor_groups can't be used with {', '.join(_NOT_WITH_GROUPS)}.")


def _node_id(request: Request, ident: str) -> int:
    if request.minor < 5 and not syntax.is_uuid(ident):
        raise unacceptable("Naming a node by its name", 5)
    return named_nodes.seen(request, ident)


def show(request: Request, port: str, view: Projection) -> Answer:
    """Show one port."""
    return answers.document(view.document(request, request.store.ports.row(view.columns, port)))


_OF_NODE, _OF_PORTGROUP = "/v1/nodes/{node}/ports", "/v1/portgroups/{portgroup}/ports"

_LISTED = refuses("Here ports can only be listed; address one as /v1/ports/<port>.")
ROUTES = (
    Route("GET", "/v1/ports", index, rule=access.LIST_PORTS, of=List(Port)),
    Route("GET", "/v1/ports/detail", index, rule=access.LIST_PORTS, of=List(Port, detailed=True)),
    Route("GET", "/v1/ports/{port}", show, rule="baremetal:port:get", of=One(Port)),
    Route("GET", _OF_NODE, index_of_node, rule=access.SEE_NODE, of=List(Port, without=_SAID)),
    Route(
        "GET", f"{_OF_NODE}/detail", index_of_node, rule=access.SEE_NODE, of=List(Port, detailed=True, without=_SAID)
    ),
    *(Route(method, _OF_NODE, _LISTED) for method in ("POST", "PATCH", "DELETE")),
    *(Route(method, f"{_OF_NODE}/*", _LISTED) for method in ("GET", "POST", "PATCH", "DELETE")),
    Route("GET", _OF_PORTGROUP, index_of_portgroup, since=24, rule=access.LIST_PORTS, of=List(Port, without=_SAID)),
    Route(
        "GET",
        f"{_OF_PORTGROUP}/detail",
        index_of_portgroup,
        since=24,
        rule=access.LIST_PORTS,
        of=List(Port, detailed=True, without=_SAID),
    ),
    *(Route(method, _OF_PORTGROUP, _LISTED, since=24) for method in ("POST", "PATCH", "DELETE")),
    *(Route(method, f"{_OF_PORTGROUP}/*", _LISTED, since=24) for method in ("GET", "POST", "PATCH", "DELETE")),
)
