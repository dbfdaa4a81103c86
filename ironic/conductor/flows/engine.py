"""The step engine: runs the steps of an operation one by one until one waits, one fails or none is left.

An ``Operation`` binds the record of a flow (`core.flow`) to the functions that act. Cleaning, deploying and servicing,
the first contact, inspecting, rescuing and the way back, adopting and tearing down are operations, and this one engine
runs them all. Some make a plan of the steps that drivers and agents offer; others have one built-in step without a
plan, which may wait and be resumed as well.

A step is stored on the node before it runs; the end of one step and the start of the next are one write. The functions
here run on a worker with the node locked, and their last write releases the lock: a flow that waits holds nothing. What
a flow prepares, plans and cleans up is its operation's business; how a step is performed is in `driver_steps`.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ironic.conductor import bmc_refresh, transitions
from ironic.conductor.flows import child_nodes, driver_steps
from ironic.conductor.flows.outcomes import (
    Again,
    Done,
    Failed,
    Hold,
    Pause,
    Remark,
    Wait,
    attempt,
    attempt_repeatable,
)
from ironic.conductor.tasks import TaskManager
from ironic.core.errors.failure_texts import Reason, in_words
from ironic.core.flows import node_waits
from ironic.core.flows.flow import Flow, in_state
from ironic.core.flows.node_waits import Follows
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.flows.steps import Step
from ironic.drivers.contract import awaited_setting, waits
from ironic.drivers.contract.task import Waiter

LOG = logging.getLogger(__name__)


def nothing(task: TaskManager) -> None:
    """Do nothing: for operations that have nothing to prepare or to clean up."""


def no_steps(task: TaskManager, complete: bool) -> list[Step]:
    """Return the plan of an operation with a built-in step."""
    return []


def always_done(task: TaskManager) -> str:
    """Return the event that ends most operations."""
    return "done"


def no_details(task: TaskManager) -> str:
    """Return that nothing more is known of a wait that timed out."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operation:
    """One flow and the functions that act; those that return Any return what a driver's step may return."""

    flow: Flow

    # Makes the plan; called with False before the machine is prepared, when an agent's steps may not be known yet.
    plan: Callable[[TaskManager, bool], list[Step]] = no_steps
    # The built-in step, and the rest of it once what it waits for has come.
    act: Callable[[TaskManager], Any] = nothing
    resume: Callable[..., Any] = nothing

    # Prepares the machine.
    prepare: Callable[[TaskManager], Any] = nothing
    # Undoes the preparation: after the last step, after a failure or an abort, and after an abort of a held node.
    tear_down: Callable[[TaskManager], Remark | None] = nothing
    clean_up: Callable[[TaskManager], None] = nothing
    clean_up_held: Callable[[TaskManager], Any] = nothing

    # Whether what the BMC reports is read again before the machine is prepared, and after the last step.
    refreshes_at_start: bool = False
    refreshes_at_end: bool = False

    done_event: Callable[[TaskManager], str] = always_done
    # Returns what is known of why a wait timed out, to be appended to the error.
    timeout_details: Callable[[TaskManager], str] = no_details
    # Ends the operation as an interface that looks has found its end, for a reason if it failed; None: the flow does.
    end_look: Callable[[TaskManager, Reason | None], None] | None = None


OPERATIONS: dict[Flow, Operation] = {}

# The kind of a wait for nothing but a time to pass.
PAUSE: Final = "pause"


def bind(operation: Operation) -> Operation:
    """Make this the operation of its flow."""
    OPERATIONS[operation.flow] = operation
    return operation


def waiting_or_held(task: TaskManager) -> Operation | None:
    """Return the operation in which the node waits or is held, or None."""
    flow = in_state(task.node.provision_state)
    return None if flow is None or task.node.provision_state == flow.working else OPERATIONS[flow]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an operation failed.

    ``stage`` is what was done outside of the steps; ``is_fault``: the machine is to blame; ``is_prepared``: there may
    be something to clean up.
    """

    reason: Reason
    step: Step | None = None
    stage: str | None = None
    is_fault: bool = True
    is_prepared: bool = True

    @classmethod
    def of_current_step(cls, task: TaskManager, flow: Flow, reason: Reason) -> "Failure":
        """Return the failure of the step that the node is in."""
        return cls(reason, step=StepCursor.of(task.node, flow).current)

    def text(self, flow: Flow, uuid: str) -> str:
        """Return the sentence for last_error, maintenance_reason and node history."""
        return flow.failure_text(uuid, self.reason, None if self.step is None else self.step.name, self.stage)


def begin(task: TaskManager, operation: Operation) -> None:
    """Start a flow: make the plan, prepare the machine, then run the steps, or wait until it is prepared."""
    if operation.flow.is_one_step:
        _run_built_in(task, operation, operation.act)
        return
    if _plan(task, operation, complete=False) is None:
        return
    if operation.refreshes_at_start:
        bmc_refresh.refresh(task, f"the start of {operation.flow.topic}")
    _prepare(task, operation)


def _prepare(task: TaskManager, operation: Operation) -> None:
    answer = attempt_repeatable(task, operation.prepare)
    if isinstance(answer, Again):
        _let_wait(task, operation)
    elif isinstance(answer, Failed):
        fail(task, operation, Failure(answer.reason, stage="preparing the machine"))
    elif answer is not None and answer == operation.flow.waiting:
        task.finish("wait")
    else:
        resume(task, operation)


def resume(task: TaskManager, operation: Operation, *data: Any) -> None:
    """Resume a flow where the node stands; a built-in step gets the data that it waited for."""
    flow = operation.flow
    if flow.is_one_step:
        _run_built_in(task, operation, operation.resume, *data)
        return
    cursor = StepCursor.of(task.node, flow)
    if cursor.is_planned:
        ended = None if cursor.repeats else cursor.current
        replace(cursor, repeats=False).put(task.node)
        _run(task, operation, cursor.plan, cursor.next_index, ended, is_again=cursor.repeats)
        return
    plan = _plan(task, operation, complete=True)
    if plan is not None:
        StepCursor.of(task.node, flow).planned(plan).put(task.node)
        LOG.info("Node %s: %s runs %s", task.node.uuid, flow.topic, ", ".join(step.name for step in plan) or "no steps")
        _run(task, operation, plan, 0, None)


def do_again(task: TaskManager, operation: Operation) -> None:
    """Do the work again that ended for a setting of the machine's firmware: the preparation, or the present step."""
    node_waits.end(task.node, awaited_setting.KIND)
    if operation.flow.is_one_step:
        _run_built_in(task, operation, operation.act)
    elif StepCursor.of(task.node, operation.flow).is_planned:
        resume(task, operation)
    else:
        _prepare(task, operation)


def resume_with_agent(task: TaskManager, operation: Operation) -> None:
    """Resume behind a step that has started an agent; the agent's steps are merged into the plan."""
    plan = _plan(task, operation, complete=True)
    if plan is not None:
        StepCursor.of(task.node, operation.flow).merged(plan).put(task.node)
        resume(task, operation)


def resume_with_other_agent(task: TaskManager, operation: Operation) -> None:
    """Resume with an agent whose steps differ from those the plan was made of.

    A plan that the flow chose itself is made again and runs from the first step. A user's steps are not run twice: the
    step that the agent has refused is sent again (doc/contract/agent.md#other-hardware-managers).
    """
    cursor = StepCursor.of(task.node, operation.flow)
    if cursor.asked is None and operation.flow.starts_over:
        cursor.started_over().put(task.node)
        resume(task, operation)
    else:
        replace(cursor, repeats=True).put(task.node)
        resume_with_agent(task, operation)


def _plan(task: TaskManager, operation: Operation, *, complete: bool) -> list[Step] | None:
    """Return the plan, or None if making it failed the flow; a machine that was not touched yet is not to blame."""
    flow = operation.flow

    def make_plan(task: TaskManager) -> list[Step]:
        if complete and flow.ramdisk and not StepCursor.of(task.node, flow).has_no_ramdisk:
            task.deploy.refresh_steps(task, flow.name)
        return operation.plan(task, complete)

    plan = attempt(task, make_plan)
    if not isinstance(plan, Failed):
        return list(plan)
    is_fault = flow.blames_refusals or (complete and not plan.refused)
    fail(task, operation, Failure(plan.reason, is_fault=is_fault, is_prepared=complete))
    return None


def _run_built_in(task: TaskManager, operation: Operation, act: Callable[..., object], *data: Any) -> None:
    """Run the built-in step until it waits, fails or is done."""
    # The rest of a step is not repeated: its beginning would be.
    perform = attempt_repeatable if act is operation.act else attempt
    match driver_steps.judge(operation.flow, perform(task, act, *data)):
        case Failed(reason):
            fail(task, operation, Failure(reason))
        case Wait() | Again():
            _let_wait(task, operation)
        case _:
            _end(task, operation, None)


def _let_wait(task: TaskManager, operation: Operation) -> None:
    """Release a node that waits; without a waiting state it stays as it is, and what it awaits is remembered.

    What its driver says it waits for becomes a line of node history.
    """

    def write(_connection: object) -> None:
        if awaited := node_waits.text_of(task.node):
            driver_steps.note(task, operation.flow, f"waiting for {awaited}")
        if operation.flow.waiting:
            task.finish("wait")
        else:
            task.save_and_release()

    task.store.run(write, repeatable=True)


def _run(
    task: TaskManager,
    operation: Operation,
    plan: Sequence[Step],
    start: int,
    ended: Step | None,
    *,
    is_again: bool = False,
) -> None:
    """Run the plan from index ``start``; ``ended`` is the step before it, whose end is not recorded yet.

    ``is_again``: the first of them has begun already.
    """
    failures: list[Failure] = []
    for index, step in enumerate(plan[start:], start):
        _enter(task, operation.flow, index, step, ended, is_again=is_again and index == start)
        ended = step
        perform = child_nodes.perform if step.is_for_children else driver_steps.perform
        match perform(task, operation.flow, step):
            case Done():
                continue
            case Wait():
                return _let_wait(task, operation)
            case Again():
                replace(StepCursor.of(task.node, operation.flow), repeats=True).put(task.node)
                return _let_wait(task, operation)
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


def _enter(task: TaskManager, flow: Flow, index: int, step: Step, ended: Step | None, *, is_again: bool) -> None:
    """Store the step that is about to run, together with the end of the one before (S50).

    A step that runs again, as it waits for an agent or a restart, is recorded as one.
    """
    cursor, now = StepCursor.of(task.node, flow), task.node.now()
    seconds = cursor.seconds(now)
    cursor.entered(index, step, now).put(task.node)

    def write(_connection: object) -> None:
        driver_steps.record(task, flow, ended=ended, begins=None if is_again else step, seconds=seconds)
        task.node.save()

    task.store.run(write, repeatable=True)


def _pause(task: TaskManager, operation: Operation, seconds: float) -> None:
    """Let the node wait for a time; the flow is resumed then, unless a user has aborted it meanwhile."""
    waits.begin(
        task,
        PAUSE,
        f"the end of a pause of {seconds:g} seconds",
        None,
        interface=None,
        seconds=seconds,
        follows=Follows.FLOW,
        first=seconds,
    )
    task.finish("wait")


def _end(task: TaskManager, operation: Operation, ended: Step | None) -> None:
    """End a flow whose steps are done."""
    flow = operation.flow
    # The end of a single step is not repeated: the step would be.
    perform = attempt_repeatable if flow.has_steps and flow.waiting else attempt
    answer = perform(task, operation.tear_down)
    if isinstance(answer, Again):
        _let_wait(task, operation)
        return
    if isinstance(answer, Failed):
        fail(task, operation, Failure(answer.reason, stage="clearing up after the last step"))
        return
    seconds = StepCursor.of(task.node, flow).seconds(task.node.now())
    if operation.refreshes_at_end:
        bmc_refresh.refresh(task, f"the end of {flow.topic}")
    StepCursor(flow=flow).put(task.node)

    def write(_connection: object) -> None:
        driver_steps.record(task, flow, ended=ended, seconds=seconds)
        task.finish(operation.done_event(task), last_error=answer.text if isinstance(answer, Remark) else None)

    task.store.run(write, repeatable=True)


def fail(task: TaskManager, operation: Operation, *failures: Failure, event: str = "fail") -> None:
    """Fail a flow: clean up, record why, and move the node by ``event``.

    The clean-up may save the node. If this process ends before the move, the flow stays as it is, and fails again.
    """
    flow, node = operation.flow, task.node
    reason = text = " ".join(failure.text(flow, node.uuid) for failure in failures)
    is_fault = any(failure.is_fault for failure in failures)
    if is_fault:
        transitions.begin_failure(node)
    if any(failure.is_prepared for failure in failures):
        text += clean_up(task, operation)
    if is_fault:
        transitions.set_fault(node, reason)
    StepCursor.of(node, flow).ended().put(node)
    task.finish(event, last_error=text)


def clean_up(task: TaskManager, operation: Operation) -> str:
    """Undo what a failed flow has prepared; return what to append to the error, if that fails too."""
    with waits.waiting(task, Waiter.NO_ONE):
        answer = attempt(task, operation.clean_up)
    return f" Clean-up failed as well: {in_words(answer.reason)}" if isinstance(answer, Failed) else ""
