"""Preparing what a machine will boot: the agent's ramdisk or the deployed system."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ironic.drivers.interfaces.base import BaseInterface, unsupported
from ironic.drivers.task import Task


@dataclass(frozen=True, slots=True)
class ImagePublisherSettings:
    """How a boot interface wants its images to be offered to machines."""

    swift_enabled: bool = False
    container: str | None = None
    timeout: int | None = None
    image_subdir: str | None = None
    file_permission: int = 0o644
    kernel_params: str = ""


class BootInterface(BaseInterface):
    """What a machine boots. Every method may be repeated; clean-up of what was never prepared does nothing."""

    interface_type: ClassVar[str] = "boot"

    # What deploy interfaces ask for by name, such as "pxe_boot" or "ramdisk_boot".
    capabilities: ClassVar[list[str]] = []

    @property
    def image_publisher_settings(self) -> ImagePublisherSettings | None:
        """How images are published; None when this interface publishes none."""
        return None

    @abstractmethod
    def prepare_ramdisk(self, task: Task, ramdisk_params: Mapping[str, object]) -> None:
        """Make the next boot start the agent with these kernel parameters."""

    @abstractmethod
    def clean_up_ramdisk(self, task: Task) -> None:
        """Undo :meth:`prepare_ramdisk`."""

    @abstractmethod
    def prepare_instance(self, task: Task) -> None:
        """Make the machine boot what was deployed."""

    @abstractmethod
    def clean_up_instance(self, task: Task) -> None:
        """Undo :meth:`prepare_instance`."""

    def validate_rescue(self, task: Task) -> None:
        """Raise when the node lacks what booting a rescue ramdisk needs."""
        raise unsupported(task, "validate_rescue")

    def validate_inspection(self, task: Task) -> None:
        """Raise when the node lacks what booting for inspection needs.

        UnsupportedDriverExtension says that this interface never can: somebody else must boot the machine.
        """
        raise unsupported(task, "validate_inspection")
