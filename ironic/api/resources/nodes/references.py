"""What a node refers to, and the node as actions look at it.

The API speaks of a chassis and a parent by UUID or name, the row holds an id and a UUID. A reference to something that
is not there is a 400: the caller's body is wrong, not the path.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from ironic.api import access, named_nodes
from ironic.api.request import Request
from ironic.core.errors import InvalidParameterValue
from ironic.core.resource_errors import ChassisNotFound

if TYPE_CHECKING:
    from ironic.db import NodeRecord


def document(request: Request, record: "NodeRecord", roots: Collection[str]) -> dict[str, Any]:
    """Return these fields of a node as callers know them."""
    found = {name: getattr(record, name) for name in roots if name != "chassis_uuid"}
    if "chassis_uuid" in roots:
        found["chassis_uuid"] = request.store.nodes.row(("chassis_uuid",), record.id)[0]
    return found


def resolved(request: Request, values: Mapping[str, Any], owner: str | None = None) -> dict[str, Any]:
    """Return the values with what the row holds in place of what callers say."""
    found = dict(values)
    if "chassis_uuid" in found:
        found["chassis_id"] = _chassis(request, found.pop("chassis_uuid"))
    if found.get("parent_node") is not None:
        found["parent_node"] = _parent(request, found["parent_node"], found.get("owner", owner))
    return found


def _chassis(request: Request, ident: str | None) -> int | None:
    if ident is None:
        return None
    try:
        found: int = request.store.chassis.row(("id",), ident)[0]
    except ChassisNotFound as error:
        raise InvalidParameterValue(err=str(error)) from None
    return found


_PARENT: Final = "baremetal:node:update:parent_node"


def _parent(request: Request, ident: str, owner: str | None) -> str:
    found = named_nodes.seen_holder(request, ident, "parent_node names no node.")
    # Who makes a node the parent of another decides about both.
    if found.owner != owner or not access.allows(request, _PARENT, found.owner, found.lessee):
        raise InvalidParameterValue(err="parent_node belongs to another owner.")
    return found.uuid
