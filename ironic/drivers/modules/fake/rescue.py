"""Rescuing a fake machine."""

from ironic.core import states
from ironic.drivers.interfaces import RescueInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.task import Task


class FakeRescue(Undemanding, RescueInterface):
    """Is in rescue mode at once, and out of it."""

    def rescue(self, task: Task) -> str:
        delay("rescue")
        return states.RESCUE

    def unrescue(self, task: Task) -> str:
        delay("rescue")
        return states.ACTIVE
