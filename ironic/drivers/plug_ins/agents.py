"""The agent of a node as third-party plug-ins call it, and its steps."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Never

from ironic.core.agent_memory import KnownAgent
from ironic.core.errors import InstanceDeployFailure
from ironic.core.flow import CLEAN, DEPLOY, SERVICE
from ironic.drivers.info_keys import AGENT
from ironic.drivers.modules.agent import in_band_steps
from ironic.drivers.modules.agent.agent_client import Agent, Command
from ironic.drivers.task import Node, Task

VENDOR_PROPERTIES: Final = dict(AGENT)


def execute_step(task: Task, step: Mapping[str, object], step_type: str, client: object = None) -> str | None:
    """Start a step of the agent and return the waiting state; raises InvalidParameterValue for one it does not have.

    A busy agent gets the step after its next heartbeat.
    """
    return in_band_steps.start_step(task, step_type, step)


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
    """Return a client for the agents of nodes."""
    return AgentClient()


class AgentClient:
    """The commands of an agent; each method takes its node, and raises the errors of `Agent`."""

    def get_commands_status(self, node: Node) -> list[dict[str, object]]:
        """Return the commands that the agent has received since it started, oldest first."""
        return [_document(command) for command in Agent(node).commands()]

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
        return _document(Agent(node).start("standby.power_off"))

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
        return _document(Agent(node).start_step(flow, _of_node(node, ports), step, versions))


class _NodeAndPorts:
    """What a command about a node takes of a task."""

    def __init__(self, node: Node, ports: Sequence[object]) -> None:
        self.node, self.ports = node, ports


def _of_node(node: Node, ports: Sequence[object]) -> Any:
    return _NodeAndPorts(node, ports)


def get_command_error(command: Mapping[str, object]) -> str | None:
    """Return why a command has failed, as one line of plain text, or None."""
    return Command.parse(command).reason if command.get("command_error") else None


def _document(command: Command) -> dict[str, object]:
    return {
        "id": command.id,
        "command_name": command.name,
        "command_status": command.status,
        "command_result": command.result,
        "command_error": command.error,
    }
