"""Getting a machine ready for a list of steps and giving it back: the same for cleaning and for servicing.

The deploy interface does both, by booting its ramdisk if it needs one; a list that can do without leaves the machine as
it stands.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.flow import Flow
from ironic.core.step_cursor import StepCursor

if TYPE_CHECKING:
    from ironic.db import NodeRecord


@dataclass(frozen=True, slots=True)
class RamdiskWork:
    """What is done to the machine around the steps of one flow."""

    flow: Flow
    # Option of [conductor] that has a machine powered off after a failure.
    power_off_option: str
    forget_agent: "Callable[[NodeRecord], None]"

    def prepare(self, task: Task) -> object:
        """Prepare the machine; the flow's wait state means that it will be ready later."""
        return self._ask_deploy_interface(task, "prepare")

    def tear_down(self, task: Task) -> None:
        """Give the machine back after the last step."""
        try:
            self._ask_deploy_interface(task, "tear_down")
        finally:
            self.forget_agent(task.node)

    def give_up(self, task: Task) -> None:
        """Clear up after a failure; the machine stays on unless the operator wants it otherwise (S55)."""
        self.tear_down(task)
        if CONF.conductor[self.power_off_option] and not task.node.disable_power_off:
            task.change_power(states.POWER_OFF)

    def _ask_deploy_interface(self, task: Task, act: str) -> object:
        if StepCursor.of(task.node, self.flow).has_no_ramdisk:
            return None
        return getattr(task.deploy, f"{act}_{self.flow.prepared_as}")(task)
