"""Volumes outside the machine that it uses as disks."""

from abc import abstractmethod
from typing import ClassVar

from ironic.drivers.interfaces.base import BaseInterface
from ironic.drivers.task import Task


class StorageInterface(BaseInterface):
    """Remote volumes. Both actions may be repeated."""

    interface_type: ClassVar[str] = "storage"

    @abstractmethod
    def attach_volumes(self, task: Task) -> None:
        """Tell the storage that the machine may use its volumes."""

    @abstractmethod
    def detach_volumes(self, task: Task) -> None:
        """Tell the storage that the machine no longer does."""

    @abstractmethod
    def should_write_image(self, task: Task) -> bool:
        """Tell whether a deployment has to write an image; not when the machine boots from a volume."""
