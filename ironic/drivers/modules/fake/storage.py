"""Remote volumes of a fake machine: attached as soon as asked for."""

from ironic.drivers.interfaces import StorageInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.task import Task


class FakeStorage(Undemanding, StorageInterface):
    """Attaches anything."""

    def attach_volumes(self, task: Task) -> None:
        delay("storage")

    def detach_volumes(self, task: Task) -> None:
        delay("storage")

    def should_write_image(self, task: Task) -> bool:
        return True
