"""`/v1/nodes/{node}/inventory`: the inventory of a node from its last inspection."""

import orjson

from ironic.api import answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.json_schema import OPEN, closed
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors.resource_errors import NodeInventoryNotFound
from ironic.inspection import posted_data


def show(request: Request, node: str) -> Answer:
    """Show the inventory and plug-in data of the last inspection of a node."""
    found, uuid = named_nodes.row(request, ("id", "uuid"), node)
    texts = request.settings.inventories.texts(request.store, found, uuid)
    if texts is None and request.store.refused_reports.stored_at(found) is not None:
        raise NodeInventoryNotFound(
            f"Node {uuid} has no inventory of an inspection that succeeded; last_error says why the last one failed. "
            "Dry runs of inspection rules use its data."
        )
    if texts is None:
        raise NodeInventoryNotFound(node=uuid)
    inventory, plugin_data = str(texts.inventory), posted_data.processed_text(str(texts.plugin_data))
    return answers.document({"inventory": orjson.Fragment(inventory), "plugin_data": orjson.Fragment(plugin_data)})


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
