"""Virtual interfaces of a node: which are bound to its ports, binding and freeing them.

What may be said about one besides its id is the network interface's own business, so all of the body is handed on.
"""

from ironic.api import answers, named_nodes
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, Whole
from ironic.api.refusing import Refuses
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import OPEN, items
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.values import NameOrUuid, Uuid

# Before 1.67 these two are keys like any other.
_WHERE = (Argument("port_uuid", Uuid(), since=67), Argument("portgroup_uuid", Uuid(), since=67))


def index(request: Request, node: str) -> Answer:
    """List the virtual interfaces of a node."""
    conductor, uuid = named_nodes.conductor_of_part(request, node)
    return answers.document({"vifs": conductor.list_vifs(request.context, uuid)})


def attach(request: Request, node: str, vif: dict[str, object]) -> Answer:
    """Bind a virtual interface to a port."""
    if all(one.since <= request.minor and vif.get(one.name) is not None for one in _WHERE):
        raise InvalidParameterValue(err="port_uuid and portgroup_uuid can't be used together.")
    conductor, uuid = named_nodes.conductor_of_part(request, node)
    conductor.attach_vif(request.context, uuid, vif)
    return NO_CONTENT


def detach(request: Request, node: str, vif: str) -> Answer:
    """Take a virtual interface off its port."""
    conductor, uuid = named_nodes.conductor_of_part(request, node)
    conductor.detach_vif(request.context, uuid, vif)
    return NO_CONTENT


_VIFS = "/v1/nodes/{node}/vifs"

_NOTHING = Refuses(
    lambda: MissingParameterValue(err="The path has to name the virtual interface: /v1/nodes/<node>/vifs/<id>.")
)
ROUTES = (
    Route("GET", _VIFS, index, since=28, rule="baremetal:node:vif:list", ok=200, answer=items("vifs", OPEN)),
    Route(
        "POST",
        _VIFS,
        attach,
        since=28,
        rule="baremetal:node:vif:attach",
        body=Whole("vif", Argument("id", NameOrUuid(), required=True), *_WHERE),
        ok=204,
    ),
    Route("DELETE", _VIFS, _NOTHING, since=28, rule="baremetal:node:vif:detach"),
    Route("DELETE", f"{_VIFS}/{{vif}}", detach, since=28, rule="baremetal:node:vif:detach", ok=204),
)
