"""What can be done with a node besides states: validation, maintenance, boot device, inventory, children.

Maintenance is a change of the row and needs no conductor, so that a node whose conductor is gone can still be taken out
of service; what touches the machine is asked of the serving conductor.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

from ironic.api import access, answers, input
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.errors import Abort, Refused, unacceptable
from ironic.api.refusing import Refuses, refuses
from ironic.api.request import Request
from ironic.api.resources import node_idents, node_serving, node_writes
from ironic.api.routes import Route
from ironic.core import secrets, syntax
from ironic.core.errors import MissingParameterValue
from ironic.core.resource_errors import NodeInventoryNotFound
from ironic.core.values import Bool, Text, Uuid

if TYPE_CHECKING:
    from ironic.db import NodeRecord

_VALIDATED = {"node": Text(), "node_uuid": Uuid()}
_REASON = (("reason", Text(None)),)
_BOOT_DEVICE = (("boot_device", Text()),)
_PERSISTENT = (("persistent", Bool()),)
_VALIDATE = "baremetal:node:validate"


def validate(request: Request, node: str) -> Answer:
    """Say of each interface whether the node could use it now."""
    input.query(request.query(), {})
    return _validated(request, node)


def validate_by_query(request: Request) -> Answer:
    """The older spelling of the same."""
    given = input.query(request.query(), _VALIDATED)
    node = given.get("node") or given.get("node_uuid")
    if not node:
        raise MissingParameterValue(err="node or node_uuid is required.")
    access.require_named(request, _VALIDATE, node)
    return _validated(request, node)


def _validated(request: Request, node: str) -> Answer:
    if request.minor < 5 and not syntax.is_uuid(node):
        raise unacceptable("Naming a node by its name", 5)
    conductor, uuid = node_serving.conductor(request, node)
    # Drivers say what is wrong with their options in texts that quote these.
    return answers.document(secrets.masked(conductor.validate_interfaces(request.context, uuid)))


def start_maintenance(request: Request, node: str) -> Answer:
    """Take a node out of service."""
    given = input.arguments(request.arguments(), _REASON)
    return _maintained(request, node, maintenance=True, maintenance_reason=given.get("reason"))


def end_maintenance(request: Request, node: str) -> Answer:
    """Put a node back into service."""
    input.query(request.query(), {})
    return _maintained(request, node, maintenance=False, maintenance_reason=None, fault=None)


def _maintained(request: Request, node: str, **values: Any) -> Answer:
    node_writes.when_free(request, node, _setter(values))
    return answers.accepted()


def _setter(values: dict[str, Any]) -> "Callable[[NodeRecord], None]":
    def change(record: "NodeRecord") -> None:
        for name, value in values.items():
            setattr(record, name, value)

    return change


def show_boot_device(request: Request, node: str) -> Answer:
    """Show what the machine boots from."""
    input.query(request.query(), {})
    conductor, uuid = node_serving.conductor(request, node)
    return answers.document(conductor.get_boot_device(request.context, uuid))


def list_boot_devices(request: Request, node: str) -> Answer:
    """List what the machine could boot from."""
    input.query(request.query(), {})
    conductor, uuid = node_serving.conductor(request, node)
    return answers.document({"supported_boot_devices": conductor.supported_boot_devices(request.context, uuid)})


def set_boot_device(request: Request, node: str) -> Answer:
    """Choose what the machine boots from."""
    given = input.arguments(request.arguments(), _PERSISTENT, _BOOT_DEVICE)
    conductor, uuid = node_serving.conductor(request, node)
    conductor.set_boot_device(request.context, uuid, given["boot_device"], given.get("persistent", False))
    return NO_CONTENT


def show_inventory(request: Request, node: str) -> Answer:
    """Show what the last inspection found."""
    input.query(request.query(), {})
    found, uuid = node_idents.row(request, ("id", "uuid"), node)
    texts = request.settings.inventories.texts(request.store, found, uuid)
    if texts is None:
        raise NodeInventoryNotFound(node=uuid)
    inventory, plugin_data = map(orjson.Fragment, map(str, texts))
    return answers.document({"inventory": inventory, "plugin_data": plugin_data})


def list_children(request: Request, node: str) -> Answer:
    """List the nodes that have this one as parent."""
    input.query(request.query(), {})
    (uuid,) = node_idents.row(request, ("uuid",), node)
    project = access.own_project(request)
    mine = {} if project is None else {"project": project}
    children = request.store.nodes.rows(("uuid",), filters={"parent_node": uuid, **mine})
    link = {"href": request.url(f"/v1/nodes?parent_node={uuid}"), "rel": "children"}
    return answers.document({"children": [row[0] for row in children], "links": link})


_GET_DEVICE = "baremetal:node:get_boot_device"
_MANAGEMENT = "/v1/nodes/{node}/management"

# Such segments once were read as fields, hence the status.
_NO_PART = refuses("A node has no such part.")
_NO_MANAGEMENT = Refuses(lambda: Abort(405, "Management has boot_device, indicators and inject_nmi only."))
_BELOW_DETAIL = Refuses(lambda: Refused(404, "There is nothing below the detailed list."))
ROUTES = (
    Route("GET", "/v1/nodes/validate", validate_by_query, judges=True),
    Route("GET", "/v1/nodes/detail/*", _BELOW_DETAIL),
    Route("GET", "/v1/nodes/{node}/validate", validate, rule=_VALIDATE),
    Route("PUT", "/v1/nodes/{node}/maintenance", start_maintenance, rule="baremetal:node:set_maintenance"),
    Route("DELETE", "/v1/nodes/{node}/maintenance", end_maintenance, rule="baremetal:node:clear_maintenance"),
    Route("GET", f"{_MANAGEMENT}/boot_device", show_boot_device, rule=_GET_DEVICE),
    Route("GET", f"{_MANAGEMENT}/boot_device/supported", list_boot_devices, rule=_GET_DEVICE),
    Route("PUT", f"{_MANAGEMENT}/boot_device", set_boot_device, rule="baremetal:node:set_boot_device"),
    Route("GET", _MANAGEMENT, _NO_MANAGEMENT),
    Route("GET", f"{_MANAGEMENT}/*", _NO_MANAGEMENT),
    Route("GET", "/v1/nodes/{node}/inventory", show_inventory, since=81, rule="baremetal:node:inventory:get"),
    Route("GET", "/v1/nodes/{node}/children", list_children, since=83, rule="baremetal:node:get"),
    Route("GET", "/v1/nodes/{node}/*", _NO_PART),
)
