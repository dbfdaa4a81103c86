"""From what a request names to a node: the node as actions look at it, whose it is, and the conductor that serves it.

A node is named by its UUID, since 1.5 also by its name. Other spellings of a UUID pass the check and name nothing. A
node that a body names and that is not there is a 400: the body is wrong, not the path. That nobody serves a node is a
404 where an action was asked for, and a 400 where the path names something that belongs to the node.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ironic.api import access
from ironic.api.request import Request, printable
from ironic.core import node_rules, syntax
from ironic.core.errors import InvalidParameterValue, InvalidUuidOrName, NodeNotFound
from ironic.core.node_rules import NodeValues
from ironic.services import nodes, serving
from ironic.services.nodes import Patience

if TYPE_CHECKING:
    from ironic.db import NodeRecord
    from ironic.rpc.conversation import ConductorCalls

# What is said of a port or port group whose node is not there.
NO_NODE: Final = "It is to belong to a node that does not exist."


def check(request: Request, ident: str) -> str:
    """Return an ident this version may use."""
    if syntax.is_uuid(ident):
        return ident
    if request.minor < 5:
        raise NodeNotFound(node=ident)
    is_name = syntax.is_host_name if request.minor < 10 else syntax.is_name
    if not is_name(ident):
        raise InvalidUuidOrName(name=printable(ident))
    return ident


def row(request: Request, columns: Sequence[str], ident: str) -> tuple[Any, ...]:
    """Return these columns of a node."""
    return request.store.nodes.row(columns, check(request, ident))


def seen(request: Request, ident: str) -> int:
    """Return the id of a node that a list is asked for; one that the caller may not see is not there."""
    found, owner, lessee = row(request, ("id", "owner", "lessee"), ident)
    access.require_seen(request, ident, owner, lessee)
    return int(found)


def facts(request: Request, ident: str) -> NodeValues:
    """Return what an action on a node is judged by."""
    return node_rules.of_row(row(request, node_rules.COLUMNS, ident))


def patience(request: Request) -> Patience:
    """Return how long a node that is held is waited for."""
    return Patience(request.settings.node_locked_attempts, request.settings.node_locked_interval)


def change_free(request: Request, ident: str, change: "Callable[[NodeRecord], None]") -> "NodeRecord":
    """Change a node that nobody holds; one that is held is waited for a moment."""
    return nodes.change_free(request.store, check(request, ident), change, patience(request))


# Nodes that something new, or something that moves, is to belong to


class Holder(NamedTuple):
    """A node that something is to belong to."""

    id: int
    uuid: str
    owner: str | None
    lessee: str | None


def holder(request: Request, ident: str, rule: str, missing: str) -> Holder:
    """Return the node that a body names for something new; ``missing`` is for callers who may add it to any node.

    To others a node that is not there and one that they may not see are the same.
    """
    try:
        found = Holder(*request.store.nodes.row(Holder._fields, ident))
    except NodeNotFound:
        if access.allows(request, rule):
            raise InvalidParameterValue(err=missing) from None
        raise NodeNotFound(node=ident) from None
    access.require(request, rule, found, ident)
    return found


def seen_holder(request: Request, ident: str, missing: str) -> Holder:
    """Return the node that something is to move to; one that the caller may not see counts as missing."""
    try:
        found = Holder(*request.store.nodes.row(Holder._fields, ident))
    except NodeNotFound:
        raise InvalidParameterValue(err=missing) from None
    if not access.sees(request, found.owner, found.lessee):
        raise InvalidParameterValue(err=missing)
    return found


def new_holder(request: Request, rule: str, now: str, wanted: str) -> int:
    """Return the id of the node that a port or port group is to move to; ``rule`` guards the change on either node."""
    (old,) = request.store.nodes.row(("owner",), now)
    new = seen_holder(request, wanted, NO_NODE)
    if old != new.owner or not access.allows(request, rule, new.owner, new.lessee):
        raise InvalidParameterValue(err="It can only move to a node of the same owner.")
    return new.id


# Conductors


def conductor(request: Request, ident: str) -> "tuple[ConductorCalls, str]":
    """Return the conductor of a node and the node's UUID."""
    node = facts(request, ident)
    return request.conductors.serving(node), node.uuid


def conductor_of_part(request: Request, ident: str) -> "tuple[ConductorCalls, str]":
    """Return the same for something that belongs to the node."""
    node = facts(request, ident)
    return for_part_of(request, node), node.uuid


def for_part_of(request: Request, node: NodeValues) -> "ConductorCalls":
    """Return the conductor of a node that is known already, for something that belongs to the node."""
    serving.check_served(request.placement, node.uuid, node.driver, node.conductor_group)
    return request.conductors.serving(node)
