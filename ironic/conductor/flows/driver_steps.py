"""Steps of drivers: which a node offers, how one is performed, and its entry in node history.

A third-party driver may return or raise anything in a step; it becomes an outcome here. Its method returns None when
the step is finished and the flow's waiting state when it continues elsewhere; anything else is a failure. Reserved
steps are performed by the engine itself.
"""

import logging
import syslog
from typing import Final

from ironic.conductor.flows.outcomes import Again, Done, Failed, Hold, Outcome, Pause, Wait, attempt, attempt_repeatable
from ironic.conductor.node_events import add_history
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core.flows import states
from ironic.core.flows.flow import Flow
from ironic.core.flows.steps import INTERFACES, Key, Step

LOG = logging.getLogger(__name__)

_POWER: Final = {"power_on": states.POWER_ON, "power_off": states.POWER_OFF, "reboot": states.REBOOT}


def offered_steps(task: TaskManager, flow: str, *, with_agent: bool = True) -> list[Step]:
    """Return the steps of a node's interfaces for one flow, disabled ones included.

    Each interface has three kinds: the steps of an agent that it passes on; those that its class declares; and those it
    names for this node, where the operator's options apply. A user may name the first two even when they are disabled.
    ``with_agent`` is false while an agent is still to come: the remembered steps of another one are left out.
    """
    found: dict[Key, Step] = {}
    for kind in INTERFACES[flow]:
        interface = getattr(task.driver, kind, None)
        if interface is None:
            continue
        of_agent = [Step.parse(step) for step in interface.agent_steps(task, flow)]
        declared = [Step.parse(step) for step in interface.all_steps(flow)]
        of_this_node = [Step.parse(step) for step in interface.get_steps(flow, task) or ()]
        if with_agent:
            steps = [*of_agent, *declared, *of_this_node]
        else:
            foreign = {step.key for step in of_agent} - {step.key for step in declared}
            steps = [step for step in (*declared, *of_this_node) if step.key not in foreign]
        found |= {step.key: step for step in steps}
    return list(found.values())


def perform(task: TaskManager, flow: Flow, step: Step, *, is_repeatable: bool = True) -> Outcome:
    """Perform one step and return how it ended; Again only where the caller can repeat it."""

    def execute(task: TaskManager) -> object:
        return task.driver.execute_step(flow, task, step.as_dict())

    if not step.is_reserved:
        make_attempt = attempt_repeatable if is_repeatable and flow.waiting else attempt
        return judge(flow, make_attempt(task, execute))
    if step.step == "hold":
        return Hold()
    if step.step == "wait":
        return _wait(step)
    answer = attempt(task, TaskManager.change_power, _POWER[step.step])
    return answer if isinstance(answer, Failed) else Done()


def judge(flow: Flow, answer: object) -> Outcome:
    """Return the outcome for a driver's answer: None, a word of the flow, or Failed from ``attempt``."""
    if answer is None or answer in flow.finished_words:
        return Done()
    if isinstance(answer, Failed | Again):
        return answer
    if answer == flow.waiting:
        return Wait()
    who = f"the {flow.interfaces[0]} interface" if flow.is_one_step else "the step"
    return Failed(f"{who} answered {answer!r}, which means nothing here")


def _wait(step: Step) -> Outcome:
    """Wait for the agent's next heartbeat or, with ``seconds``, for that long."""
    seconds = (step.args or {}).get("seconds")
    if seconds is None:
        return Wait()
    duration = min(float(seconds), CONF.conductor.max_conductor_wait_step_seconds)
    return Pause(duration) if duration else Done()


def record(
    task: TaskManager, flow: Flow, *, ended: Step | None = None, begins: Step | None = None, seconds: int | None = None
) -> None:
    """Record the end of one step and the start of the next, inside the transaction that the caller has open.

    ``seconds`` is how long the ended step took.
    """
    if ended is not None:
        note(task, flow, f"{flow.name} step {ended.name} ended", seconds=seconds)
    if begins is not None:
        note(task, flow, f"{flow.name} step {begins.name} begins")


def note(task: TaskManager, flow: Flow, event: str, severity: str = "INFO", *, seconds: int | None = None) -> None:
    """Write an event of a flow to the log, and to node history and syslog if the operator wants it there."""
    LOG.info("Node %s: %s", task.node.uuid, event)
    if CONF.conductor.log_step_flows_to_syslog:
        syslog.syslog(syslog.LOG_INFO, f"ironic: node {task.node.uuid}: {event}")
    if CONF.conductor.record_step_flows_in_history:
        add_history(task, flow.topic, event, severity, seconds=seconds)
