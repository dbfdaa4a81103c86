"""What a port or port group refers to: its node, and perhaps a port group of that node.

The API speaks of both by UUID (the node since 1.94 also by name), the row holds ids. A reference to something that is
not there is a 400: the caller's body is wrong, not the path.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ironic.api import access, named_nodes
from ironic.api.request import Request
from ironic.core.errors import Conflict, InvalidParameterValue, MissingParameterValue
from ironic.core.resource_errors import PortgroupNotFound


class Group(NamedTuple):
    """The port group a port is to be in."""

    id: int
    uuid: str
    node_id: int
    standalone_ports_supported: bool


def named_owner(request: Request, values: dict[str, Any], rule: str) -> named_nodes.Holder:
    """Take the node's name out of a new port's values and return the node, if the rule lets the caller add to it."""
    given = [values.pop(name, None) for name in ("node_uuid", "node_ident")]
    named = [ident for ident in given if ident is not None]
    if not named:
        raise MissingParameterValue(err="node_uuid is required.")
    if len(named) > 1:
        raise InvalidParameterValue(err="Give node_uuid or node_ident, not both.")
    return named_nodes.holder(request, named[0], rule, named_nodes.NO_NODE)


def group(request: Request, uuid: str | None, node_id: int) -> Group | None:
    """Return the port group that a body names, which has to be one of the same node."""
    if uuid is None:
        return None
    try:
        found = Group(*request.store.portgroups.row(Group._fields, uuid))
    except PortgroupNotFound as error:
        raise InvalidParameterValue(err=str(error)) from None
    if found.node_id != node_id:
        owner, lessee = request.store.nodes.row(("owner", "lessee"), found.node_id)
        if not access.sees(request, owner, lessee):
            raise InvalidParameterValue(err=str(PortgroupNotFound(portgroup=uuid)))
        raise InvalidParameterValue(err=f"Port group {uuid} belongs to another node than the port.")
    return found


def check_boots(group: Group | None, pxe_enabled: bool, values: Mapping[str, object]) -> None:
    """Refuse to put a port that boots into a group whose ports don't work alone."""
    if not values.keys() & {"pxe_enabled", "portgroup_id"}:
        return
    if group is not None and pxe_enabled and not group.standalone_ports_supported:
        raise Conflict(f"Port group {group.uuid} has no standalone ports; set pxe_enabled of the port to false.")
