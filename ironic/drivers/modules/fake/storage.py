"""Remote volumes of a fake machine: attached as soon as asked for."""

from ironic.drivers.interfaces import StorageInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.task import Task


class FakeStorage(StorageInterface):
    """Attaches anything."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Task) -> None:
        pass

    def attach_volumes(self, task: Task) -> None:
        delay("storage")

    def detach_volumes(self, task: Task) -> None:
        delay("storage")

    def should_write_image(self, task: Task) -> bool:
        return True
