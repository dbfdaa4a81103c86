"""Steps that run on the machine: offered by the agent, begun by us, watched through its heartbeats.

The agent remembers the commands it was given, and so does not have to be believed on its word: a heartbeat only makes
us look at that list. Late, early and repeated heartbeats therefore change nothing. Source:
doc/contract/agent.md#step-cycle.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.agent_errors import AgentAPIError, AgentConnectionFailed, AgentInProgress
from ironic.core.agent_memory import AgentMemory, KnownAgent
from ironic.core.errors import InvalidParameterValue
from ironic.core.flow import in_state, named
from ironic.core.step_cursor import StepCursor
from ironic.drivers.modules.agent.client import FAILED, MISMATCH, RUNNING, SUCCEEDED, Agent, Command
from ironic.drivers.step_ends import StepDone, StepEnd, StepFailed, StepsChanged
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)

# (interface, step) -> the option of [deploy] that may say another priority than the agent does.
_PRIORITIES: Final = {
    ("deploy", "erase_devices"): "erase_devices_priority",
    ("deploy", "erase_devices_metadata"): "erase_devices_metadata_priority",
    ("raid", "delete_configuration"): "delete_configuration_priority",
    ("raid", "create_configuration"): "create_configuration_priority",
}


def learn(task: Task, flow: str) -> None:
    """Ask the agent for its steps and keep them on the node; an old agent may know nothing of a flow."""
    agent = AgentMemory(task.node)
    if not agent.is_known:
        return
    try:
        offered, versions = Agent(task.node).steps(flow, task)
    except AgentInProgress:
        raise
    except AgentAPIError as error:
        if flow != "service" or error.facts.get("status") == 200:
            raise
        LOG.info("Node %s: the agent offers no service steps: %s", task.node.uuid, error)
        offered, versions = {}, agent.versions
    agent.keep_steps(flow, offered, versions)
    task.node.save()


def offered(node: Node, flow: str, interface: str) -> list[dict[str, object]]:
    """Return the agent's steps for an interface, with the priorities that the operator wants."""
    return [prioritised(flow, step) for step in KnownAgent(node.driver_internal_info).steps(flow).get(interface, ())]


def prioritised(flow: str, step: Mapping[str, Any]) -> dict[str, object]:
    """Return a step with the priority that the operator wants, or else its own."""
    option = _PRIORITIES.get((step["interface"], step["step"])) if flow == "clean" else None
    wanted = CONF.deploy[option] if option else None
    return {"priority": 0, **step} if wanted is None else {**step, "priority": wanted}


def flow_of(node: Node) -> str:
    """Return the flow whose step is about to run."""
    flow = in_state(node.provision_state)
    if flow is None:
        raise InvalidParameterValue(err=f"Node {node.uuid} is in state '{node.provision_state}', which runs no steps.")
    return flow.name


def begin(task: Task, flow: str, step: Mapping[str, object]) -> str | None:
    """Have the agent begin a step; one that can't take it now is asked again with its next heartbeat."""
    node = task.node
    if _entry(node, flow, step) is None:
        raise InvalidParameterValue(err=f"The agent of node {node.uuid} has no {flow} step {step['step']!r}.")
    try:
        Agent(node).begin_step(flow, task, step, KnownAgent(node.driver_internal_info).versions)
    except (AgentInProgress, AgentConnectionFailed) as error:
        LOG.info("Node %s: step %s waits for the agent's next heartbeat: %s", node.uuid, step["step"], error)
        replace(StepCursor.of(node, named(flow)), repeats=True).put(node)
    return named(flow).waiting


def look(task: Task, flow: str, step: Mapping[str, object]) -> StepEnd | None:
    """Return how the step that the node waits in has ended; None while it has not."""
    cursor = StepCursor.of(task.node, named(flow))
    if cursor.is_polled:
        return None
    if cursor.repeats:
        return StepDone()
    try:
        commands = Agent(task.node).commands()
    except AgentConnectionFailed as error:
        LOG.warning("Node %s: the agent has sent a heartbeat and can't be reached: %s", task.node.uuid, error)
        return None
    done = [command for command in commands if command.name != f"get_{flow}_steps"]
    return _judge(task.node, flow, step, done[-1]) if done else _after_boot(task.node, flow, step)


def _after_boot(node: Node, flow: str, step: Mapping[str, object]) -> StepEnd:
    """Judge an agent that has done nothing yet: the machine has restarted."""
    if StepCursor.of(node, named(flow)).restarts or _entry(node, flow, step) is None:
        return StepDone()
    return StepFailed("the agent has restarted while the step was running")


def _judge(node: Node, flow: str, step: Mapping[str, object], last: Command) -> StepEnd | None:
    """Judge by the last command that the agent was given."""
    if last.status == RUNNING:
        return None
    if last.name != f"execute_{flow}_step":
        LOG.debug("Node %s: the agent's last command was %s, which is no step", node.uuid, last.name)
        return None
    if last.status in MISMATCH:
        return StepsChanged()
    if last.status == FAILED:
        return StepFailed(last.reason)
    if last.status != SUCCEEDED:
        return StepFailed(f"the agent says that the step ended as {last.status}")
    return _succeeded(node, flow, step, last)


def _succeeded(node: Node, flow: str, step: Mapping[str, object], last: Command) -> StepEnd | None:
    result = last.result if isinstance(last.result, Mapping) else {}
    ended = result.get(f"{flow}_step") or {}
    if (ended.get("interface"), ended.get("step")) != (step["interface"], step["step"]):
        LOG.debug("Node %s: the agent reports the end of %s, which is over", node.uuid, ended.get("step"))
        return None
    if StepCursor.of(node, named(flow)).restarts:
        return None  # the agent that is about to die with the restart
    reboot = bool((_entry(node, flow, step) or {}).get("reboot_requested"))
    return StepDone(reboot=reboot, has_result=True, result=result.get(f"{flow}_result"))


def _entry(node: Node, flow: str, step: Mapping[str, Any]) -> Mapping[str, object] | None:
    """Return what the agent has said about a step; None when it is none of its own."""
    known: Sequence[Mapping[str, Any]] = KnownAgent(node.driver_internal_info).steps(flow).get(step["interface"], ())
    return next((entry for entry in known if entry["step"] == step["step"]), None)
