"""`/v1/nodes` and `/v1/chassis/{chassis}/nodes`: list and show nodes, and list the children of a node.

Reading never calls a conductor. The traits of nodes and their conductors are looked up once for a whole page.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ironic.api import access, answers, listing, named_nodes, projection
from ironic.api.answers import Answer
from ironic.api.crud import List, One
from ironic.api.error_responses import Refused
from ironic.api.json_schema import LINK, TEXT, closed, list_of
from ironic.api.listing import Page, PostFilter
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import Refusing, Route, refuses
from ironic.core.errors import HTTPForbidden, InvalidParameterValue, NoValidHost
from ironic.core.model.node import Node

if TYPE_CHECKING:
    from ironic.db import NodeRecord


# The columns that determine the conductor of a node.
_PLACED_BY: Final = Node.conductor.needs


def traits(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[list[str]]:
    """Return the traits of each node, in one query."""
    found = request.store.traits.of([row[0] for row in rows])
    return [found.get(row[0], []) for row in rows]


def hosts(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[str | None]:
    """Return the host of the conductor that serves each node, None for a node without one."""
    return [conductor_host(request, *row) for row in rows]


def conductor_host(request: Request, uuid: str, driver: str, group: str) -> str | None:
    """Return the host of the conductor that serves a node, None for a node without one."""
    try:
        return request.hash_ring.host_for(uuid, driver, group)
    except NoValidHost:
        return None


projection.bind_computed(Node, traits=traits, conductor=hosts)


def index(request: Request, page: Page) -> Answer:
    """List nodes."""
    return _listed(request, page, "nodes")


def index_of_chassis(request: Request, chassis: str, page: Page) -> Answer:
    """List the nodes of a chassis."""
    if page.filters.setdefault("chassis_uuid", chassis) != chassis:
        raise InvalidParameterValue(err="chassis_uuid is not the chassis in the path.")
    return _listed(request, page, f"chassis/{chassis}/nodes")


def _listed(request: Request, page: Page, path: str) -> Answer:
    """Return a page of nodes, narrowed to the caller's project unless the caller may list all nodes."""
    filters = listing.store_filters(Node, page)
    if (project := access.own_project(request)) is not None and filters.setdefault("project", project) != project:
        raise HTTPForbidden(resource=f"{access.LIST_NODES}_all")
    if page.filters.get("parent_node") is None and not page.filters.get("include_children"):
        filters["top_level"] = True
    if (chassis := page.filters.get("chassis_uuid")) is not None:
        if access.allows(request, "baremetal:chassis:get"):
            request.store.chassis.row(("id",), chassis)
        filters["chassis_uuid"] = chassis
    keep = None
    if (host := page.filters.get("conductor")) is not None:
        # The database does not know which conductor serves a node.
        keep = PostFilter(_PLACED_BY, lambda *placed_by: conductor_host(request, *placed_by) == host)
    return listing.answer(request, Node, request.store.nodes, page, filters, path=path, keep=keep)


def show(request: Request, node: str, view: Projection) -> Answer:
    """Show one node."""
    # Both statements see one state of the node, and share the cost of a connection.
    found = request.store.read(lambda _: view.document(request, named_nodes.row(request, view.columns, node)))
    return (answers.secret if view.is_unmasked else answers.document)(found)


def document(request: Request, record: "NodeRecord", *, is_new: bool = False) -> dict[str, Any]:
    """Return the document of a node that was just written, with all fields; a new one has no traits yet."""
    others: dict[str, object] = {"chassis_uuid": None, "allocation_uuid": None}
    if record.chassis_id is not None or record.allocation_id is not None:
        others = dict(zip(others, request.store.nodes.row(tuple(others), record.id), strict=True))
    if is_new:
        others["traits"] = []
    return projection.full(Node, request.minor, projection.visibility_of(request, Node)).of_record(
        request, record, others
    )


def list_children(request: Request, node: str) -> Answer:
    """List the child nodes of a node."""
    (uuid,) = named_nodes.row(request, ("uuid",), node)
    project = access.own_project(request)
    mine = {} if project is None else {"project": project}
    children = request.store.nodes.rows(("uuid",), filters={"parent_node": uuid, **mine})
    link = {"href": request.url(f"/v1/nodes?parent_node={uuid}"), "rel": "children"}
    return answers.document({"children": [row[0] for row in children], "links": link})


_ALL: Final = "/v1/nodes"
_ONE: Final = "/v1/nodes/{node}"
_OF_CHASSIS: Final = "/v1/chassis/{chassis}/nodes"
_CHILDREN: Final = closed({"children": list_of(TEXT), "links": LINK}, ["children", "links"])
_BELOW_DETAIL: Final = Refusing(lambda: Refused(404, "There is no path below the detailed list."))
_BELOW_CHASSIS: Final = refuses("The nodes of a chassis can only be listed; address one as /v1/nodes/<node>.")
# A 400, because such segments were read as fields once.
_BELOW_NODE: Final = refuses("A node has no such path.")

ROUTES = (
    Route("GET", _ALL, index, rule=access.LIST_NODES, of=List(Node)),
    Route("GET", f"{_ALL}/detail", index, rule=access.LIST_NODES, of=List(Node, detailed=True)),
    Route("GET", f"{_ALL}/detail/*", _BELOW_DETAIL),
    Route("GET", _OF_CHASSIS, index_of_chassis, rule=access.LIST_NODES, of=List(Node)),
    Route("GET", f"{_OF_CHASSIS}/detail", index_of_chassis, rule=access.LIST_NODES, of=List(Node, detailed=True)),
    Route("GET", f"{_OF_CHASSIS}/*", _BELOW_CHASSIS),
    Route("GET", _ONE, show, rule=access.SEE_NODE, of=One(Node)),
    Route("GET", f"{_ONE}/*", _BELOW_NODE),
    Route("GET", f"{_ONE}/children", list_children, since=83, rule=access.SEE_NODE, ok=200, answer=_CHILDREN),
)
