"""Creating, changing and deleting ports.

A new port is a row and nothing more, so it is written here in one transaction. Changing and deleting may matter to the
network that a machine is in, so the conductor that serves its node does that, after all that can be judged from the
request has been: the state of the node is looked at where it can't change any more, under the conductor's lock.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from ironic.api import access, answers, idents, input, json_patch, patching, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.request import Request
from ironic.api.resources import node_choice, node_references, port_references
from ironic.api.resources.node_references import Facts
from ironic.api.resources.port_fields import PATCHABLE, Port
from ironic.api.routes import Route
from ironic.api.types import Json
from ironic.core import states
from ironic.core.errors import InvalidParameterValue, NodeNotEditable

if TYPE_CHECKING:
    from ironic.rpc.conversation import ConductorCalls


def create(request: Request) -> Answer:
    """Add a port to a node."""
    input.query(request.query(), {})
    values = input.create(Port, request.json(), request.minor)
    with request.store.writing():
        owner = port_references.named_owner(request, values)
        access.require(request, "baremetal:port:create", owner)
        group = port_references.group(request, values.pop("portgroup_uuid", None), owner.id)
        values |= {"node_id": owner.id, "portgroup_id": group and group.id}
        port_references.check_boots(group, values.get("pxe_enabled", True), values)
        record = request.store.ports.create(values)
    referred = {"node_uuid": owner.uuid, "portgroup_uuid": group and group.uuid}
    document = projection.full(Port, request.minor).of_record(request, record, referred)
    return answers.created(document, request.url(f"/v1/ports/{record.uuid}"))


def patch(request: Request, port: str) -> Answer:
    """Change a port."""
    input.query(request.query(), {})
    changes = json_patch.read(request.json(), PATCHABLE, request.minor, request.settings.max_patch_operations)
    before = _before(request, port, {change.root for change in changes})
    node = node_references.facts(request, before["node_uuid"])
    _check_inspection(node, request.minor)
    values = patching.patched(Port, before, changes, request.minor)
    if values:
        wanted = _as_columns(request, before, values)
        _serving(request, node).update_port(request.context, before["uuid"], wanted)
    view = projection.full(Port, request.minor)
    return answers.document(view.document(request, request.store.ports.row(view.columns, before["uuid"])))


_ALWAYS = ("uuid", "node_id", "node_uuid", "portgroup_uuid", "pxe_enabled")


def _before(request: Request, port: str, roots: Collection[str]) -> dict[str, Any]:
    """Return what is looked at of a port before a change, as callers know it."""
    names = (*_ALWAYS, *sorted(set(roots) - set(_ALWAYS)))
    found = dict(zip(names, request.store.ports.row(names, port), strict=True))
    for name in roots:
        if isinstance(PATCHABLE[name].type, Json):
            found[name] = orjson.loads(found[name] or "{}")
    return found


def _check_inspection(node: Facts, minor: int) -> None:
    if node.provision_state == states.INSPECTING and minor >= 39:
        reason = "it is being inspected, so its ports may change; try again later"
        raise NodeNotEditable(node=node.uuid, state=node.provision_state, reason=reason)


def _as_columns(request: Request, before: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Put ids in place of the UUIDs that a patch names, and judge what belongs together."""
    columns = {name: value for name, value in values.items() if name not in ("node_uuid", "portgroup_uuid")}
    if "node_uuid" in values:
        columns["node_id"] = _new_owner(request, before["node_uuid"], values["node_uuid"])
    if not values.keys() & {"node_uuid", "portgroup_uuid", "pxe_enabled", "physical_network"}:
        return columns
    after = dict(before) | dict(values)
    group = port_references.group(request, after["portgroup_uuid"], columns.get("node_id", before["node_id"]))
    if "portgroup_uuid" in values:
        columns["portgroup_id"] = group and group.id
    port_references.check_boots(group, after["pxe_enabled"], columns)
    if group is not None and "physical_network" in values and request.minor >= 102:
        raise InvalidParameterValue(err=f"The physical network of a port in port group {group.uuid} is the group's.")
    return columns


def _new_owner(request: Request, now: str, wanted: str) -> int:
    old, new = port_references.owner(request, now), port_references.owner(request, wanted)
    if old.owner != new.owner:
        raise InvalidParameterValue(err="A port can only move to a node of the same owner.")
    return new.id


def delete(request: Request, port: str) -> Answer:
    """Delete a port."""
    input.query(request.query(), {})
    if not idents.is_uuid(port):
        raise InvalidParameterValue(err="A port that is to be deleted has to be named by its UUID.")
    uuid, node_uuid = request.store.ports.row(("uuid", "node_uuid"), port)
    _serving(request, node_references.facts(request, node_uuid)).destroy_port(request.context, uuid)
    return NO_CONTENT


def _serving(request: Request, node: Facts) -> "ConductorCalls":
    node_choice.check_served(request, node.uuid, node.driver, node.conductor_group)
    return request.conductors.serving(node)


def no_ident(request: Request, *ignored: str) -> Answer:
    """Refuse a change of the collection as a whole, and a creation where a port already is."""
    raise InvalidParameterValue(err="This needs a port's UUID or name in the path, and nothing else there.")


ROUTES = (
    Route("POST", "/v1/ports", create),  # judged by the node that the body names
    Route("PATCH", "/v1/ports", no_ident),
    Route("DELETE", "/v1/ports", no_ident),
    Route("POST", "/v1/ports/{port}", no_ident),
    Route("PATCH", "/v1/ports/{port}", patch, rule="baremetal:port:update"),
    Route("DELETE", "/v1/ports/{port}", delete, rule="baremetal:port:delete"),
)
