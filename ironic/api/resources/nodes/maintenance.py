"""Taking a node out of service and back.

That is a change of the row and needs no conductor, so that a node whose conductor is gone can be taken out as well.
"""

from typing import TYPE_CHECKING, Any, Final

from ironic.api import answers
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, BodyOrQuery
from ironic.api.request import Request
from ironic.api.resources.nodes import writes
from ironic.api.routes import Route
from ironic.core import node_rules
from ironic.core.values import Text

if TYPE_CHECKING:
    from ironic.db import NodeRecord


def start(request: Request, node: str, reason: str | None = None) -> Answer:
    """Take a node out of service."""
    return _set(request, node, maintenance=True, maintenance_reason=reason)


def end(request: Request, node: str) -> Answer:
    """Put a node back into service."""
    return _set(request, node, maintenance=False)


def _set(request: Request, node: str, **values: Any) -> Answer:
    def change(record: "NodeRecord") -> None:
        for name, value in (values | node_rules.consequences(values)).items():
            setattr(record, name, value)

    writes.when_free(request, node, change)
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
