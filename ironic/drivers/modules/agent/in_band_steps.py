"""In-band steps: offered by the agent, started by the conductor, watched through heartbeats.

The agent keeps a list of the commands that it received. A heartbeat only makes the conductor read that list, so late,
early and repeated heartbeats change nothing. A step that an interface class decorates is a step of the conductor, which
may start the agent's work by itself; any other step of the interface is the agent's. Source:
doc/contract/agent.md#step-cycle.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import AgentAPIError, AgentConnectionFailed, AgentInProgress
from ironic.core.flows.flow import Flow, in_state, named
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.memory.agent_memory import AgentMemory, KnownAgent
from ironic.core.readings import Known
from ironic.drivers.composition.clean_priorities import AGENT_OPTIONS
from ironic.drivers.contract.interfaces import BaseInterface
from ironic.drivers.contract.step_declarations import StepDone, StepEnd, StepFailed, StepKind, StepsChanged
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.agent.agent_client import FAILED, MISMATCH, RUNNING, SUCCEEDED, Agent, Command

LOG = logging.getLogger(__name__)


def store_agent_steps(task: Task, flow: str) -> None:
    """Get the agent's steps for a flow and store them on the node; old agents have no service steps."""
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
    agent.store_steps(flow, offered, versions)
    task.node.save()


def agent_steps(node: Node, flow: str, interface: str) -> list[dict[str, object]]:
    """Return the agent's steps for an interface, with the priorities that options set."""
    return [prioritised(flow, step) for step in KnownAgent(node.driver_internal_info).steps(flow).get(interface, ())]


def prioritised(flow: str, step: Mapping[str, Any]) -> dict[str, object]:
    """Return a step with the priority that an option sets, or else its own."""
    option = AGENT_OPTIONS.get(f"{step['interface']}.{step['step']}") if flow == "clean" else None
    priority = CONF.deploy[option] if option else None
    return {"priority": 0, **step} if priority is None else {**step, "priority": priority}


ASKED: Final = InternalKey("agent_asked_step", list, "The step that a plug-in asks the agent for, offered or not.")


def flow_of(node: Node) -> str:
    """Return the name of the flow that the node is in; raise InvalidParameterValue for a state without steps."""
    flow = in_state(node.provision_state)
    if flow is None:
        raise InvalidParameterValue(err=f"Node {node.uuid} is in state '{node.provision_state}', which runs no steps.")
    return flow.name


def start_step(task: Task, flow: str, step: Mapping[str, object]) -> str | None:
    """Start a step of the agent and return the wait state; for a busy agent it is started after the next heartbeat.

    Raise InvalidParameterValue when the agent does not offer the step.
    """
    node = task.node
    if _entry(node, flow, step) is None:
        raise InvalidParameterValue(err=f"The agent of node {node.uuid} has no {flow} step {step['step']!r}.")
    try:
        Agent(node).start_step(flow, task, step, KnownAgent(node.driver_internal_info).versions)
    except (AgentInProgress, AgentConnectionFailed) as error:
        LOG.info("Node %s: step %s waits for the agent's next heartbeat: %s", node.uuid, step["step"], error)
        return run_again(task, named(flow))
    return named(flow).waiting


def run_again(task: Task, flow: Flow) -> str | None:
    """Have the running step run again after the next heartbeat; return the wait state."""
    replace(StepCursor.of(task.node, flow), repeats=True).put(task.node)
    return flow.waiting


def check_progress(task: Task, flow: str, step: Mapping[str, object]) -> StepEnd | None:
    """Return how the step that the node waits in has ended; None while it runs or the agent can't be reached."""
    node = task.node
    cursor = StepCursor.of(node, named(flow))
    if cursor.is_polled:
        return None
    if cursor.repeats:
        return StepDone()
    try:
        commands = Agent(node).commands()
    except AgentConnectionFailed as error:
        LOG.warning("Node %s: its agent sent a heartbeat but can't be reached: %s", node.uuid, error)
        return None
    done = [command for command in commands if command.name != f"get_{flow}_steps"]
    if done:
        return _end_of(node, flow, step, done[-1])
    # An agent without commands has just started: the machine was restarted.
    if cursor.restarts or not _is_of_agent(node, flow, step):
        return StepDone()
    return StepFailed("the agent has restarted while the step was running")


def _end_of(node: Node, flow: str, step: Mapping[str, object], last: Command) -> StepEnd | None:
    """Return how the step has ended according to the agent's last command; None when that is no end of this step."""
    if last.status == Known(RUNNING):
        return None
    if last.name != f"execute_{flow}_step":
        LOG.debug("Node %s: the agent's last command was %s, which is no step", node.uuid, last.name)
        return None
    if not isinstance(last.status, Known):
        LOG.warning("Node %s: the agent does not say how far the step %s is", node.uuid, step["step"])
        return None
    status = last.status.value
    if status in MISMATCH:
        return StepsChanged()
    if status == FAILED:
        return StepFailed(last.reason)
    if status != SUCCEEDED:
        return StepFailed(f"the agent reports that the step ended as {status}")
    result = last.result if isinstance(last.result, Mapping) else {}
    ended = result.get(f"{flow}_step")
    if not isinstance(ended, Mapping):
        LOG.warning("Node %s: the agent does not say which step has ended", node.uuid)
        return None
    if (ended.get("interface"), ended.get("step")) != (step["interface"], step["step"]):
        LOG.debug("Node %s: the agent reports the end of %s, which is over", node.uuid, ended.get("step"))
        return None
    cursor = StepCursor.of(node, named(flow))
    if cursor.restarts and _was_restarted(node, cursor):
        return None  # this agent is about to end with the restart
    reboot = bool((_entry(node, flow, step) or {}).get("reboot_requested"))
    return StepDone(reboot=reboot, has_result=True, result=result.get(f"{flow}_result"), command=last)


def _was_restarted(node: Node, cursor: StepCursor) -> bool:
    """Return whether the restart behind a step was ordered; a conductor that was killed may have only announced it."""
    changed = KnownAgent(node.driver_internal_info).power_changed_at
    return changed is not None and cursor.began is not None and changed >= cursor.began


def _is_of_agent(node: Node, flow: str, step: Mapping[str, Any]) -> bool:
    """Return whether the agent runs a step: one that it offers, or one that a plug-in has asked it for."""
    return _entry(node, flow, step) is not None or ASKED.of(node) == [step["interface"], step["step"]]


def _entry(node: Node, flow: str, step: Mapping[str, Any]) -> Mapping[str, object] | None:
    """Return the agent's description of a step; None when the step is not the agent's."""
    known: Sequence[Mapping[str, Any]] = KnownAgent(node.driver_internal_info).steps(flow).get(step["interface"], ())
    return next((entry for entry in known if entry["step"] == step["step"]), None)


class InBandSteps(BaseInterface):
    """An interface whose steps may be the agent's."""

    def agent_steps(self, task: Task, kind: StepKind) -> list[dict[str, object]]:
        return agent_steps(task.node, kind, self.interface_type)

    def get_clean_steps(self, task: Task) -> list[dict[str, Any]]:
        offered = {step["step"]: step for step in self.agent_steps(task, "clean")}
        # A decorated step that the agent offers too gets the priority of an option, or else the agent's.
        own = [
            prioritised("clean", {**step, "priority": offered.pop(step["step"], step)["priority"]})
            for step in self.all_steps("clean")
        ]
        enabled = [step for step in (*own, *offered.values()) if step["priority"]]
        return sorted(enabled, key=lambda step: -step["priority"])

    def _execute(self, kind: StepKind, task: Task, step: Mapping[str, object]) -> str | None:
        if any(known["step"] == step["step"] for known in self.all_steps(kind)):
            return super()._execute(kind, task, step)
        return start_step(task, kind, step)
