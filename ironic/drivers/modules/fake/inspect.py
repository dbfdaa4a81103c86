"""Inspecting a fake machine: there is nothing to find out."""

from ironic.core import states
from ironic.drivers.interfaces import InspectInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.task import Task


class FakeInspect(InspectInterface):
    """Is done at once."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Task) -> None:
        pass

    def inspect_hardware(self, task: Task) -> str:
        delay("inspect")
        return states.MANAGEABLE
