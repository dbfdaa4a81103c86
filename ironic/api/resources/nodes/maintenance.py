"""`/v1/nodes/{node}/maintenance`: set and clear the maintenance mode of a node.

It is a change of the row that needs no conductor, so it works for a node whose conductor is gone.
"""

from typing import Final

from ironic.api import answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, BodyOrQuery, check_sizes
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.model.node import Node
from ironic.core.values.value_types import Text
from ironic.services import node_changes


def set_maintenance(request: Request, node: str, reason: str | None = None) -> Answer:
    """Set maintenance mode of a node; a reason may be as long as by PATCH."""
    check_sizes(Node.table.fields, {"maintenance_reason": reason}, {}, request.settings.largest_field)
    ident, retries = named_nodes.check_ident(request, node), named_nodes.lock_retries(request)
    node_changes.set_maintenance(request.store, request.context, ident, retries, on=True, reason=reason)
    return answers.accepted()


def clear_maintenance(request: Request, node: str) -> Answer:
    """Clear maintenance mode of a node."""
    ident, retries = named_nodes.check_ident(request, node), named_nodes.lock_retries(request)
    node_changes.set_maintenance(request.store, request.context, ident, retries, on=False)
    return answers.accepted()


_MAINTENANCE: Final = "/v1/nodes/{node}/maintenance"

ROUTES = (
    Route(
        "PUT",
        _MAINTENANCE,
        set_maintenance,
        rule="baremetal:node:set_maintenance",
        body=BodyOrQuery(Argument("reason", Text(None))),
        ok=202,
    ),
    Route("DELETE", _MAINTENANCE, clear_maintenance, rule="baremetal:node:clear_maintenance", ok=202),
)
