"""Taking a node out of service and back.

That is a change of the row and needs no conductor, so that a node whose conductor is gone can be taken out as well.
"""

from typing import TYPE_CHECKING, Final

from ironic.api import answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, BodyOrQuery
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.values import Text
from ironic.services import nodes

if TYPE_CHECKING:
    pass


def start(request: Request, node: str, reason: str | None = None) -> Answer:
    """Take a node out of service."""
    ident, patience = named_nodes.check(request, node), named_nodes.patience(request)
    nodes.set_maintenance(request.store, ident, patience, on=True, reason=reason)
    return answers.accepted()


def end(request: Request, node: str) -> Answer:
    """Put a node back into service."""
    nodes.set_maintenance(request.store, named_nodes.check(request, node), named_nodes.patience(request), on=False)
    return answers.accepted()


_MAINTENANCE: Final = "/v1/nodes/{node}/maintenance"

ROUTES = (
    Route(
        "PUT",
        _MAINTENANCE,
        start,
        rule="baremetal:node:set_maintenance",
        body=BodyOrQuery(Argument("reason", Text(None))),
        ok=202,
    ),
    Route("DELETE", _MAINTENANCE, end, rule="baremetal:node:clear_maintenance", ok=202),
)
