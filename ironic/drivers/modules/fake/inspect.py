"""Inspecting a fake machine: there is nothing to find out."""

from ironic.core import states
from ironic.drivers.interfaces import InspectInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.task import Task


class FakeInspect(Undemanding, InspectInterface):
    """Is done at once."""

    def inspect_hardware(self, task: Task) -> str:
        delay("inspect")
        return states.MANAGEABLE
