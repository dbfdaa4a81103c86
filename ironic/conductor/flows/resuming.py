"""Bringing a waiting or held node back to work.

Whoever knows that a wait is over comes here with the node locked: an agent's heartbeat, a driver that polls, a user who
lets go, the job that ends waits which last too long. A flow that was to abort after its step does so now.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from ironic.conductor.answering import answers
from ironic.conductor.flows import aborting, engine
from ironic.conductor.flows.operation import Failure, Operation, waiting_or_held
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.task import Task
from ironic.core import states
from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import InvalidState
from ironic.core.step_cursor import StepCursor
from ironic.drivers.step_ends import AgentArrived, StepDone, StepFailed, StepsChanged

LOG = logging.getLogger(__name__)


@answers
def continue_flow(task: Task) -> None:
    """Go on with the flow that the node waits in."""
    operation = _awaited(task, "resume")
    step = StepCursor.of(task.node, operation.flow).current
    if step is not None and step.abort_after:
        aborting.now(task, operation)
    else:
        task.process_event("resume", callback=engine.go_on, call_args=(task, operation))


def _awaited(task: Task, event: str) -> Operation:
    """Return the operation that the node waits in for an agent or a driver's poll, or raise InvalidState."""
    operation = waiting_or_held(task)
    if operation is None or task.node.provision_state != operation.flow.waiting or not operation.flow.hears_agent:
        raise InvalidState(event=event, state=task.node.provision_state)
    return operation


def _resume_here(task: Task, operation: Operation, go_on: Callable[[Task, Operation], None] = engine.go_on) -> None:
    """Go on with a flow whose node waits, on the worker that this runs on already."""
    step = StepCursor.of(task.node, operation.flow).current
    if step is not None and step.abort_after:
        aborting.now_here(task, operation)
    else:
        task.process_event("resume")
        go_on(task, operation)


def unhold(task: Task) -> None:
    """Let a held node go on: at once when no agent has to be there for it, else with the agent's next heartbeat."""
    operation = waiting_or_held(task)
    task.process_event("unhold")
    assert operation is not None, "the table of moves has unhold in states that are held"
    if operation.flow.unholds_at_once or not AgentMemory(task.node).is_known:
        continue_flow(task)


# A heartbeat


def hear(task: Task, operation: Operation, beat: Mapping[str, object]) -> None:
    """Do what a heartbeat makes possible for a node that waits.

    Any sign of life brings the node back while nothing of a driver's is under way: while the machine is prepared, in a
    wait of the engine's own, after a hold, and in a built-in step. Else the deploy interface hears of it on a worker.
    Nothing happens before the time for which a step waits is over.
    """
    cursor = StepCursor.of(task.node, operation.flow)
    if (cursor.seconds_left(task.node.now()) or 0) > 0:
        return
    if not cursor.is_polled and (cursor.current is None or cursor.current.is_reserved):
        continue_flow(task)
    else:
        task.spawn_after(_listen, task, operation, beat)


def _listen(task: Task, operation: Operation, beat: Mapping[str, object]) -> None:
    """Have the deploy interface look at its agent, and do what follows from what it says has come to an end."""
    flow = operation.flow
    match attempt(task, _look, beat):
        case Failed(reason) | StepFailed(reason):
            engine.fail(task, operation, Failure.of_current_step(task, flow, reason))
        case StepDone(reboot=True):
            _restart(task, operation)
        case StepDone():
            replace(StepCursor.of(task.node, flow), restarts=False).put(task.node)
            _resume_here(task, operation)
        case AgentArrived():
            _resume_here(task, operation, engine.go_on_with_agent)
        case StepsChanged():
            _resume_here(task, operation, engine.go_on_with_other_agent)


def _look(task: Task, beat: Mapping[str, Any]) -> Any:
    return task.deploy.heartbeat(task, **beat)


def _restart(task: Task, operation: Operation) -> None:
    """Restart the machine after a step that wants it; its agent's next first heartbeat brings the flow back."""
    cursor = replace(StepCursor.of(task.node, operation.flow), restarts=True)
    cursor.put(task.node)
    task.node.save()
    answer = attempt(task, Task.change_power, states.REBOOT)
    if isinstance(answer, Failed):
        engine.fail(task, operation, Failure(f"restarting the machine failed: {answer.reason}", step=cursor.current))
    else:
        task.save_and_release()


# A driver's poll, which finds that its step has ended


def ended_well(task: Task) -> None:
    """Go on behind the step."""
    continue_flow(task)


def ended_badly(task: Task, logmsg: str, errmsg: str | None = None, traceback: bool = False) -> None:
    """Fail the flow with the step and the reason; ``errmsg`` is for users, who see ``logmsg`` when there is none."""
    operation = _awaited(task, "fail")
    LOG.error("Node %s: %s", task.node.uuid, logmsg, exc_info=traceback)
    engine.fail(task, operation, Failure.of_current_step(task, operation.flow, errmsg or logmsg))


# A wait that lasts too long


def end_wait(task: Task, reason: str) -> None:
    """Fail what the node waits in, on a worker; a wait for some time whose conductor has ended meanwhile goes on."""
    operation = waiting_or_held(task)
    assert operation is not None, "only nodes that wait are looked for"
    left = StepCursor.of(task.node, operation.flow).seconds_left(task.node.now())
    if task.node.maintenance or left is None:
        text = reason + operation.why_nothing_came(task)
        engine.fail(task, operation, Failure.of_current_step(task, operation.flow, text))
    elif left <= 0:
        _resume_here(task, operation)


ON_TIMEOUT: Final[Mapping[str, Callable[[Task, str], None]]] = dict.fromkeys(states.WAITING, end_wait)
