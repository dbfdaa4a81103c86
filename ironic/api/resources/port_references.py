"""What a port or port group refers to: its node, and perhaps a port group of that node.

The API speaks of both by UUID (the node since 1.94 also by name), the row holds ids. A reference to something that is
not there is a 400: the caller's body is wrong, not the path.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ironic.api.request import Request
from ironic.api.resources.node_references import Facts
from ironic.core import states
from ironic.core.errors import Conflict, InvalidParameterValue, MissingParameterValue, NodeNotEditable, NodeNotFound
from ironic.core.resource_errors import PortgroupNotFound


class Owner(NamedTuple):
    """The node a port is to belong to."""

    id: int
    uuid: str
    owner: str | None
    lessee: str | None


class Group(NamedTuple):
    """The port group a port is to be in."""

    id: int
    uuid: str
    node_id: int
    standalone_ports_supported: bool


def named_owner(request: Request, values: dict[str, Any]) -> Owner:
    """Take the node's name out of a new port's values and return the node."""
    given = [values.pop(name, None) for name in ("node_uuid", "node_ident")]
    named = [ident for ident in given if ident is not None]
    if not named:
        raise MissingParameterValue(err="node_uuid is required.")
    if len(named) > 1:
        raise InvalidParameterValue(err="Give node_uuid or node_ident, not both.")
    return owner(request, named[0])


def owner(request: Request, ident: str) -> Owner:
    """Return the node that a body names."""
    try:
        return Owner(*request.store.nodes.row(Owner._fields, ident))
    except NodeNotFound:
        raise InvalidParameterValue(err="It is to belong to a node that does not exist.") from None


def new_owner(request: Request, now: str, wanted: str) -> int:
    """Return the id of the node that a port or port group is to move to."""
    old, new = owner(request, now), owner(request, wanted)
    if old.owner != new.owner:
        raise InvalidParameterValue(err="It can only move to a node of the same owner.")
    return new.id


def check_inspection(node: Facts, minor: int) -> None:
    """Refuse a change while an inspection may change the same things."""
    if node.provision_state == states.INSPECTING and minor >= 39:
        reason = "it is being inspected, so its ports may change; try again later"
        raise NodeNotEditable(node=node.uuid, state=node.provision_state, reason=reason)


def group(request: Request, uuid: str | None, node_id: int) -> Group | None:
    """Return the port group that a body names, which has to be one of the same node."""
    if uuid is None:
        return None
    try:
        found = Group(*request.store.portgroups.row(Group._fields, uuid))
    except PortgroupNotFound as error:
        raise InvalidParameterValue(err=str(error)) from None
    if found.node_id != node_id:
        raise InvalidParameterValue(err=f"Port group {uuid} belongs to another node than the port.")
    return found


def check_boots(group: Group | None, pxe_enabled: bool, values: Mapping[str, Any]) -> None:
    """Refuse to put a port that boots into a group whose ports don't work alone."""
    if not values.keys() & {"pxe_enabled", "portgroup_id"}:
        return
    if group is not None and pxe_enabled and not group.standalone_ports_supported:
        raise Conflict(f"Port group {group.uuid} has no standalone ports; set pxe_enabled of the port to false.")
