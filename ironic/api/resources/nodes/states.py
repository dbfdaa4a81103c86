"""`/v1/nodes/{node}/states`: show and change the states of a node.

The serving conductor starts a change; its result shows in the states. The target RAID configuration is only stored. The
order of the checks of a provision request is part of the contract (doc/contract/states.md#order-of-checks).
"""

from typing import Any, Final

from ironic.api import access, answers, named_nodes, projection, step_lists
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, BodyOrQuery, OpenBody, check_sizes
from ironic.api.error_responses import Refused
from ironic.api.json_schema import closed, ref
from ironic.api.request import Request
from ironic.api.resources.nodes import provision_request, step_rights
from ironic.api.routes import FAULT, Route
from ironic.core import node_rules
from ironic.core.errors import UnsupportedDriverExtension
from ironic.core.flows import states
from ironic.core.model.node import BOOT_MODES, Node, NodeStates
from ironic.core.values import user_steps
from ironic.core.values.value_types import Bool, Enum, Integer, Text

# A missing node is refused before a power target that is invalid or newer than the request.
_SOFT_POWER_SINCE: Final = 27
_POWER: Final = Argument(
    "target",
    Text(),
    required=True,
    exact=Enum(*states.POWER_TARGET, name="power target"),
    words=dict.fromkeys((states.SOFT_REBOOT, states.SOFT_POWER_OFF), _SOFT_POWER_SINCE),
    handler_checks=True,
)
_TIMEOUT: Final = Argument("timeout", Integer(1, digits=True), since=_SOFT_POWER_SINCE, handler_checks=True)


def show(request: Request, node: str) -> Answer:
    """Show the states of a node."""
    view = projection.full(NodeStates, request.minor, projection.visibility_of(request, NodeStates))
    return answers.document(view.document(request, named_nodes.row(request, view.columns, node)))


def change_power(request: Request, node: str, target: str, timeout: int | None = None) -> Answer:
    """Request a change of the power state of a node."""
    facts = named_nodes.node_values(request, node)
    if timeout is not None:
        _TIMEOUT.check_value(timeout, request.minor)
    _POWER.check_value(target, request.minor)
    node_rules.check_power(facts, target)
    request.conductors.serving(facts).change_node_power_state(request.context, facts.uuid, target, timeout)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def change_provision(request: Request, node: str, target: str, **arguments: object) -> Answer:
    """Request a change of the provision state of a node."""
    given = provision_request.without_empty({"target": target, **arguments})
    facts = named_nodes.node_values(request, node)
    for rule in step_rights.rules_of_lists(given):
        access.require(request, rule, facts, node)
    for name in step_rights.LISTS:
        access.require_steps(request, user_steps.names(given.get(name, [])), facts.owner, facts.lessee)
    if target == states.AVAILABLE:
        access.require(request, "baremetal:node:skip_cleaning", facts, node)
    find, disallowed = step_lists.runbook_finder(request, facts), request.settings.disallowed_steps
    checked = provision_request.check(facts, given, request.minor, disallowed, find)
    authorized = step_rights.authorize(request, facts, target, checked)
    request.conductors.serving(facts).change_provision_state(request.context, facts.uuid, target, authorized)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def show_console(request: Request, node: str) -> Answer:
    """Show whether the console of a node is enabled, and how to connect to it."""
    facts = named_nodes.node_values(request, node)
    info = None
    if facts.console_enabled:
        info = request.conductors.serving(facts).get_console(request.context, facts.uuid)
    # The URL of a console may give access to anyone who knows it.
    return answers.secret({"console_enabled": facts.console_enabled, "console_info": info})


def change_console(request: Request, node: str, enabled: bool) -> Answer:
    """Enable or disable the console of a node."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.change_console(request.context, uuid, enabled)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states/console"))


def change_boot_mode(request: Request, node: str, target: str) -> Answer:
    """Request a change of the boot mode of a node."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.change_boot_mode(request.context, uuid, target)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def change_secure_boot(request: Request, node: str, target: bool) -> Answer:
    """Request a change of secure boot of a node."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.change_secure_boot(request.context, uuid, target)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def change_raid(request: Request, node: str, config: dict[str, Any]) -> Answer:
    """Set the target RAID configuration of a node, which is the whole body."""
    check_sizes(Node.table.fields, {"target_raid_config": config}, {}, request.settings.largest_field)
    conductor, uuid = named_nodes.conductor(request, node)
    try:
        conductor.set_target_raid_config(request.context, uuid, config)
    except UnsupportedDriverExtension as error:
        # For a driver without RAID the path does not exist.
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
    # Under the second path old programs ask for it.
    *(
        Route("GET", path, show_console, rule="baremetal:node:get_console", ok=200, also=(502,), answer=_CONSOLE)
        for path in (f"{_STATES}/console", "/v1/nodes/states/console/{node}")
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
        rights_first=True,
        body=BodyOrQuery(Argument("target", Enum(*BOOT_MODES, name="boot mode"), required=True)),
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
        rights_first=True,
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
        body=OpenBody("config"),
        ok=204,
    ),
)
