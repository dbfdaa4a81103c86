"""`/v1/nodes/{node}/vifs`: list, attach and detach the virtual interfaces (VIFs) of a node.

The network interface of the node decides what a VIF contains besides its ID, so the whole body is passed on.
"""

from typing import Final

from ironic.api import answers, named_nodes
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, OpenBody
from ironic.api.json_schema import OPEN, items
from ironic.api.request import Request
from ironic.api.routes import Refusing, Route
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.values.value_types import NameOrUuid, Uuid

# Before 1.67 these two are keys like any other.
_PORT_KEYS = (Argument("port_uuid", Uuid(), since=67), Argument("portgroup_uuid", Uuid(), since=67))


def index(request: Request, node: str) -> Answer:
    """List the VIFs of a node."""
    conductor, uuid = named_nodes.conductor_of_part(request, node)
    return answers.document({"vifs": conductor.list_vifs(request.context, uuid)})


def attach(request: Request, node: str, vif: dict[str, object]) -> Answer:
    """Attach a VIF to a node."""
    if all(one.since <= request.minor and vif.get(one.name) is not None for one in _PORT_KEYS):
        raise InvalidParameterValue(err="port_uuid and portgroup_uuid can't be used together.")
    conductor, uuid = named_nodes.conductor_of_part(request, node)
    conductor.attach_vif(request.context, uuid, vif)
    return NO_CONTENT


def detach(request: Request, node: str, vif: str) -> Answer:
    """Detach a VIF from a node."""
    conductor, uuid = named_nodes.conductor_of_part(request, node)
    conductor.detach_vif(request.context, uuid, vif)
    return NO_CONTENT


_ALL: Final = "/v1/nodes/{node}/vifs"

_NO_IDENT = Refusing(
    lambda: MissingParameterValue(err="The ID of the VIF has to be in the path: /v1/nodes/<node>/vifs/<id>.")
)
ROUTES = (
    Route("GET", _ALL, index, since=28, rule="baremetal:node:vif:list", ok=200, answer=items("vifs", OPEN)),
    Route(
        "POST",
        _ALL,
        attach,
        since=28,
        rule="baremetal:node:vif:attach",
        body=OpenBody("vif", Argument("id", NameOrUuid(), required=True), *_PORT_KEYS),
        ok=204,
    ),
    Route("DELETE", _ALL, _NO_IDENT, since=28, rule="baremetal:node:vif:detach"),
    Route("DELETE", f"{_ALL}/{{vif}}", detach, since=28, rule="baremetal:node:vif:detach", ok=204),
)
