"""Steps on child nodes: lock each child in turn, perform the step, unlock it.

The children are taken one after another, each with its own lock and driver, and released when the step has ended on it:
however many there are, one worker is busy. The current child is stored on the parent before the step starts on it, and
the first failure ends the step with the child named. A step that a user could not request of the child itself, because
the child is in maintenance or at work, is refused here too (`core.node_rules`). Source:
doc/contract/steps.md#child-nodes.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ironic.conductor.flows import driver_steps
from ironic.conductor.flows.driver_steps import note, offered_steps
from ironic.conductor.flows.outcomes import Done, Failed, Outcome, Wait, attempt
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue, TakenOver
from ironic.core.errors.failure_texts import in_words
from ironic.core.flows.flow import Flow
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.flows.steps import Step, requested_plan

LOG = logging.getLogger(__name__)


def check_limits(task: TaskManager, asked: Iterable[Step]) -> None:
    """Refuse a list that names nodes which are no children of this one, or names children without using them."""
    for step in asked:
        node_rules.check_child_limit(step)
        if step.limit_child_node_execution:
            _children(task, step)


def check(task: TaskManager, flow: Flow, plan: Iterable[Step]) -> None:
    """Refuse a plan with a step that one of its child nodes does not offer, or offers with other arguments."""

    def check_on_child(task: TaskManager, step: Step, uuid: str) -> None:
        with task.acquire_other(uuid, _purpose(task, flow, step), shared=True) as child:
            _check_child(child, task, flow, step)

    faults = []
    for step in plan:
        for uuid in _children(task, step) if step.is_for_children else ():
            answer = attempt(task, check_on_child, step, uuid)
            if isinstance(answer, Failed):
                faults.append(f"Child node {uuid}: {in_words(answer.reason)}")
    if faults:
        raise InvalidParameterValue(err=" ".join(faults))


def perform(task: TaskManager, flow: Flow, step: Step) -> Outcome:
    """Perform a step on each of its child nodes; the first failure is the step's."""
    children = attempt(task, _children, step)
    if isinstance(children, Failed):
        return children
    for uuid in children:
        replace(StepCursor.of(task.node, flow), child=uuid).put(task.node)
        task.node.save()
        outcome = attempt(task, _perform_on_child, flow, step, uuid)
        if isinstance(outcome, Failed):
            return replace(outcome, reason=f"on child node {uuid}: {in_words(outcome.reason)}")
    LOG.info("Node %s: step %s is done on %d child nodes", task.node.uuid, step.name, len(children))
    return Done()


def _children(task: TaskManager, step: Step) -> Sequence[str]:
    """Return the UUIDs of the child nodes that a step is for; InvalidParameterValue if it names others."""
    rows = task.store.nodes.rows(("uuid", "owner", "lessee"), filters={"parent_node": task.node.uuid})
    return node_rules.children_of_step(step, task.node.uuid, rows)


def _purpose(task: TaskManager, flow: Flow, step: Step) -> str:
    return f"{flow.name} step {step.name} of its parent node {task.node.uuid}"


def _as_own(step: Step) -> Step:
    """Return the step as a user would request it of the child itself."""
    return replace(step, execute_on_child_nodes=None, limit_child_node_execution=None, judged_children=None)


def _check_child(child: TaskManager, parent: TaskManager, flow: Flow, step: Step) -> None:
    """Refuse a child whose state does not allow the step, and a step that its driver does not offer."""
    node_rules.check_child_step(child.node, parent.node, step)
    requested_plan(offered_steps(child, flow.name), [_as_own(step)])


def _perform_on_child(task: TaskManager, flow: Flow, step: Step, uuid: str) -> Outcome:
    """Lock the child, perform the step on it, and record it in the child's history."""
    what = _purpose(task, flow, step)
    try:
        with task.acquire_other(uuid, what) as child:
            refusal = attempt(child, _check_child, task, flow, step)
            if isinstance(refusal, Failed):
                return refusal
            note(child, flow, f"{what} begins")
            outcome = _without_wait(driver_steps.perform(child, flow, _as_own(step), is_repeatable=False))
            child.node.save()
            if isinstance(outcome, Failed):
                note(child, flow, f"{what} failed: {in_words(outcome.reason)}", "ERROR")
            else:
                note(child, flow, f"{what} ended")
            return outcome
    except TakenOver as error:
        # The lock of the child was lost, not that of the node whose flow this is.
        return Failed(f"the node was taken over by another conductor meanwhile: {error}")


def _without_wait(outcome: Outcome) -> Outcome:
    """Refuse a step that continues elsewhere, whose end would not be noticed, unless the operator permits it."""
    if not isinstance(outcome, Wait):
        return outcome
    if CONF.conductor.permit_child_node_step_async_result:
        return Done()
    return Failed(
        "the step continues in the background, which a step on child nodes may not do unless "
        "[conductor]permit_child_node_step_async_result is set"
    )
