"""`/v1/nodes/{node}/validate`: whether each interface of a node has what it needs to work."""

from typing import Final

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.arguments import Argument
from ironic.api.error_responses import unacceptable
from ironic.api.json_schema import TEXT, Schema, closed
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors import MissingParameterValue
from ironic.core.secrets import masking
from ironic.core.texts import syntax
from ironic.core.values.value_types import Text, Uuid

_VALIDATE: Final = "baremetal:node:validate"


def validate(request: Request, node: str) -> Answer:
    """Validate the interfaces of a node."""
    return _validated(request, node)


def validate_by_query(request: Request, node: str = "", node_uuid: str = "") -> Answer:
    """Validate the interfaces of a node, older spelling with the node in the query."""
    ident = node or node_uuid
    if not ident:
        raise MissingParameterValue(err="node or node_uuid is required.")
    access.require_named(request, _VALIDATE, ident)
    request.node = ident
    return _validated(request, ident)


def _validated(request: Request, node: str) -> Answer:
    if request.minor < access.NAMES_SINCE and not syntax.is_uuid(node):
        raise unacceptable("Naming a node by its name", access.NAMES_SINCE)
    conductor, uuid = named_nodes.conductor(request, node)
    # The reasons are texts of drivers, which may quote secret options and addresses.
    verdicts = masking.masked(conductor.validate_interfaces(request.context, uuid))
    shown = access.without_addresses(request, uuid)
    for verdict in verdicts.values():
        if reason := verdict.get("reason"):
            verdict["reason"] = shown(reason)
    return answers.document(verdicts)


_VERDICTS: Final[Schema] = {
    "type": "object",
    "additionalProperties": closed({"result": {"type": ["boolean", "null"]}, "reason": TEXT}, ["result"]),
}

ROUTES = (
    Route(
        "GET",
        "/v1/nodes/validate",
        validate_by_query,
        handler_authorizes=True,
        query=(Argument("node", Text()), Argument("node_uuid", Uuid())),
        ok=200,
        answer=_VERDICTS,
    ),
    Route("GET", "/v1/nodes/{node}/validate", validate, rule=_VALIDATE, ok=200, answer=_VERDICTS),
)
