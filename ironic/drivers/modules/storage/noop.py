"""No remote volumes: a machine boots from its own disks."""

from ironic.drivers.interfaces import StorageInterface
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.task import Task


class NoopStorage(Undemanding, StorageInterface):
    """Has nothing to attach; the image is always written."""

    def attach_volumes(self, task: Task) -> None:
        pass

    def detach_volumes(self, task: Task) -> None:
        pass

    def should_write_image(self, task: Task) -> bool:
        return True
