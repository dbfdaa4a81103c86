"""The base class for storage interfaces, which attach the remote volumes that a machine uses as disks."""

from abc import abstractmethod
from typing import ClassVar

from ironic.drivers.contract.contract_types import Task
from ironic.drivers.contract.interfaces.base_interface import BaseInterface


class StorageInterface(BaseInterface[Task]):
    """Remote volumes of a machine. Every method may be repeated."""

    interface_type: ClassVar[str] = "storage"

    @abstractmethod
    def attach_volumes(self, task: Task) -> None:
        """Attach the node's volumes to the machine in the storage service; a volume that is attached stays so.

        Called when a deployment begins and before an active node is powered on.
        """

    @abstractmethod
    def detach_volumes(self, task: Task) -> None:
        """Detach the node's volumes in the storage service.

        Called at tear-down, after a failed attachment or deployment, and after an active node is powered off.
        """

    @abstractmethod
    def should_write_image(self, task: Task) -> bool:
        """Return whether a deployment writes an image: False when the machine boots from a volume."""
