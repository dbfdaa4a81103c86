"""The step engine: one for all flows.

It prepares the machine, has the plan made, and runs step by step until one waits, one fails or none is left; a flow of
one built-in step goes the same way without a plan. A step is stored on the node before it runs; the end of one and the
beginning of the next are one write. The functions here run on a worker with the node locked, and the lock goes back
with their last write: nothing is held while a flow waits. What a flow prepares, plans and clears up is its operation's
business; how a step is performed stands in performing.py.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ironic.conductor import faults
from ironic.conductor.flows import children
from ironic.conductor.flows.operation import Failure, Operation
from ironic.conductor.flows.outcomes import Done, Failed, Hold, Outcome, Pause, Wait, attempt
from ironic.conductor.flows.performing import judge, perform
from ironic.conductor.flows.step_history import write_down
from ironic.conductor.task import Task
from ironic.core.flow import Flow
from ironic.core.step_cursor import StepCursor
from ironic.core.steps import Step
from ironic.drivers import waiting

LOG = logging.getLogger(__name__)


def begin(task: Task, operation: Operation) -> None:
    """Start a flow: refuse what can't be, prepare the machine, then run, or wait until it is prepared."""
    if operation.flow.is_one_step:
        _run_built_in(task, operation, operation.act)
        return
    if _plan(task, operation, complete=False) is None:
        return
    answer = attempt(task, operation.prepare)
    if isinstance(answer, Failed):
        fail(task, operation, Failure(f"preparing the machine failed: {answer.reason}"))
    elif answer is not None and answer == operation.flow.waiting:
        task.finish("wait")
    else:
        go_on(task, operation)


def go_on(task: Task, operation: Operation, *news: Any) -> None:
    """Go on from where the node stands; what was waited for has happened. A built-in step is handed what came."""
    flow = operation.flow
    if flow.is_one_step:
        _run_built_in(task, operation, operation.resume, *news)
        return
    cursor = StepCursor.of(task.node, flow)
    if cursor.is_planned:
        ended = None if cursor.repeats else cursor.current
        replace(cursor, repeats=False).put(task.node)
        _run(task, operation, cursor.plan, cursor.next_index, ended)
        return
    plan = _plan(task, operation, complete=True)
    if plan is not None:
        StepCursor.of(task.node, flow).planned(plan).put(task.node)
        LOG.info("Node %s: %s runs %s", task.node.uuid, flow.topic, ", ".join(step.name for step in plan) or "no steps")
        _run(task, operation, plan, 0, None)


def go_on_with_agent(task: Task, operation: Operation) -> None:
    """Go on behind a step that has brought an agent up, with the agent's steps in their places."""
    plan = _plan(task, operation, complete=True)
    if plan is not None:
        StepCursor.of(task.node, operation.flow).merged(plan).put(task.node)
        go_on(task, operation)


def go_on_with_other_agent(task: Task, operation: Operation) -> None:
    """Go on with an agent that is not the one the steps were planned with.

    What the flow chose itself is chosen anew, from the first step. What a user asked for is not run twice: the step
    that the agent has refused is given to it again (doc/contract/agent.md#other-hardware-managers).
    """
    cursor = StepCursor.of(task.node, operation.flow)
    if cursor.asked is None and operation.flow.starts_over:
        cursor.started_over().put(task.node)
        go_on(task, operation)
    else:
        replace(cursor, repeats=True).put(task.node)
        go_on_with_agent(task, operation)


def _plan(task: Task, operation: Operation, *, complete: bool) -> list[Step] | None:
    """Have the plan made; None when that failed the flow, which is no fault of a machine that was not touched yet."""
    plan = attempt(task, _informed_plan, operation, complete)
    if not isinstance(plan, Failed):
        return list(plan)
    is_fault = operation.flow.blames_refusals or (complete and not plan.refused)
    fail(task, operation, Failure(plan.reason, is_fault=is_fault, is_prepared=complete))
    return None


def _informed_plan(task: Task, operation: Operation, complete: bool) -> list[Step]:
    """Have the plan made with the steps of the agent, if one is there."""
    flow = operation.flow
    if complete and flow.ramdisk and not StepCursor.of(task.node, flow).has_no_ramdisk:
        task.deploy.learn_steps(task, flow.name)
    return operation.plan(task, complete)


def _run_built_in(task: Task, operation: Operation, act: Callable[..., object], *news: Any) -> None:
    """Do one stretch of the built-in step and move the node by what came of it."""
    match judge(operation.flow, attempt(task, act, *news)):
        case Failed(reason):
            fail(task, operation, Failure(reason))
        case Wait():
            task.finish("wait")
        case _:
            _end(task, operation, None)


def _run(task: Task, operation: Operation, plan: Sequence[Step], start: int, ended: Step | None) -> None:
    """Run the plan from ``start``; ``ended`` is the step before it, whose end is not written down yet."""
    failures: list[Failure] = []
    for index, step in enumerate(plan[start:], start):
        _enter(task, operation.flow, index, step, ended)
        ended = step
        match _perform(task, operation.flow, step):
            case Done():
                continue
            case Wait():
                return task.finish("wait")
            case Pause(seconds):
                return _pause(task, operation, seconds)
            case Hold():
                return task.finish("hold")
            case Failed(reason):
                ended = None
                failures.append(Failure(reason, step))
                if not operation.flow.runs_all:
                    break
    return fail(task, operation, *failures) if failures else _end(task, operation, ended)


def _perform(task: Task, flow: Flow, step: Step) -> Outcome:
    return children.perform(task, flow, step) if step.is_for_children else perform(task, flow, step)


def _pause(task: Task, operation: Operation, seconds: float) -> None:
    """Wait without holding the node, then go on, unless somebody has aborted the flow meanwhile.

    Should this process end first, the next heartbeat after that time goes on, or whoever looks for overdue waits.
    """
    flow = operation.flow
    cursor = StepCursor.of(task.node, flow).paused(seconds, task.node.now())
    cursor.put(task.node)
    task.finish("wait")
    if not waiting.pause(seconds):
        return
    with task.beside(task.node.uuid, f"going on with {flow.topic} after a wait") as again:
        is_same = again.node.provision_state == flow.waiting and StepCursor.of(again.node, flow).began == cursor.began
        if is_same and not again.node.maintenance:
            again.process_event("resume", callback=go_on, call_args=(again, operation))


def _enter(task: Task, flow: Flow, index: int, step: Step, ended: Step | None) -> None:
    """Store the step that is about to run, together with the end of the one before (S50)."""
    cursor, now = StepCursor.of(task.node, flow), task.node.now()
    seconds = cursor.seconds(now)
    cursor.entered(index, step, now).put(task.node)
    task.store.run(lambda _: _write_entry(task, flow, step, ended, seconds), repeatable=True)


def _write_entry(task: Task, flow: Flow, step: Step, ended: Step | None, seconds: int | None) -> None:
    write_down(task, flow, ended=ended, begins=step, seconds=seconds)
    task.node.save()


def _end(task: Task, operation: Operation, ended: Step | None) -> None:
    """End a flow well."""
    answer = attempt(task, operation.tear_down)
    if isinstance(answer, Failed):
        fail(task, operation, Failure(f"clearing up after the last step failed: {answer.reason}"))
        return
    flow = operation.flow
    seconds = StepCursor.of(task.node, flow).seconds(task.node.now())
    StepCursor(flow=flow).put(task.node)
    task.store.run(lambda _: _write_end(task, operation, ended, seconds), repeatable=True)


def _write_end(task: Task, operation: Operation, ended: Step | None, seconds: int | None) -> None:
    write_down(task, operation.flow, ended=ended, seconds=seconds)
    task.finish(operation.done_event(task))


def fail(task: Task, operation: Operation, *failures: Failure, event: str = "fail") -> None:
    """End a flow badly: say why, clear up, and hand the node to people."""
    flow = operation.flow
    text = " ".join(failure.text(flow, task.node.uuid) for failure in failures)
    if any(failure.is_fault for failure in failures):
        faults.mark(task.node, text)
    StepCursor.of(task.node, flow).left().put(task.node)
    if any(failure.is_prepared for failure in failures):
        text += clear_up(task, operation)
    task.finish(event, last_error=text)


def clear_up(task: Task, operation: Operation) -> str:
    """Undo what a failed flow has prepared; return what that adds to the error, should it fail too."""
    answer = attempt(task, operation.give_up)
    return f" Clearing up failed as well: {answer.reason}" if isinstance(answer, Failed) else ""
