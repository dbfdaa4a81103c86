"""The inventory of a node, as its last inspection left it."""

import orjson

from ironic.api import answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import OPEN, closed
from ironic.core.resource_errors import NodeInventoryNotFound


def show(request: Request, node: str) -> Answer:
    """Show what the last inspection found."""
    found, uuid = named_nodes.row(request, ("id", "uuid"), node)
    texts = request.settings.inventories.texts(request.store, found, uuid)
    if texts is None:
        raise NodeInventoryNotFound(node=uuid)
    inventory, plugin_data = map(orjson.Fragment, map(str, texts))
    return answers.document({"inventory": inventory, "plugin_data": plugin_data})


_INVENTORY = closed({"inventory": OPEN, "plugin_data": OPEN}, ["inventory", "plugin_data"])

ROUTES = (
    Route(
        "GET",
        "/v1/nodes/{node}/inventory",
        show,
        since=81,
        rule="baremetal:node:inventory:get",
        ok=200,
        answer=_INVENTORY,
    ),
)
