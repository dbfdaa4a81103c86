"""No remote volumes: a machine boots from its own disks."""

from ironic.drivers.interfaces import StorageInterface
from ironic.drivers.task import Task


class NoopStorage(StorageInterface):
    """Has nothing to attach; the image is always written."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Task) -> None:
        pass

    def attach_volumes(self, task: Task) -> None:
        pass

    def detach_volumes(self, task: Task) -> None:
        pass

    def should_write_image(self, task: Task) -> bool:
        return True
