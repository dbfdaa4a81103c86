"""The states of a node: what they are, and how they are changed.

Changes are asked of the serving conductor, which begins them; how they end shows in the states. The target RAID
configuration is only noted. The order of the checks of a provision request is part of the contract
(doc/contract/states.md#order-of-checks).
"""

from typing import Any, Final

from ironic.api import access, answers, named_nodes, projection, usable_runbooks
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, BodyOrQuery, Whole
from ironic.api.errors import Refused
from ironic.api.request import Request
from ironic.api.resources.nodes import provision_request, step_rights
from ironic.api.routes import FAULT, Route
from ironic.api.schema import closed, ref
from ironic.core import node_rules, states, user_steps
from ironic.core.errors import UnsupportedDriverExtension
from ironic.core.model.node import NodeStates
from ironic.core.node_rules import NodeValues
from ironic.core.values import Bool, Enum, Integer, Text

# Clients of old versions know that a node is not there before they learn that a power target is new, or none.
_SOFT_POWER_SINCE: Final = 27
_POWER: Final = Argument(
    "target",
    Text(),
    required=True,
    exact=Enum(*states.POWER_TARGET, name="power target"),
    words=dict.fromkeys((states.SOFT_REBOOT, states.SOFT_POWER_OFF), _SOFT_POWER_SINCE),
    late=True,
)
_TIMEOUT: Final = Argument("timeout", Integer(1, digits=True), since=_SOFT_POWER_SINCE, late=True)


def show(request: Request, node: str) -> Answer:
    """Show the states of a node."""
    view = projection.full(NodeStates, request.minor, projection.sight(request, NodeStates))
    return answers.document(view.document(request, named_nodes.row(request, view.columns, node)))


def change_power(request: Request, node: str, target: str, timeout: int | None = None) -> Answer:
    """Begin a power change."""
    facts = named_nodes.facts(request, node)
    if timeout is not None:
        _TIMEOUT.judge(timeout, request.minor)
    _POWER.judge(target, request.minor)
    node_rules.check_power(facts, target)
    request.conductors.serving(facts).change_node_power_state(request.context, facts.uuid, target, timeout)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def change_provision(request: Request, node: str, target: str, **arguments: object) -> Answer:
    """Begin what a provision verb asks for."""
    given = provision_request.meant({"target": target, **arguments})
    facts = named_nodes.facts(request, node)
    _check_rules(request, facts, given)
    find, disallowed = usable_runbooks.finder(request, facts), request.settings.disallowed_steps
    checked = provision_request.check(facts, given, request.minor, disallowed, find)
    judged = step_rights.judged(request, facts, target, checked)
    request.conductors.serving(facts).change_provision_state(request.context, facts.uuid, target, judged)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def _check_rules(request: Request, facts: NodeValues, given: dict[str, Any]) -> None:
    for rule in step_rights.rules_of_lists(given):
        access.require(request, rule, facts)
    for name in step_rights.LISTS:
        access.require_steps(request, user_steps.names(given.get(name, [])), facts.owner, facts.lessee)
    if given["target"] == states.AVAILABLE:
        access.require(request, "baremetal:node:skip_cleaning", facts)


def show_console(request: Request, node: str) -> Answer:
    """Say whether the console is open, and if so how to reach it."""
    facts = named_nodes.facts(request, node)
    info = None
    if facts.console_enabled:
        info = request.conductors.serving(facts).get_console(request.context, facts.uuid)
    # The address of a console may let in whoever knows it.
    return answers.secret({"console_enabled": facts.console_enabled, "console_info": info})


def change_console(request: Request, node: str, enabled: bool) -> Answer:
    """Begin to open or close the console."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.change_console(request.context, uuid, enabled)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states/console"))


def change_boot_mode(request: Request, node: str, target: str) -> Answer:
    """Begin to change the boot mode."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.change_boot_mode(request.context, uuid, target)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def change_secure_boot(request: Request, node: str, target: bool) -> Answer:
    """Begin to turn secure boot on or off."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.change_secure_boot(request.context, uuid, target)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def change_raid(request: Request, node: str, config: dict[str, Any]) -> Answer:
    """Note which logical disks the machine is to have; the whole body is the configuration."""
    conductor, uuid = named_nodes.conductor(request, node)
    try:
        conductor.set_target_raid_config(request.context, uuid, config)
    except UnsupportedDriverExtension as error:
        # Without RAID there is no such thing at this path.
        raise Refused(404, str(error)) from None
    return NO_CONTENT


_STATES: Final = "/v1/nodes/{node}/states"
_CONSOLE: Final = closed({"console_enabled": {"type": "boolean"}, "console_info": {"type": ["object", "null"]}})

ROUTES = (
    Route("GET", _STATES, show, rule="baremetal:node:get_states", ok=200, answer=ref("NodeStates")),
    Route(
        "PUT",
        f"{_STATES}/power",
        change_power,
        rule="baremetal:node:set_power_state",
        body=BodyOrQuery(_POWER, _TIMEOUT),
        ok=202,
        location=True,
    ),
    Route(
        "PUT",
        f"{_STATES}/provision",
        change_provision,
        rule="baremetal:node:set_provision_state",
        body_limit="max_body_provision",
        body=provision_request.ARGUMENTS,
        ok=202,
        location=True,
    ),
    Route(
        "GET",
        f"{_STATES}/console",
        show_console,
        rule="baremetal:node:get_console",
        ok=200,
        also=(502,),
        answer=_CONSOLE,
    ),
    Route(
        "PUT",
        f"{_STATES}/console",
        change_console,
        rule="baremetal:node:set_console_state",
        body=BodyOrQuery(Argument("enabled", Bool(), required=True)),
        ok=202,
        location=True,
    ),
    Route(
        "PUT",
        f"{_STATES}/boot_mode",
        change_boot_mode,
        since=76,
        shape=FAULT,
        rule="baremetal:node:set_boot_mode",
        body=BodyOrQuery(Argument("target", Enum("bios", "uefi", name="boot mode"), required=True)),
        ok=202,
        location=True,
    ),
    Route(
        "PUT",
        f"{_STATES}/secure_boot",
        change_secure_boot,
        since=76,
        shape=FAULT,
        rule="baremetal:node:set_secure_boot",
        body=BodyOrQuery(Argument("target", Bool(), required=True)),
        ok=202,
        location=True,
    ),
    Route(
        "PUT",
        f"{_STATES}/raid",
        change_raid,
        since=12,
        below=406,
        shape=FAULT,
        rule="baremetal:node:set_raid_state",
        body=Whole("config"),
        ok=204,
    ),
)
