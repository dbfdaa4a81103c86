"""Creating, changing and deleting port groups.

No conductor takes part: a group is a row, changed in one transaction with the node's row held still. What the members
of a group share (the physical network) is written to them in the same transaction.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ironic.api import access, answers, input, json_patch, patching, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.fields import Field
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.api.resources import node_writes, port_references
from ironic.api.resources.portgroups import Portgroup
from ironic.api.routes import FAULT, Route
from ironic.core import states
from ironic.core.errors import (
    Conflict,
    InvalidParameterValue,
    MissingParameterValue,
    NodeNotEditable,
    PortgroupNotEmpty,
)

if TYPE_CHECKING:
    from ironic.db import NodeRecord, PortgroupRecord, PortRecord

# Fields that callers of any version may write, although only later versions show them.
_IN_ANY_VERSION: Final = ("physical_network", "category")
_PATCHABLE: Final[Mapping[str, Field]] = {
    name: dataclasses.replace(one, since=1) if name in _IN_ANY_VERSION else one
    for name, one in Portgroup.writable("patch").items()
}
# A group can move between nodes only while no instance depends on where its machine is plugged in.
_MAY_MOVE: Final = frozenset({states.ENROLL, states.MANAGEABLE, states.INSPECTING, states.INSPECTWAIT})


def create(request: Request) -> Answer:
    """Add a port group to a node."""
    input.query(request.query(), {})
    values = _new_values(request)
    with request.store.writing():
        owner = port_references.owner(request, values.pop("node_uuid"))
        access.require(request, "baremetal:portgroup:create", owner)
        record = request.store.portgroups.create(values | {"node_id": owner.id})
    document = projection.full(Portgroup, request.minor).of_record(request, record, {"node_uuid": owner.uuid})
    return answers.created(document, request.url(f"/v1/portgroups/{record.uuid}"))


def _new_values(request: Request) -> dict[str, Any]:
    given = dict(input.require_object(request.json()))
    early: dict[str, Any] = {name: given.pop(name) for name in _IN_ANY_VERSION if name in given}
    values = input.create(Portgroup, given, request.minor) | input.written(_PATCHABLE, early, request.minor)
    if values.get("node_uuid") is None:
        raise MissingParameterValue(err="node_uuid is required.")
    values["mode"] = values.get("mode") or request.settings.default_portgroup_mode
    return values


def patch(request: Request, portgroup: str) -> Answer:
    """Change a port group."""
    input.query(request.query(), {})
    changes = json_patch.read(request.json(), _PATCHABLE, request.minor, request.settings.max_patch_operations)
    uuid, node = request.store.portgroups.row(("uuid", "node_uuid"), portgroup)
    node_writes.when_free(request, node, lambda record: _change(request, record, uuid, changes))
    view = projection.full(Portgroup, request.minor)
    return answers.document(view.document(request, request.store.portgroups.row(view.columns, uuid)))


def _change(request: Request, node: "NodeRecord", uuid: str, changes: Sequence[Change]) -> None:
    if node.provision_state == states.INSPECTING and request.minor >= 39:
        reason = "it is being inspected, so its port groups may change; try again later"
        raise NodeNotEditable(node=node.uuid, state=node.provision_state, reason=reason)
    if any(change.root == "mode" and change.op == "remove" for change in changes):
        raise InvalidParameterValue(err="mode must not be removed.")
    group = request.store.portgroups.get(uuid)
    before = {name: getattr(group, name) for name in _PATCHABLE if name != "node_uuid"} | {"node_uuid": node.uuid}
    values = patching.patched(Portgroup, before, changes, request.minor)
    _apply(request, node, group, values)


def _apply(request: Request, node: "NodeRecord", group: "PortgroupRecord", values: dict[str, Any]) -> None:
    members = request.store.ports.find(portgroup_id=group.id)
    if "node_uuid" in values:
        group.node_id = _new_node(request, node, group, members, values.pop("node_uuid"))
    if values.get("standalone_ports_supported") is False and any(port.pxe_enabled for port in members):
        raise Conflict(f"Ports of port group {group.uuid} boot by themselves; set their pxe_enabled to false first.")
    for name, value in values.items():
        setattr(group, name, value)
    group.save()
    if "physical_network" in values:
        for port in members:
            port.physical_network = values["physical_network"]
            port.save()


def _new_node(
    request: Request, node: "NodeRecord", group: "PortgroupRecord", members: "Sequence[PortRecord]", wanted: str
) -> int:
    if members:
        raise PortgroupNotEmpty(portgroup=group.uuid)
    if node.provision_state not in _MAY_MOVE and not node.maintenance:
        reason = f"its port groups can move in: {', '.join(sorted(_MAY_MOVE))}"
        raise NodeNotEditable(node=node.uuid, state=node.provision_state, reason=reason)
    return port_references.owner(request, wanted).id


def delete(request: Request, portgroup: str) -> Answer:
    """Delete a port group that has no ports."""
    input.query(request.query(), {})
    uuid, node = request.store.portgroups.row(("uuid", "node_uuid"), portgroup)
    node_writes.when_free(request, node, lambda record: request.store.portgroups.delete(uuid))
    return NO_CONTENT


_ONE: Final = "/v1/portgroups/{portgroup}"

ROUTES = (
    Route("POST", "/v1/portgroups", create, since=23, shape=FAULT),  # judged by the node that the body names
    Route("PATCH", _ONE, patch, since=23, shape=FAULT, rule="baremetal:portgroup:update"),
    Route("DELETE", _ONE, delete, since=23, shape=FAULT, rule="baremetal:portgroup:delete"),
)
