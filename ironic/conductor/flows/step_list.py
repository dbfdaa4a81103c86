"""What cleaning and servicing share: accept a user's list of steps, boot the ramdisk for it, shut it down.

A list is stored when the verb comes and checked when the flow makes its plan, because the agent may have steps that are
unknown before it runs. What is certainly wrong is refused before the machine is started. The deploy interface prepares
the machine, by booting its ramdisk if one is needed; a list that needs none leaves the machine as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironic.conductor.flows import child_nodes
from ironic.conductor.flows.driver_steps import offered_steps
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core.flows import states
from ironic.core.flows.flow import Flow
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.flows.steps import Step, parse_all, plan_needs_ramdisk, requested_plan

if TYPE_CHECKING:
    from ironic.db import NodeRecord


def accept_steps(
    task: TaskManager, flow: Flow, documents: Sequence[Mapping[str, object]], *, disable_ramdisk: bool
) -> None:
    """Store a user's list; no ramdisk is booted when the user says so or when no step needs it."""
    asked = parse_all(documents)
    child_nodes.check_limits(task, asked)
    without = disable_ramdisk or not plan_needs_ramdisk(offered_steps(task, flow.name), asked)
    StepCursor.begun(flow, asked, has_no_ramdisk=without).put(task.node)


def plan_accepted(task: TaskManager, flow: Flow, complete: bool) -> list[Step]:
    """Return the list that will run, or raise InvalidParameterValue with all its faults.

    ``complete`` is false before the machine is prepared, when an agent's steps may not be known yet.
    """
    cursor = StepCursor.of(task.node, flow)
    without = cursor.has_no_ramdisk
    complete = complete or without
    offered = offered_steps(task, flow.name, with_agent=complete)
    planned = requested_plan(offered, cursor.asked or (), disable_ramdisk=without, complete=complete)
    child_nodes.check(task, flow, planned)
    return planned


@dataclass(frozen=True, slots=True)
class RamdiskWork:
    """Prepares the machine for the steps of one flow, and gives it back."""

    flow: Flow
    # Option of [conductor] that has a machine powered off after a failure.
    power_off_option: str
    forget_agent: "Callable[[NodeRecord], None]"

    def prepare(self, task: TaskManager) -> object:
        """Prepare the machine; returns the flow's waiting state when it will be ready later."""
        return self._call_deploy_interface(task, "prepare")

    def tear_down(self, task: TaskManager) -> None:
        """Give the machine back after the last step."""
        try:
            self._call_deploy_interface(task, "tear_down")
        finally:
            self.forget_agent(task.node)

    def clean_up(self, task: TaskManager) -> None:
        """Clean up after a failure; the machine stays on unless the option powers it off (S55)."""
        try:
            self.tear_down(task)
        finally:
            if CONF.conductor[self.power_off_option] and not task.node.disable_power_off:
                task.change_power(states.POWER_OFF)

    def _call_deploy_interface(self, task: TaskManager, method: str) -> object:
        if StepCursor.of(task.node, self.flow).has_no_ramdisk:
            return None
        return getattr(task.deploy, f"{method}_{self.flow.prepared_as}")(task)
