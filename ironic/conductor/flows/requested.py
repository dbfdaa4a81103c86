"""Lists of steps that users hand in, for manual cleaning and for servicing.

A list is taken as it is when the verb comes and judged when the flow makes its plan, because the agent may have steps
that nobody knows of before it runs. What is certainly wrong is told earlier: the machine is not started for it.
"""

from collections.abc import Mapping, Sequence

from ironic.conductor.flows import children
from ironic.conductor.flows.catalogue import offered_steps
from ironic.conductor.task import Task
from ironic.core.flow import Flow
from ironic.core.step_cursor import StepCursor
from ironic.core.steps import Step, parse_all, plan_needs_ramdisk, requested_plan


def accept(task: Task, flow: Flow, documents: Sequence[Mapping[str, object]], *, disable_ramdisk: bool) -> None:
    """Remember a user's list; the ramdisk is left out when the user says so or when no step needs it."""
    asked = parse_all(documents)
    children.check_limits(task, asked)
    without = disable_ramdisk or not plan_needs_ramdisk(offered_steps(task, flow.name), asked)
    StepCursor.begun(flow, asked, has_no_ramdisk=without).put(task.node)


def plan(task: Task, flow: Flow, complete: bool) -> list[Step]:
    """Return the list that will run, or raise InvalidParameterValue with everything that is wrong with it.

    ``complete`` is false before the machine is prepared.
    """
    cursor = StepCursor.of(task.node, flow)
    without = cursor.has_no_ramdisk
    complete = complete or without
    offered = offered_steps(task, flow.name, with_agent=complete)
    planned = requested_plan(offered, cursor.asked or (), disable_ramdisk=without, complete=complete)
    children.check(task, flow, planned)
    return planned
