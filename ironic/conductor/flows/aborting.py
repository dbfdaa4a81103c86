"""Aborting: a user ends what a node waits for.

A wait in a step that can be interrupted ends at once; any other step is marked, and the flow aborts when it ends. An
abort is no fault of the machine: maintenance stays as it is (S55). Source: doc/contract/states.md#aborting.
"""

from ironic.conductor.flows import engine
from ironic.conductor.flows.operation import Failure, Operation, waiting_or_held
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.moves import shortened
from ironic.conductor.task import Task
from ironic.core import states
from ironic.core.flow import FLOWS, Flow
from ironic.core.step_cursor import StepCursor


def start(task: Task) -> None:
    """Accept a request to abort."""
    operation = waiting_or_held(task)
    if operation is None:
        _leave_failed(task)
        return
    cursor = StepCursor.of(task.node, operation.flow)
    if cursor.current is None or cursor.current.may_abort:
        now(task, operation)
    else:
        cursor.aborting().put(task.node)
        task.node.save()


def now(task: Task, operation: Operation) -> None:
    """Abort a flow whose node waits or is held."""
    reason = _reason(task, operation.flow)
    if operation.flow.aborts_when_cleared_up:
        task.spawn_after(engine.fail, task, operation, Failure(reason, is_fault=False), event="abort")
        return
    was_held = task.node.provision_state == operation.flow.held
    task.process_event("abort", callback=_clear_up, call_args=(task, operation, was_held), last_error=reason)


def now_here(task: Task, operation: Operation) -> None:
    """Abort a flow whose node waits, on the worker that this runs on already."""
    task.process_event("abort", last_error=_reason(task, operation.flow))
    _clear_up(task, operation, was_held=False)


def _reason(task: Task, flow: Flow) -> str:
    return flow.why_aborted(task.node.uuid, StepCursor.of(task.node, flow).whereabouts)


def _clear_up(task: Task, operation: Operation, was_held: bool) -> None:
    """Undo what the flow prepared; a serviced machine is in use again, others stay in their failed state."""
    StepCursor.of(task.node, operation.flow).left().put(task.node)
    more = engine.clear_up(task, operation)
    if was_held:
        answer = attempt(task, operation.give_up_held)
        more += f" Tearing down failed as well: {answer.reason}" if isinstance(answer, Failed) else ""
    text = shortened(f"{task.node.last_error}{more}")
    if states.allows(task.node.provision_state, "abort"):
        task.finish("abort", last_error=text)
    else:
        task.node.last_error = text
        task.save_and_release()


def _leave_failed(task: Task) -> None:
    """Let a node whose servicing failed be in use as it is."""
    flow = next(flow for flow in FLOWS if flow.failed == task.node.provision_state)
    StepCursor(flow=flow).put(task.node)
    task.node.last_error = None
    task.finish("abort")
