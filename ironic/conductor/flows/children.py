"""Steps on child nodes: what a list has done to the machines that belong to a node, the cards in a server, say.

The children are taken one after the other, each with its own lock and driver, and let go when the step has ended on it:
however many there are, one worker is busy. The child at work is stored on the parent before it begins, and the first
failure ends the step with the child named. A child has a life of its own: what could not be asked of it directly, for
it is in maintenance or in the middle of something, is not done behind its back. Source:
doc/contract/steps.md#child-nodes.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ironic.conductor.flows.catalogue import offered_steps
from ironic.conductor.flows.outcomes import Done, Failed, Outcome, Wait, attempt
from ironic.conductor.flows.performing import perform as perform_here
from ironic.conductor.flows.step_history import note
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import InvalidParameterValue, InvalidStateRequested, NodeInMaintenance, TakenOver
from ironic.core.flow import Flow
from ironic.core.step_cursor import StepCursor
from ironic.core.steps import Step, mark_of_child, requested_plan

LOG = logging.getLogger(__name__)

_OCCUPIED: Final = states.TRANSIENT | states.HELD

# So many of the nodes that are wrong in a list are named.
_MOST_NAMED: Final = 5

# Who asked for a step has no right to what has been lent to others since.
_CHANGED_HANDS: Final = "got another owner or lessee, or another parent node, since it was asked for. Ask again."


def check_limits(task: Task, asked: Iterable[Step]) -> None:
    """Refuse a list that names nodes which are no children of this one, or names children without using them."""
    for step in asked:
        if step.has_empty_limit:
            raise InvalidParameterValue(
                err=f"Step {step.name} has a limit_child_node_execution that means nothing: it goes with "
                "execute_on_child_nodes and names at least one child node."
            )
        if step.limit_child_node_execution:
            _chosen(task, step)


def check(task: Task, flow: Flow, plan: Iterable[Step]) -> None:
    """Refuse a plan with a step that a child it is for doesn't have, or takes with other arguments."""
    faults = [fault for step in plan if step.is_for_children for fault in _faults(task, flow, step)]
    if faults:
        raise InvalidParameterValue(err=" ".join(faults))


def perform(task: Task, flow: Flow, step: Step) -> Outcome:
    """Perform a step on every child that it is for; the first failure is the step's."""
    children = attempt(task, _chosen, step)
    if isinstance(children, Failed):
        return children
    for uuid in children:
        replace(StepCursor.of(task.node, flow), child=uuid).put(task.node)
        task.node.save()
        outcome = attempt(task, _on_child, flow, step, uuid)
        if isinstance(outcome, Failed):
            return replace(outcome, reason=f"on child node {uuid}: {outcome.reason}")
    LOG.info("Node %s: step %s is done on %d child nodes", task.node.uuid, step.name, len(children))
    return Done()


def _chosen(task: Task, step: Step) -> Sequence[str]:
    """Return the children that a step is for, in the order of their row or as the user named them."""
    rows = task.store.nodes.rows(("uuid", "owner", "lessee"), filters={"parent_node": task.node.uuid})
    mine = [row[0] for row in rows]
    wanted = step.limit_child_node_execution
    if step.judged_children is not None:
        judged = [row[0] for row in rows if mark_of_child(*row) in step.judged_children]
        if len(judged) < len(step.judged_children):
            raise InvalidParameterValue(err=f"Child nodes of step {step.name} {_CHANGED_HANDS}")
        wanted = judged if wanted is None else wanted
    if wanted is None:
        return mine
    wanted = [uuid.lower() for uuid in wanted]
    if foreign := sorted(set(wanted) - set(mine)):
        named = ", ".join(foreign[:_MOST_NAMED])
        raise InvalidParameterValue(
            err=f"Step {step.name} is for {len(foreign)} nodes that are no children of node {task.node.uuid}: {named}."
        )
    return list(dict.fromkeys(wanted))


def _own(step: Step) -> Step:
    """Return the step as the child itself would be asked for it."""
    return replace(step, execute_on_child_nodes=None, limit_child_node_execution=None, judged_children=None)


def _faults(task: Task, flow: Flow, step: Step) -> list[str]:
    return [f"Child node {uuid}: {fault}" for uuid in _chosen(task, step) if (fault := _fault(task, flow, step, uuid))]


def _fault(task: Task, flow: Flow, step: Step, uuid: str) -> str | None:
    answer = attempt(task, _judge_child, flow, step, uuid)
    return answer.reason if isinstance(answer, Failed) else None


def _judge_child(task: Task, flow: Flow, step: Step, uuid: str) -> None:
    with task.beside(uuid, _purpose(task, flow, step), shared=True) as child:
        _judge(child, task, flow, step)


def _judge(child: Task, parent: Task, flow: Flow, step: Step) -> None:
    """Refuse a step that the child's driver doesn't have, and a child that must be left alone."""
    node = child.node
    if node.parent_node != parent.node.uuid:
        raise InvalidParameterValue(err=f"Node {node.uuid} is no child of node {parent.node.uuid} any more.")
    if node.owner != parent.node.owner:
        raise InvalidParameterValue(err=f"Node {node.uuid} belongs to another owner than its parent node.")
    mark = mark_of_child(node.uuid, node.owner, node.lessee)
    if step.judged_children is not None and mark not in step.judged_children:
        raise InvalidParameterValue(err=f"Node {node.uuid} of step {step.name} {_CHANGED_HANDS}")
    if node.provision_state in _OCCUPIED:
        raise InvalidStateRequested(action=f"step {step.name}", node=node.uuid, state=node.provision_state)
    if node.maintenance and not step.is_reserved:
        raise NodeInMaintenance(op=f"step {step.name}", node=node.uuid)
    requested_plan(offered_steps(child, flow.name), [_own(step)])


def _purpose(task: Task, flow: Flow, step: Step) -> str:
    return f"{flow.name} step {step.name} of its parent node {task.node.uuid}"


def _on_child(task: Task, flow: Flow, step: Step, uuid: str) -> Outcome:
    try:
        with task.beside(uuid, _purpose(task, flow, step)) as child:
            return _held(task, child, flow, step)
    except TakenOver as error:
        # It is the child that was lost, not the node whose list this is.
        return Failed(f"the node was taken away in the middle of it: {error}")


def _held(task: Task, child: Task, flow: Flow, step: Step) -> Outcome:
    """Perform the step on a child that is locked for it, and write down in its history what becomes of it."""
    refusal = attempt(child, _judge, task, flow, step)
    if isinstance(refusal, Failed):
        return refusal
    what = _purpose(task, flow, step)
    note(child, flow, f"{what} begins")
    outcome = _without_waiting(perform_here(child, flow, _own(step)))
    child.node.save()
    if isinstance(outcome, Failed):
        note(child, flow, f"{what} failed: {outcome.reason}", "ERROR")
    else:
        note(child, flow, f"{what} ended")
    return outcome


def _without_waiting(outcome: Outcome) -> Outcome:
    """Nobody would notice the end of what goes on elsewhere: an operator must have said that nobody needs to."""
    if not isinstance(outcome, Wait):
        return outcome
    if CONF.conductor.permit_child_node_step_async_result:
        return Done()
    return Failed(
        "the step goes on in the background, which a step on child nodes must not, unless "
        "[conductor]permit_child_node_step_async_result is set"
    )
