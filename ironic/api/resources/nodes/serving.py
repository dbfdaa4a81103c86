"""Who serves a node, and with which interfaces, judged from the conductors' table (S25).

That nobody serves a node is a 404 where an action was asked for. Where the path names something that belongs to the
node, clients know it as a 400, as they do where they named a driver, a conductor group or an interface themselves.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ironic.api.request import Request
from ironic.api.resources.nodes import references
from ironic.core import interface_choice
from ironic.core.errors import DriverNotFound, InvalidParameterValue, NoValidHost
from ironic.core.interface_kinds import KINDS, interface_field
from ironic.core.node_rules import NodeValues

if TYPE_CHECKING:
    from ironic.rpc.conversation import ConductorCalls


def conductor(request: Request, ident: str) -> "tuple[ConductorCalls, str]":
    """Return the conductor of a node and the node's UUID."""
    facts = references.facts(request, ident)
    return request.conductors.serving(facts), facts.uuid


def conductor_of_part(request: Request, ident: str) -> "tuple[ConductorCalls, str]":
    """Return the same for something that belongs to the node."""
    facts = references.facts(request, ident)
    return for_part_of(request, facts), facts.uuid


def for_part_of(request: Request, facts: NodeValues) -> "ConductorCalls":
    """Return the conductor of a node that is known already, for something that belongs to the node."""
    check_served(request, facts.uuid, facts.driver, facts.conductor_group)
    return request.conductors.serving(facts)


def check_served(request: Request, uuid: str, driver: str, group: str) -> None:
    """Refuse a node that no live conductor would take."""
    try:
        request.placement.host_for(uuid, driver, group)
    except NoValidHost as error:
        raise InvalidParameterValue(err=str(error)) from None


def interfaces(
    request: Request, driver: str, group: str, asked: Mapping[str, str | None], kinds: Collection[str] = KINDS
) -> dict[str, str]:
    """Return the interface fields of these kinds; one that is not asked for, or asked for as null, gets its default."""
    rows = [row for row in request.placement.served() if row.conductor_group.lower() == group.lower()]
    wanted = {kind: asked.get(interface_field(kind)) for kind in kinds}
    try:
        chosen = interface_choice.resolve(rows, driver, wanted, kinds)
    except DriverNotFound as error:
        raise InvalidParameterValue(err=str(error)) from None
    return {interface_field(kind): name for kind, name in chosen.items()}
