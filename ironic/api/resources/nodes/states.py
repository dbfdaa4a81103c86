"""The states of a node: what they are, and how they are changed.

Changes are asked of the serving conductor, which begins them; how they end shows in the states. The target RAID
configuration is only noted. The order of the checks of a provision request is part of the contract
(facts/state_machine.yaml).
"""

from typing import Any

from ironic.api import access, answers, input, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.errors import Refused, unacceptable
from ironic.api.request import Request
from ironic.api.resources.nodes import idents, provision_request, references, serving, step_rights
from ironic.api.resources.runbooks import use as runbook_use
from ironic.api.routes import FAULT, Route
from ironic.api.verbs import SOFT_POWER_SINCE
from ironic.core import states, user_steps
from ironic.core.errors import Conflict, InvalidStateRequested, UnsupportedDriverExtension
from ironic.core.model.node import NodeStates
from ironic.core.values import Bool, Enum, Integer, Text

_SOFT = frozenset({states.SOFT_REBOOT, states.SOFT_POWER_OFF})
_TARGET = (("target", Text()),)
_POWER = {"target": Enum(*states.POWER_TARGET, name="power target")}
_TIMEOUT = (("timeout", Integer(1, digits=True)),)
_ENABLED = (("enabled", Bool()),)
_MODE = (("target", Enum("bios", "uefi", name="boot mode")),)
_ON = (("target", Bool()),)


def show(request: Request, node: str) -> Answer:
    """Show the states of a node."""
    input.query(request.query(), {})
    view = projection.full(NodeStates, request.minor, projection.sight(request, NodeStates))
    return answers.document(view.document(request, idents.row(request, view.columns, node)))


def change_power(request: Request, node: str) -> Answer:
    """Begin a power change."""
    given = input.arguments(request.arguments(), _TIMEOUT, _TARGET)
    target, timeout = given["target"], given.get("timeout")
    facts = references.facts(request, node)
    if request.minor < SOFT_POWER_SINCE:
        if target in _SOFT:
            raise unacceptable(f"Power target '{target}'", SOFT_POWER_SINCE)
        if timeout is not None:
            raise unacceptable("timeout", SOFT_POWER_SINCE)
    input.check(_POWER, {"target": target})
    _check_power(facts, target)
    request.conductors.serving(facts).change_node_power_state(request.context, facts.uuid, target, timeout)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def _check_power(facts: references.Facts, target: str) -> None:
    if facts.provision_state in (states.CLEANING, states.CLEANWAIT):
        raise InvalidStateRequested(action=target, node=facts.uuid, state=facts.provision_state)
    if facts.disable_power_off and target in (states.POWER_OFF, states.SOFT_POWER_OFF):
        raise Conflict(f"Node {facts.uuid} must not be powered off: its disable_power_off is set.")


def change_provision(request: Request, node: str) -> Answer:
    """Begin what a provision verb asks for."""
    given = provision_request.read(request.arguments())
    facts = references.facts(request, node)
    _check_rules(request, facts, given)
    find, disallowed = runbook_use.finder(request, facts), request.settings.disallowed_steps
    arguments = provision_request.check(facts, given, request.minor, disallowed, find)
    arguments = step_rights.judged(request, facts, given["target"], arguments)
    request.conductors.serving(facts).change_provision_state(request.context, facts.uuid, given["target"], arguments)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def _check_rules(request: Request, facts: references.Facts, given: dict[str, Any]) -> None:
    for rule in step_rights.rules_of_lists(given):
        access.require(request, rule, facts)
    for name in step_rights.LISTS:
        access.require_steps(request, user_steps.names(given.get(name, [])), facts.owner, facts.lessee)
    if given["target"] == states.AVAILABLE:
        access.require(request, "baremetal:node:skip_cleaning", facts)


def show_console(request: Request, node: str) -> Answer:
    """Say whether the console is open, and if so how to reach it."""
    input.query(request.query(), {})
    facts = references.facts(request, node)
    info = None
    if facts.console_enabled:
        info = request.conductors.serving(facts).get_console(request.context, facts.uuid)
    # The address of a console may let in whoever knows it.
    return answers.secret({"console_enabled": facts.console_enabled, "console_info": info})


def change_console(request: Request, node: str) -> Answer:
    """Begin to open or close the console."""
    enabled = input.arguments(request.arguments(), (), _ENABLED)["enabled"]
    conductor, uuid = serving.conductor(request, node)
    conductor.change_console(request.context, uuid, enabled)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states/console"))


def change_boot_mode(request: Request, node: str) -> Answer:
    """Begin to change the boot mode."""
    mode = input.arguments(request.arguments(), (), _MODE)["target"]
    conductor, uuid = serving.conductor(request, node)
    conductor.change_boot_mode(request.context, uuid, mode)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def change_secure_boot(request: Request, node: str) -> Answer:
    """Begin to turn secure boot on or off."""
    on = input.arguments(request.arguments(), (), _ON)["target"]
    conductor, uuid = serving.conductor(request, node)
    conductor.change_secure_boot(request.context, uuid, on)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def change_raid(request: Request, node: str) -> Answer:
    """Note which logical disks the machine is to have; the whole body is the configuration."""
    input.query(request.query(), {})
    config = input.require_object(request.json())
    conductor, uuid = serving.conductor(request, node)
    try:
        conductor.set_target_raid_config(request.context, uuid, config)
    except UnsupportedDriverExtension as error:
        # Without RAID there is no such thing at this path.
        raise Refused(404, str(error)) from None
    return NO_CONTENT


_STATES = "/v1/nodes/{node}/states"

ROUTES = (
    Route("GET", _STATES, show, rule="baremetal:node:get_states"),
    Route("PUT", f"{_STATES}/power", change_power, rule="baremetal:node:set_power_state"),
    Route(
        "PUT",
        f"{_STATES}/provision",
        change_provision,
        rule="baremetal:node:set_provision_state",
        body_limit="max_body_provision",
    ),
    Route("GET", f"{_STATES}/console", show_console, rule="baremetal:node:get_console"),
    Route("PUT", f"{_STATES}/console", change_console, rule="baremetal:node:set_console_state"),
    Route("PUT", f"{_STATES}/boot_mode", change_boot_mode, since=76, shape=FAULT, rule="baremetal:node:set_boot_mode"),
    Route(
        "PUT",
        f"{_STATES}/secure_boot",
        change_secure_boot,
        since=76,
        shape=FAULT,
        rule="baremetal:node:set_secure_boot",
    ),
    Route(
        "PUT",
        f"{_STATES}/raid",
        change_raid,
        since=12,
        below=406,
        shape=FAULT,
        rule="baremetal:node:set_raid_state",
    ),
)
