"""Ending a wait: a heartbeat, a driver that polls or a user's unhold resumes the flow; abort and time-out end it.

All of these come here with the node locked. A flow that was marked to abort after its current step aborts now.

A heartbeat is recorded in every state in which an agent may run. If the node waits for the agent, the deploy interface
handles the heartbeat on a worker; a flow that waits only for the heartbeat resumes. On a node in maintenance it has no
effect. Source: doc/contract/agent.md#what-a-heartbeat-does.

An abort ends the wait at once in a step that can be interrupted; any other step is marked, and the flow aborts when it
ends. An abort is no fault of the machine: maintenance stays as it is (S55). Source: doc/contract/states.md#aborting.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from ironic.conductor import awaited_ramdisk, background_work
from ironic.conductor.flows import engine
from ironic.conductor.flows.engine import OPERATIONS, Failure, Operation, waiting_or_held
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskManager
from ironic.conductor.transitions import shortened
from ironic.conf import CONF
from ironic.core.errors import InvalidState
from ironic.core.errors.failure_texts import Reason, in_words
from ironic.core.flows import node_waits, states
from ironic.core.flows.flow import FLOWS, in_state
from ironic.core.flows.node_waits import Follows
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.memory.agent_memory import FAST_TRACK_IDLE, HEARTBEAT, AgentMemory, KnownAgent
from ironic.drivers.contract import awaited_setting
from ironic.drivers.contract.step_declarations import AgentBooted, StepDone, StepFailed, StepsChanged
from ironic.drivers.nodes import fast_track

LOG = logging.getLogger(__name__)


# A heartbeat


@rpc_method
def heartbeat(task: TaskManager, beat: dict[str, object]) -> None:
    """Record a heartbeat, and resume the flow or start a worker on it where the node waits for the agent."""
    node = task.node
    flow = in_state(node.provision_state)
    # Without a flow a ramdisk may still run, kept for the next operation (fast track).
    is_kept = node.provision_state in FAST_TRACK_IDLE and fast_track.is_wanted(node)
    if not (flow.hears_agent if flow else is_kept):
        LOG.debug("Node %s: a heartbeat in state '%s' is ignored", node.uuid, node.provision_state)
        return
    # The API has compared it before the node was locked. Without it the next operation could not call the agent, which
    # looks up its node again after an inspection.
    if is_kept and KnownAgent(node.driver_internal_info).token is None:
        LOG.info("Node %s: a heartbeat is ignored, because the token of its agent was dropped meanwhile", node.uuid)
        return
    AgentMemory(node).record(beat)
    is_awaited = flow is not None and node.provision_state == flow.waiting
    if is_awaited:
        node.provision_updated_at = node.now()  # a wait with a living agent does not time out
        awaited_ramdisk.announce(node)
    node.save()
    operation = waiting_or_held(task) if is_awaited else None
    if operation is None:
        return
    if not node.maintenance:
        process_heartbeat(task, operation, {field: beat.get(field) for field in HEARTBEAT})
    elif not CONF.conductor.allow_provisioning_in_maintenance:
        # The flow fails if the operator allows no provisioning in maintenance; otherwise the heartbeat has no effect.
        task.spawn_after(end_wait, task, "The agent came while the node is in maintenance.")


def process_heartbeat(task: TaskManager, operation: Operation, beat: Mapping[str, object]) -> None:
    """Resume the flow of a node that waits, or have the deploy interface handle the heartbeat on a worker.

    Any heartbeat resumes the flow while no driver's step is under way: while the machine is prepared, in a wait of the
    engine's own, after a hold, and in a built-in step. It has no effect before the time is over for which a step waits,
    nor while the machine restarts for a setting of its firmware, whatever it boots meanwhile.
    """
    if awaited_setting.is_awaited(task.node) or node_waits.is_open(task.node, engine.PAUSE):
        return
    cursor = StepCursor.of(task.node, operation.flow)
    if not cursor.is_polled and (cursor.current is None or cursor.current.is_reserved):
        continue_flow(task)
    else:
        task.spawn_after(_handle_heartbeat, task, operation, beat)


def _handle_heartbeat(task: TaskManager, operation: Operation, beat: Mapping[str, Any]) -> None:
    """Have the deploy interface poll its agent, and continue by what it reports of the running step."""
    flow = operation.flow

    def poll(task: TaskManager) -> Any:
        return task.deploy.heartbeat(task, **beat)

    match attempt(task, poll):
        case Failed(reason) | StepFailed(reason):
            engine.fail(task, operation, Failure.of_current_step(task, flow, reason))
        case StepDone(reboot=True):
            # The first heartbeat of the restarted agent resumes the flow.
            cursor = replace(StepCursor.of(task.node, flow), restarts=True)
            cursor.put(task.node)
            task.node.save()
            answer = attempt(task, TaskManager.change_power, states.REBOOT)
            if isinstance(answer, Failed):
                failure = Failure(answer.reason, step=cursor.current, stage="restarting the machine")
                engine.fail(task, operation, failure)
            else:
                task.save_and_release()
        case StepDone():
            replace(StepCursor.of(task.node, flow), restarts=False).put(task.node)
            _resume_here(task, operation)
        case AgentBooted():
            _resume_here(task, operation, engine.resume_with_agent)
        case StepsChanged():
            _resume_here(task, operation, engine.resume_with_other_agent)


def _resume_here(
    task: TaskManager, operation: Operation, resume: Callable[[TaskManager, Operation], None] = engine.resume
) -> None:
    """Resume or abort a flow whose node waits, on the worker that this runs on already."""
    step = StepCursor.of(task.node, operation.flow).current
    if step is not None and step.abort_after:
        task.process_event("abort", last_error=_abort_reason(task, operation))
        _clean_up_aborted(task, operation, was_held=False)
    else:
        task.process_event("resume")
        resume(task, operation)


# A driver that polls, and a user who ends a hold


@rpc_method
def continue_flow(task: TaskManager) -> None:
    """Resume, or abort as requested, the flow in which the node waits, on a worker; InvalidState when it doesn't."""
    operation = _awaited(task, "resume")
    go_on = engine.do_again if awaited_setting.is_awaited(task.node) else engine.resume
    step = StepCursor.of(task.node, operation.flow).current
    if step is not None and step.abort_after:
        abort_now(task, operation)
    elif task.node.provision_state == operation.flow.working:
        task.spawn_after(go_on, task, operation)
    else:
        task.process_event("resume", callback=go_on, call_args=(task, operation))


def fail_polled_step(task: TaskManager, logmsg: str, errmsg: str | None = None, traceback: bool = False) -> None:
    """Fail the flow in its current step; users see ``errmsg``, or ``logmsg`` when there is none."""
    operation = _awaited(task, "fail")
    LOG.error("Node %s: %s", task.node.uuid, logmsg, exc_info=traceback)
    engine.fail(task, operation, Failure.of_current_step(task, operation.flow, errmsg or logmsg))


def end_look(task: TaskManager, end: object, follows: Follows = Follows.FLOW) -> None:
    """Continue as an interface that looks at a node has found it: by StepDone, StepFailed, or anything else for no end.

    ``follows`` is what its wait says. Outside a flow, what a user has requested for the machine has ended.
    """
    if not isinstance(end, StepDone | StepFailed):
        return
    reason: Reason | None = end.reason if isinstance(end, StepFailed) else None
    operation = waiting_or_held(task)
    if in_state(task.node.provision_state) is None:
        background_work.end_awaited(task, reason)
    elif follows is Follows.FLOW and operation is not None and operation.end_look is not None:
        operation.end_look(task, reason)
    elif isinstance(end, StepFailed):
        fail_polled_step(task, end.reason)
    else:
        continue_flow(task)


def _awaited(task: TaskManager, event: str) -> Operation:
    """Return the operation in which the node waits for an agent or a driver's poll, or raise InvalidState."""
    node, flow = task.node, in_state(task.node.provision_state)
    hears_agent = flow is not None and flow.hears_agent and node.provision_state == flow.waiting
    if flow is None or not (hears_agent or awaited_setting.is_awaited(node)):
        raise InvalidState(event=event, state=node.provision_state)
    return OPERATIONS[flow]


def unhold(task: TaskManager) -> None:
    """End a hold: the flow resumes at once if it needs no agent, otherwise with the agent's next heartbeat."""
    operation = waiting_or_held(task)

    def write(_connection: object) -> None:
        task.process_event("unhold")
        assert operation is not None, "the table of moves has unhold in states that are held"
        if operation.flow.unholds_at_once or not AgentMemory(task.node).is_known:
            # In the same transaction: the node waits for nothing that would come if it did not resume.
            continue_flow(task)

    task.store.run(write, repeatable=True)


# A time-out


def end_wait(task: TaskManager, reason: str) -> None:
    """Fail the flow in which the node waits, unless that is a pause, which has an end of its own. Runs on a worker."""
    operation = waiting_or_held(task)
    assert operation is not None, "time-outs select only nodes that wait"
    if task.node.maintenance or not node_waits.is_open(task.node, engine.PAUSE):
        text = reason + operation.timeout_details(task)
        engine.fail(task, operation, Failure.of_current_step(task, operation.flow, text))


ON_TIMEOUT: Final[Mapping[str, Callable[[TaskManager, str], None]]] = dict.fromkeys(states.WAITING, end_wait)


# An abort


def abort(task: TaskManager) -> None:
    """Accept a user's request to abort."""
    operation = waiting_or_held(task)
    if operation is None:
        # Servicing has failed: the machine is in use again as it is.
        flow = next(flow for flow in FLOWS if flow.failed == task.node.provision_state)
        StepCursor(flow=flow).put(task.node)
        task.node.last_error = None
        task.finish("abort")
        return
    cursor = StepCursor.of(task.node, operation.flow)
    if cursor.current is None or cursor.current.may_abort:
        abort_now(task, operation)
    else:
        cursor.aborting().put(task.node)
        task.node.save()


def abort_now(task: TaskManager, operation: Operation) -> None:
    """Abort a flow whose node waits or is held; the clean-up runs on a worker."""
    reason = _abort_reason(task, operation)
    if operation.flow.aborts_when_cleared_up:
        task.spawn_after(engine.fail, task, operation, Failure(reason, is_fault=False), event="abort")
        return
    was_held = task.node.provision_state == operation.flow.held
    task.process_event("abort", callback=_clean_up_aborted, call_args=(task, operation, was_held), last_error=reason)


def _abort_reason(task: TaskManager, operation: Operation) -> str:
    flow = operation.flow
    return flow.abort_text(task.node.uuid, StepCursor.of(task.node, flow).position_text)


def _clean_up_aborted(task: TaskManager, operation: Operation, was_held: bool) -> None:
    """Undo what the flow prepared; a serviced machine is in use again, others stay in their failed state."""
    StepCursor.of(task.node, operation.flow).ended().put(task.node)
    more = engine.clean_up(task, operation)
    if was_held:
        answer = attempt(task, operation.clean_up_held)
        more += f" Tearing down failed as well: {in_words(answer.reason)}" if isinstance(answer, Failed) else ""
    text = shortened(f"{task.node.last_error}{more}")
    if states.allows(task.node.provision_state, "abort"):
        task.finish("abort", last_error=text)
    else:
        task.node.last_error = text
        task.save_and_release()
