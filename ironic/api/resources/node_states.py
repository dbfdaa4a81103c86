"""The states of a node: what they are, and how they are changed.

Power and provisioning are asked of the serving conductor; here a request is read and what can't be is refused before
anybody is bothered. The order of the checks of a provision request is part of the contract (facts/state_machine.yaml).
"""

from typing import Any

from ironic.api import access, answers, input, projection
from ironic.api.answers import Answer
from ironic.api.errors import unacceptable
from ironic.api.request import Request
from ironic.api.resources import (
    node_idents,
    node_references,
    provision_request,
    runbook_use,
    step_rights,
)
from ironic.api.routes import Route
from ironic.api.verbs import SOFT_POWER_SINCE
from ironic.core import states, user_steps
from ironic.core.errors import Conflict, InvalidStateRequested
from ironic.core.model.node import NodeStates
from ironic.core.values import Enum, Integer, Text

_SOFT = frozenset({states.SOFT_REBOOT, states.SOFT_POWER_OFF})
_TARGET = (("target", Text()),)
_POWER = {"target": Enum(*states.POWER_TARGET, name="power target")}
_TIMEOUT = (("timeout", Integer(1, digits=True)),)


def show(request: Request, node: str) -> Answer:
    """Show the states of a node."""
    input.query(request.query(), {})
    view = projection.full(NodeStates, request.minor, projection.sight(request, NodeStates))
    return answers.document(view.document(request, node_idents.row(request, view.columns, node)))


def change_power(request: Request, node: str) -> Answer:
    """Begin a power change."""
    given = input.arguments(request.arguments(), _TIMEOUT, _TARGET)
    target, timeout = given["target"], given.get("timeout")
    facts = node_references.facts(request, node)
    if request.minor < SOFT_POWER_SINCE:
        if target in _SOFT:
            raise unacceptable(f"Power target '{target}'", SOFT_POWER_SINCE)
        if timeout is not None:
            raise unacceptable("timeout", SOFT_POWER_SINCE)
    input.check(_POWER, {"target": target})
    _check_power(facts, target)
    request.conductors.serving(facts).change_node_power_state(request.context, facts.uuid, target, timeout)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def _check_power(facts: node_references.Facts, target: str) -> None:
    if facts.provision_state in (states.CLEANING, states.CLEANWAIT):
        raise InvalidStateRequested(action=target, node=facts.uuid, state=facts.provision_state)
    if facts.disable_power_off and target in (states.POWER_OFF, states.SOFT_POWER_OFF):
        raise Conflict(f"Node {facts.uuid} must not be powered off: its disable_power_off is set.")


def change_provision(request: Request, node: str) -> Answer:
    """Begin what a provision verb asks for."""
    given = provision_request.read(request.arguments())
    facts = node_references.facts(request, node)
    _check_rules(request, facts, given)
    find, disallowed = runbook_use.finder(request, facts), request.settings.disallowed_steps
    arguments = provision_request.check(facts, given, request.minor, disallowed, find)
    arguments = step_rights.judged(request, facts, given["target"], arguments)
    request.conductors.serving(facts).change_provision_state(request.context, facts.uuid, given["target"], arguments)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def _check_rules(request: Request, facts: node_references.Facts, given: dict[str, Any]) -> None:
    for rule in step_rights.rules_of_lists(given):
        access.require(request, rule, facts)
    for name in step_rights.LISTS:
        access.require_steps(request, user_steps.names(given.get(name, [])), facts.owner, facts.lessee)
    if given["target"] == states.AVAILABLE:
        access.require(request, "baremetal:node:skip_cleaning", facts)


ROUTES = (
    Route("GET", "/v1/nodes/{node}/states", show, rule="baremetal:node:get_states"),
    Route("PUT", "/v1/nodes/{node}/states/power", change_power, rule="baremetal:node:set_power_state"),
    Route(
        "PUT",
        "/v1/nodes/{node}/states/provision",
        change_provision,
        rule="baremetal:node:set_provision_state",
        body_limit="max_body_provision",
    ),
)
