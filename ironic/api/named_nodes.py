"""Find the node that a request names, and the conductor that serves it.

A node is named by its UUID, since 1.5 also by its name. Other spellings of a UUID pass the check and match no node. A
node in a body that does not exist is a 400: the body is wrong, not the path. A node that no conductor serves is a 404
for an action on the node, and a 400 where the path names something that belongs to the node.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ironic.api import access
from ironic.api.request import Request, printable
from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue, InvalidUuidOrName, NodeNotFound, NotFound
from ironic.core.model.fields import RESOURCES, Belongs
from ironic.core.model.node import Node
from ironic.core.node_rules import NodeValues
from ironic.core.texts import syntax
from ironic.services import node_changes
from ironic.services.node_changes import LockRetries

if TYPE_CHECKING:
    from ironic.rpc.rpc_api import ConductorAPI


# Error for a port or port group whose node does not exist.
NO_NODE: Final = "The node that it has to belong to does not exist."


def check_ident(request: Request, ident: str) -> str:
    """Return the UUID or name of a node after a check against the version; raises NodeNotFound, InvalidUuidOrName."""
    if syntax.is_uuid(ident):
        return ident
    if request.minor < access.NAMES_SINCE:
        raise NodeNotFound(node=ident)
    is_name = syntax.is_host_name if request.minor < 10 else syntax.is_name
    if not is_name(ident):
        raise InvalidUuidOrName(name=printable(ident))
    return ident


def refuse_names(request: Request, field: str, value: object) -> None:
    """Raise InvalidParameterValue with the UUID that is meant if ``node_uuid`` or ``portgroup_uuid`` has a name.

    Only for what the caller may see; anything else is left to the check of the field's type.
    """
    resource = RESOURCES.get(field.removesuffix("_uuid")) if field.endswith("_uuid") else None
    if resource is None or not resource.has_name or resource.belongs is not Belongs.TO_NODE:
        return
    if not isinstance(value, str) or syntax.is_uuid(value) or not syntax.is_name(value):
        return
    rows = request.store.named(resource.stored_in)
    try:
        if resource is Node:
            with access.as_if_foreign(request):
                uuid, owner, lessee = rows.row(("uuid", "owner", "lessee"), value)
        else:
            with access.as_if_foreign(request, of_part=True):
                uuid, node_id = rows.row(("uuid", "node_id"), value)
            owner, lessee = request.store.nodes.row(("owner", "lessee"), node_id)
    except NotFound:
        return
    if access.sees(request, owner, lessee):
        raise InvalidParameterValue(err=f"{field} must be a UUID; '{value}' is the name of {resource.singular} {uuid}.")


def row(request: Request, columns: Sequence[str], ident: str) -> tuple[Any, ...]:
    """Return these columns of a node; raises NodeNotFound."""
    return request.store.nodes.row(columns, check_ident(request, ident))


def seen_id(request: Request, ident: str) -> int:
    """Return the ID of the node that narrows a list; raises NodeNotFound also if the caller may not see it."""
    with access.as_if_foreign(request, access.SEE_NODE):
        found, owner, lessee = row(request, ("id", "owner", "lessee"), ident)
    access.require_seen(request, ident, owner, lessee)
    return int(found)


def node_values(request: Request, ident: str) -> NodeValues:
    """Return the values of a node that rules and conductors need; raises NodeNotFound."""
    return node_rules.of_row(row(request, node_rules.COLUMNS, ident))


def lock_retries(request: Request) -> LockRetries:
    """Return how often and how long a request waits for a locked node."""
    settings, conductors = request.settings, request.services.conductors
    return LockRetries(
        settings.node_locked_attempts,
        settings.node_locked_interval,
        lambda: conductors.waiting.one_of(request.context),
    )


class Holder(NamedTuple):
    """A node that a port, port group or volume is to belong to."""

    id: int
    uuid: str
    owner: str | None
    lessee: str | None


def holder(request: Request, ident: str, rule: str, missing: str) -> Holder:
    """Return the node that the body of a new row names, after a check that ``rule`` lets the caller add to it.

    Raises InvalidParameterValue with the text ``missing`` when the node does not exist and the caller may add to any
    node, otherwise 403, so that a missing node and a hidden one look the same.
    """
    try:
        found = Holder(*request.store.nodes.row(Holder._fields, ident))
    except NodeNotFound:
        access.require_right(request, rule)
        raise InvalidParameterValue(err=missing) from None
    access.require_right(request, rule, found.owner, found.lessee)
    return found


def seen_holder(request: Request, ident: str, missing: str) -> Holder:
    """Return the node that a patch names; raises InvalidParameterValue for a missing or hidden one."""
    try:
        with access.as_if_foreign(request):
            found = Holder(*request.store.nodes.row(Holder._fields, ident))
    except NodeNotFound:
        raise InvalidParameterValue(err=missing) from None
    if not access.sees(request, found.owner, found.lessee):
        raise InvalidParameterValue(err=missing)
    return found


def new_holder(request: Request, rule: str, now: str, wanted: str) -> int:
    """Return the ID of the node that a port or port group is to move to; ``rule`` guards the change on both nodes."""
    (old,) = request.store.nodes.row(("owner",), now)
    new = seen_holder(request, wanted, NO_NODE)
    if old != new.owner or not access.allows(request, rule, new.owner, new.lessee):
        raise InvalidParameterValue(err="It can only move to a node of the same owner.")
    return new.id


def conductor(request: Request, ident: str) -> "tuple[ConductorAPI, str]":
    """Return the conductor that serves a node, and the node's UUID; raises NodeNotFound, NoValidHost."""
    node = node_values(request, ident)
    return request.conductors.serving(node), node.uuid


def conductor_of_part(request: Request, ident: str) -> "tuple[ConductorAPI, str]":
    """Return the same for an action on something that belongs to the node: a node without a conductor is a 400."""
    node = node_values(request, ident)
    return for_part_of(request, node), node.uuid


def for_part_of(request: Request, node: NodeValues) -> "ConductorAPI":
    """Return the conductor that serves a node; raises InvalidParameterValue when none does."""
    node_changes.check_served(request.hash_ring, node.uuid, node.driver, node.conductor_group)
    return request.conductors.serving(node)
