"""Storage interface `noop`: no remote volumes, machines boot from their own disks."""

from ironic.drivers.contract.interfaces import StorageInterface
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.noop import NoProperties


class NoopStorage(NoProperties, StorageInterface):
    """Attaches nothing; the image is always written."""

    def attach_volumes(self, task: Task) -> None:
        pass

    def detach_volumes(self, task: Task) -> None:
        pass

    def should_write_image(self, task: Task) -> bool:
        return True
