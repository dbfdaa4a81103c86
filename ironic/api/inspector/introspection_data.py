"""`/v1/introspection/{node}/data`: the data of a node's last inspection, and processing them again.

One document: the plug-in data with the inventory as one of its keys. Source:
doc/contract/inspection.md#api-of-the-standalone-inspector.
"""

from typing import Any, Final

import orjson

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.arguments import UncheckedBody
from ironic.api.json_schema import OPEN
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core import node_rules
from ironic.core.errors.resource_errors import NodeInventoryNotFound
from ironic.core.rules.inspector.inspected_data import inspected_data
from ironic.inspection import posted_data, reported_data


def show(request: Request, node: str) -> Answer:
    """Show the data of the last inspection of a node, as hooks and rules have left them."""
    inventory, plugin_data = _stored(request, node)
    (discovered,) = named_nodes.row(request, ("auto_discovered",), node)
    processed = posted_data.processed_part(plugin_data)
    return answers.document(inspected_data(inventory, processed, auto_discovered=bool(discovered)))


def show_unprocessed(request: Request, node: str) -> Answer:
    """Show the data of the last inspection of a node as they were posted."""
    inventory, plugin_data = _stored(request, node)
    return answers.document({**posted_data.posted_part(plugin_data), "inventory": inventory})


def reapply(request: Request, node: str, report: Any) -> Answer:
    """Process the data of a node again: those of the body, or else those of its last inspection, as posted."""
    facts = named_nodes.node_values(request, node)
    node_rules.check_verb(facts, "inspect", by_holder=False)
    if report:
        # The caller writes what otherwise only the machine says, and rules act upon.
        access.require(request, "baremetal:node:update:properties", facts, node)
        inventory, plugin_data, *_ = reported_data.check_callback(report, facts.uuid)
        plugin_data.pop(posted_data.KEY, None)
    else:
        inventory, stored = _stored(request, node)
        plugin_data = posted_data.posted_part(stored)
    request.conductors.serving(facts).reapply_inspection(request.context, facts.uuid, inventory, plugin_data)
    return answers.accepted()


def _stored(request: Request, node: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return inventory and plug-in data of a node; raises NodeInventoryNotFound."""
    node_id, uuid = named_nodes.row(request, ("id", "uuid"), node)
    texts = request.settings.inventories.texts(request.store, node_id, uuid)
    if texts is None:
        raise NodeInventoryNotFound(node=uuid)
    inventory, plugin_data = (orjson.loads(str(text)) for text in texts)
    return inventory, plugin_data


_DATA: Final = "/v1/introspection/{node}/data"
_READ: Final = "baremetal:node:inventory:get"

ROUTES = (
    Route("GET", _DATA, show, rule=_READ, ok=200, answer=OPEN),
    Route("GET", f"{_DATA}/unprocessed", show_unprocessed, rule=_READ, ok=200, answer=OPEN),
    Route(
        "POST",
        f"{_DATA}/unprocessed",
        reapply,
        rule="baremetal:node:set_provision_state",
        body_limit="max_body_inspection",
        body=UncheckedBody("report"),
        ok=202,
    ),
)
