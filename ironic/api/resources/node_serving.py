"""The conductor that serves a node, for handlers that ask it something.

That none does is a 404 where an action was asked for. Where the path names something that belongs to the node, clients
know it as a 400.
"""

from typing import TYPE_CHECKING

from ironic.api.request import Request
from ironic.api.resources import node_choice, node_references
from ironic.api.resources.node_references import Facts

if TYPE_CHECKING:
    from ironic.rpc.conversation import ConductorCalls


def conductor(request: Request, ident: str) -> "tuple[ConductorCalls, str]":
    """Return the conductor of a node and the node's UUID."""
    facts = node_references.facts(request, ident)
    return request.conductors.serving(facts), facts.uuid


def conductor_of_part(request: Request, ident: str) -> "tuple[ConductorCalls, str]":
    """Return the same for something that belongs to the node."""
    facts = node_references.facts(request, ident)
    return for_part_of(request, facts), facts.uuid


def for_part_of(request: Request, facts: Facts) -> "ConductorCalls":
    """Return the conductor of a node that is known already, for something that belongs to the node."""
    node_choice.check_served(request, facts.uuid, facts.driver, facts.conductor_group)
    return request.conductors.serving(facts)
