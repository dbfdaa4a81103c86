"""Virtual interfaces of a node: which are bound to its ports, binding and freeing them.

What may be said about one besides its id is the network interface's own business, so all of the body is handed on.
"""

from typing import Any

from ironic.api import answers, input
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.refusing import Refuses
from ironic.api.request import Request
from ironic.api.resources.nodes import serving
from ironic.api.routes import Route
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.values import NameOrUuid, Uuid

_ID = {"id": NameOrUuid()}
_WHERE = {"port_uuid": Uuid(), "portgroup_uuid": Uuid()}


def index(request: Request, node: str) -> Answer:
    """List the virtual interfaces of a node."""
    input.query(request.query(), {})
    conductor, uuid = serving.conductor_of_part(request, node)
    return answers.document({"vifs": conductor.list_vifs(request.context, uuid)})


def attach(request: Request, node: str) -> Answer:
    """Bind a virtual interface to a port."""
    input.query(request.query(), {})
    vif = _read(request)
    conductor, uuid = serving.conductor_of_part(request, node)
    conductor.attach_vif(request.context, uuid, vif)
    return NO_CONTENT


def _read(request: Request) -> dict[str, Any]:
    vif = input.require_object(request.json())
    if vif.get("id") is None:
        raise MissingParameterValue(err="id is required.")
    known = input.check(_ID, {"id": vif["id"]})
    # Before 1.67 these two were keys like any other.
    if request.minor >= 67:
        where = {name: vif[name] for name in _WHERE if vif.get(name) is not None}
        if len(where) > 1:
            raise InvalidParameterValue(err="port_uuid and portgroup_uuid can't be used together.")
        known |= input.check(_WHERE, where)
    return vif | known


def detach(request: Request, node: str, vif: str) -> Answer:
    """Take a virtual interface off its port."""
    input.query(request.query(), {})
    conductor, uuid = serving.conductor_of_part(request, node)
    conductor.detach_vif(request.context, uuid, vif)
    return NO_CONTENT


_VIFS = "/v1/nodes/{node}/vifs"

_NOTHING = Refuses(
    lambda: MissingParameterValue(err="The path has to name the virtual interface: /v1/nodes/<node>/vifs/<id>.")
)
ROUTES = (
    Route("GET", _VIFS, index, since=28, rule="baremetal:node:vif:list"),
    Route("POST", _VIFS, attach, since=28, rule="baremetal:node:vif:attach"),
    Route("DELETE", _VIFS, _NOTHING, since=28, rule="baremetal:node:vif:detach"),
    Route("DELETE", f"{_VIFS}/{{vif}}", detach, since=28, rule="baremetal:node:vif:detach"),
)
