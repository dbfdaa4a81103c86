"""The step engine: one for all flows.

It prepares the machine, has the plan made, and runs step by step until one waits, one fails or none is left. A step
is stored on the node before it runs; the end of one and the beginning of the next are one write. The functions here
run on a worker with the node locked, and the lock goes back with their last write: nothing is held while a flow
waits. What a flow prepares, plans and clears up is its own business; how a step is performed stands in performing.py.
"""

import logging
from collections.abc import Sequence

from ironic.conductor import faults
from ironic.conductor.flows import children
from ironic.conductor.flows.flow import Failure, Flow
from ironic.conductor.flows.outcomes import Done, Failed, Hold, Outcome, Pause, Wait, attempt
from ironic.conductor.flows.performing import perform
from ironic.conductor.flows.progress import Progress
from ironic.conductor.flows.step_history import write_down
from ironic.conductor.task import Task
from ironic.core.steps import Step
from ironic.drivers import waiting

LOG = logging.getLogger(__name__)


def begin(task: Task, flow: Flow) -> None:
    """Start a flow: refuse what can't be, prepare the machine, then run, or wait until it is prepared."""
    if _plan(task, flow, complete=False) is None:
        return
    answer = attempt(task, flow.prepare)
    if isinstance(answer, Failed):
        fail(task, flow, Failure(f"preparing the machine failed: {answer.reason}"))
    elif answer is not None and answer == flow.waiting:
        task.finish("wait")
    else:
        go_on(task, flow)


def go_on(task: Task, flow: Flow) -> None:
    """Go on from where the node stands; what was waited for has happened."""
    progress = Progress(task.node, flow)
    if progress.is_planned:
        waited_in, start = progress.index, progress.next_index()
        ended = progress.current if start != waited_in else None
        _run(task, flow, progress.plan, start, ended)
        return
    plan = _plan(task, flow, complete=True)
    if plan is not None:
        progress.adopt(plan)
        LOG.info("Node %s: %s runs %s", task.node.uuid, flow.topic, ", ".join(step.name for step in plan) or "no steps")
        _run(task, flow, plan, 0, None)


def go_on_with_agent(task: Task, flow: Flow) -> None:
    """Go on behind a step that has brought an agent up, with the agent's steps in their places."""
    plan = _plan(task, flow, complete=True)
    if plan is not None:
        Progress(task.node, flow).merge(plan)
        go_on(task, flow)


def go_on_with_other_agent(task: Task, flow: Flow) -> None:
    """Go on with an agent that is not the one the steps were planned with.

    What the flow chose itself is chosen anew, from the first step. What a user asked for is not run twice: the step
    that the agent has refused is given to it again (doc/contract/agent.md#other-hardware-managers).
    """
    progress = Progress(task.node, flow)
    if progress.asked is None and flow.starts_over:
        progress.start_over()
        go_on(task, flow)
    else:
        progress.repeat()
        go_on_with_agent(task, flow)


def _plan(task: Task, flow: Flow, *, complete: bool) -> list[Step] | None:
    """Have the plan made; None when that failed the flow, which is no fault of a machine that was not touched yet."""
    plan = attempt(task, _informed_plan, flow, complete)
    if not isinstance(plan, Failed):
        return list(plan)
    is_fault = flow.blames_refusals or (complete and not plan.refused)
    fail(task, flow, Failure(plan.reason, is_fault=is_fault, is_prepared=complete))
    return None


def _informed_plan(task: Task, flow: Flow, complete: bool) -> list[Step]:
    """Have the plan made with the steps of the agent, if one is there."""
    if complete and flow.waiting is not None and Progress(task.node, flow).uses_ramdisk:
        task.deploy.learn_steps(task, flow.name)
    return flow.plan(task, complete)


def _run(task: Task, flow: Flow, plan: Sequence[Step], start: int, ended: Step | None) -> None:
    """Run the plan from ``start``; ``ended`` is the step before it, whose end is not written down yet."""
    failures: list[Failure] = []
    for index, step in enumerate(plan[start:], start):
        _enter(task, flow, index, step, ended)
        ended = step
        match _perform(task, flow, step):
            case Done():
                continue
            case Wait():
                return task.finish("wait")
            case Pause(seconds):
                return _pause(task, flow, seconds)
            case Hold():
                return task.finish("hold")
            case Failed(reason):
                ended = None
                failures.append(Failure(reason, step))
                if not flow.runs_all:
                    break
    return fail(task, flow, *failures) if failures else _end(task, flow, ended)


def _perform(task: Task, flow: Flow, step: Step) -> Outcome:
    return children.perform(task, flow, step) if step.is_for_children else perform(task, flow, step)


def _pause(task: Task, flow: Flow, seconds: float) -> None:
    """Wait without holding the node, then go on, unless somebody has aborted the flow meanwhile.

    Should this process end first, the next heartbeat after that time goes on, or whoever looks for overdue waits.
    """
    progress = Progress(task.node, flow)
    progress.pause(seconds)
    task.finish("wait")
    if not waiting.pause(seconds):
        return
    with task.beside(task.node.uuid, f"going on with {flow.topic} after a wait") as again:
        is_same = again.node.provision_state == flow.waiting and Progress(again.node, flow).began == progress.began
        if is_same and not again.node.maintenance:
            again.process_event("resume", callback=go_on, call_args=(again, flow))


def _enter(task: Task, flow: Flow, index: int, step: Step, ended: Step | None) -> None:
    """Store the step that is about to run, together with the end of the one before (S50)."""
    progress = Progress(task.node, flow)
    seconds = progress.seconds
    progress.enter(index, step)
    task.store.run(lambda _: _write_entry(task, flow, step, ended, seconds), repeatable=True)


def _write_entry(task: Task, flow: Flow, step: Step, ended: Step | None, seconds: int | None) -> None:
    write_down(task, flow, ended=ended, begins=step, seconds=seconds)
    task.node.save()


def _end(task: Task, flow: Flow, ended: Step | None) -> None:
    """End a flow well."""
    answer = attempt(task, flow.tear_down)
    if isinstance(answer, Failed):
        fail(task, flow, Failure(f"clearing up after the last step failed: {answer.reason}"))
        return
    progress = Progress(task.node, flow)
    seconds = progress.seconds
    progress.forget()
    task.store.run(lambda _: _write_end(task, flow, ended, seconds), repeatable=True)


def _write_end(task: Task, flow: Flow, ended: Step | None, seconds: int | None) -> None:
    write_down(task, flow, ended=ended, seconds=seconds)
    task.finish(flow.done_event(task))


def fail(task: Task, flow: Flow, *failures: Failure) -> None:
    """End a flow badly: say why, clear up, and hand the node to people."""
    text = " ".join(failure.text(flow, task.node.uuid) for failure in failures)
    if any(failure.is_fault for failure in failures):
        faults.mark(task.node, text)
    Progress(task.node, flow).leave()
    if any(failure.is_prepared for failure in failures):
        text += clear_up(task, flow)
    task.finish("fail", last_error=text)


def clear_up(task: Task, flow: Flow) -> str:
    """Undo what a failed flow has prepared; return what that adds to the error, should it fail too."""
    answer = attempt(task, flow.give_up)
    return f" Clearing up failed as well: {answer.reason}" if isinstance(answer, Failed) else ""
