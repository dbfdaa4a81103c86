"""`/v1/nodes/{node}/history`: the history of a node, oldest entry first. It is read-only.

Source: doc/contract/fields.md#history-entry.
"""

from collections.abc import Sequence
from typing import Final

from ironic.api import answers, listing, named_nodes, projection
from ironic.api.answers import Answer
from ironic.api.crud import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request, printable
from ironic.api.routes import Route
from ironic.core.errors.resource_errors import NodeHistoryNotFound
from ironic.core.model.node import HistoryEntry
from ironic.core.texts import syntax


def link_to_entry(request: Request, rows: Sequence[tuple[object, ...]]) -> Sequence[object]:
    """Return the link of each entry; entries have no bookmark."""
    base = request.url("/v1/nodes")
    return [[{"href": f"{base}/{node}/history/{entry}", "rel": "self"}] for entry, node in rows]


projection.bind_computed(HistoryEntry, links=link_to_entry)


def index(request: Request, node: str, page: Page) -> Answer:
    """List the history of a node."""
    node_id, uuid = named_nodes.row(request, ("id", "uuid"), node)
    path = f"nodes/{uuid}/history"
    return listing.answer(request, HistoryEntry, request.store.history, page, {"node_id": node_id}, path=path)


def show(request: Request, node: str, entry: str, view: Projection) -> Answer:
    """Show one entry of the history of a node."""
    (node_id,) = named_nodes.row(request, ("id",), node)
    if not syntax.is_uuid(entry):
        raise NodeHistoryNotFound(entry=printable(entry))
    its_node, *row = request.store.history.row(("node_id", *view.columns), entry)
    if its_node != node_id:
        raise NodeHistoryNotFound(entry=entry)
    return answers.document(view.document(request, row))


_RULE: Final = "baremetal:node:history:get"

ROUTES = (
    Route("GET", "/v1/nodes/{node}/history", index, since=78, rule=_RULE, of=List(HistoryEntry)),
    Route("GET", "/v1/nodes/{node}/history/{entry}", show, since=78, rule=_RULE, of=One(HistoryEntry)),
)
