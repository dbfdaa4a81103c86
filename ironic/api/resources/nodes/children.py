"""The nodes that have a node as their parent."""

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import LINK, TEXT, closed, list_of


def index(request: Request, node: str) -> Answer:
    """List the nodes that have this one as parent."""
    (uuid,) = named_nodes.row(request, ("uuid",), node)
    project = access.own_project(request)
    mine = {} if project is None else {"project": project}
    children = request.store.nodes.rows(("uuid",), filters={"parent_node": uuid, **mine})
    link = {"href": request.url(f"/v1/nodes?parent_node={uuid}"), "rel": "children"}
    return answers.document({"children": [row[0] for row in children], "links": link})


_CHILDREN = closed({"children": list_of(TEXT), "links": LINK}, ["children", "links"])

ROUTES = (
    Route(
        "GET",
        "/v1/nodes/{node}/children",
        index,
        since=83,
        rule="baremetal:node:get",
        ok=200,
        answer=_CHILDREN,
    ),
)
