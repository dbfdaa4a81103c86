"""The agent of a node as third-party plug-ins call it, and its steps."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Never

from ironic.core.errors import (
    InstanceDeployFailure,
    InvalidParameterValue,
    IronicError,
    NodeCleaningFailure,
    NodeServicingFailure,
)
from ironic.core.errors.hardware_errors import AgentAPIError, AgentConnectionFailed, AgentInProgress
from ironic.core.flows.flow import CLEAN, DEPLOY, FLOWS, SERVICE, named
from ironic.core.memory.agent_memory import KnownAgent
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.info_keys import AGENT
from ironic.drivers.modules.agent import in_band_steps, step_hooks
from ironic.drivers.modules.agent.agent_client import Agent, Command

VENDOR_PROPERTIES: Final = dict(AGENT)
# The states in which a heartbeat has an effect in any case; with fast track there are more.
HEARTBEAT_ALLOWED: Final = frozenset(state for flow in FLOWS if flow.hears_agent for state in flow.states)

_FAILURES: Final[Mapping[str, type[IronicError]]] = {
    CLEAN.name: NodeCleaningFailure,
    DEPLOY.name: InstanceDeployFailure,
    SERVICE.name: NodeServicingFailure,
}
_READABLE: Final = 200

post_clean_step_hook: Final = partial(step_hooks.after, CLEAN.name)
post_deploy_step_hook: Final = partial(step_hooks.after, DEPLOY.name)


def execute_step(task: Task, step: Mapping[str, object], step_type: str, client: object = None) -> str | None:
    """Start a step of the agent by a client, with the ports of the node, and return the waiting state.

    ``client`` has methods such as execute_clean_step(step, node, ports); the default is that of `get_client`. A busy
    agent gets the step after its next heartbeat. One that has no such step says so then. Raises NodeCleaningFailure,
    InstanceDeployFailure or NodeServicingFailure, by the type of the step, for an answer without a status, and
    InvalidParameterValue for another type than clean, deploy or service.
    """
    if step_type not in _FAILURES:
        raise InvalidParameterValue(err=f"{step_type[:64]!r} is none of the types: {', '.join(_FAILURES)}.")
    flow = named(step_type)
    # An agent that restarts meanwhile has not done it.
    in_band_steps.ASKED.set(task.node, [step["interface"], step["step"]])
    start = getattr(client or get_client(task), f"execute_{step_type}_step")
    try:
        answer = start(step, task.node, task.ports)
    except (AgentInProgress, AgentConnectionFailed):
        return in_band_steps.run_again(task, flow)
    except AgentAPIError as error:
        if error.facts.get("status") != _READABLE:
            raise
        answer = {}
    if not (isinstance(answer, Mapping) and answer.get("command_status")):
        reason = f"the agent gave no status for step {step['step']!r}"
        raise _FAILURES[step_type](node=task.node.uuid, reason=reason)
    return flow.waiting


def get_steps(task: Task, step_type: str, interface: str | None = None) -> list[dict[str, object]]:
    """Return the steps that the agent offers for clean, deploy or service, those of one interface only if it is named.

    The priorities are those of the options, or else the agent's.
    """
    known = KnownAgent(task.node.driver_internal_info).steps(step_type)
    chosen = known if interface is None else [interface]
    return [step for name in chosen for step in in_band_steps.agent_steps(task.node, step_type, name)]


def find_step(task: Task, step_type: str, interface: str, name: str) -> dict[str, object] | None:
    """Return the agent's description of a step, None if it does not have it."""
    return next((step for step in get_steps(task, step_type, interface) if step["step"] == name), None)


def log_and_raise_deployment_error(
    task: Task, msg: str, collect_logs: bool = True, exc: Exception | None = None
) -> Never:
    """Raise InstanceDeployFailure, by which the flow fails the node, names the step and collects the ramdisk's logs."""
    raise InstanceDeployFailure(msg) from exc


def get_client(_task: Task) -> "AgentClient":
    """Return the client for the agents of nodes, which keeps nothing of a task and so is one for all."""
    return _CLIENT


class AgentClient:
    """The commands of an agent; each method takes its node, and raises the errors of `Agent`."""

    def get_commands_status(self, node: Node) -> list[dict[str, object]]:
        """Return the commands that the agent has received since it started, oldest first."""
        return [command.document() for command in Agent(node).commands()]

    def get_last_command_status(self, node: Node, method: str) -> dict[str, object] | None:
        """Return the newest command of a name, or None."""
        named = [each for each in self.get_commands_status(node) if each["command_name"] == method]
        return named[-1] if named else None

    def get_clean_steps(self, node: Node, ports: Sequence[object]) -> dict[str, object]:
        """Return the result of the command of this name: steps by hardware manager, and their versions."""
        return self._steps(CLEAN.name, node, ports)

    def get_deploy_steps(self, node: Node, ports: Sequence[object]) -> dict[str, object]:
        """Return the result of the command of this name: steps by hardware manager, and their versions."""
        return self._steps(DEPLOY.name, node, ports)

    def get_service_steps(self, node: Node, ports: Sequence[object]) -> dict[str, object]:
        """Return the result of the command of this name: steps by hardware manager, and their versions."""
        return self._steps(SERVICE.name, node, ports)

    def execute_clean_step(self, step: Mapping[str, object], node: Node, ports: Sequence[object]) -> dict[str, object]:
        """Start a step and return the command."""
        return self._start(CLEAN.name, step, node, ports)

    def execute_deploy_step(self, step: Mapping[str, object], node: Node, ports: Sequence[object]) -> dict[str, object]:
        """Start a step and return the command."""
        return self._start(DEPLOY.name, step, node, ports)

    def execute_service_step(
        self, step: Mapping[str, object], node: Node, ports: Sequence[object]
    ) -> dict[str, object]:
        """Start a step and return the command."""
        return self._start(SERVICE.name, step, node, ports)

    def sync(self, node: Node) -> object:
        """Have the agent write out what its file systems hold back."""
        return Agent(node).execute("standby.sync")

    def power_off(self, node: Node) -> dict[str, object]:
        """Have the agent switch its machine off."""
        return Agent(node).start("standby.power_off").document()

    def get_partition_uuids(self, node: Node) -> object:
        """Return the UUIDs of the partitions of a partition image that the agent has written."""
        return Agent(node).execute("standby.get_partition_uuids")

    def lockdown(self, node: Node) -> object:
        """Have the agent end its access to the network."""
        return Agent(node).execute("system.lockdown")

    def collect_system_logs(self, node: Node) -> object:
        """Return the logs of the ramdisk, encoded as the agent sends them."""
        return Agent(node).execute("log.collect_system_logs")

    @staticmethod
    def _steps(flow: str, node: Node, ports: Sequence[object]) -> dict[str, object]:
        offered, versions = Agent(node).steps(flow, _of_node(node, ports))
        return {f"{flow}_steps": dict(offered), "hardware_manager_version": versions}

    @staticmethod
    def _start(flow: str, step: Mapping[str, object], node: Node, ports: Sequence[object]) -> dict[str, object]:
        versions = KnownAgent(node.driver_internal_info).versions
        return Agent(node).start_step(flow, _of_node(node, ports), step, versions).document()


class _NodeAndPorts:
    """What a command about a node takes of a task."""

    def __init__(self, node: Node, ports: Sequence[object]) -> None:
        self.node, self.ports = node, ports


def _of_node(node: Node, ports: Sequence[object]) -> Any:
    return _NodeAndPorts(node, ports)


_CLIENT: Final = AgentClient()


def get_command_error(command: Mapping[str, object]) -> str | None:
    """Return why a command has failed, as one line of plain text, or None."""
    return Command.parse(command).reason if command.get("command_error") else None
