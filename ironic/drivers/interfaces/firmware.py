"""Versions of the firmware in a machine's components."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from ironic.drivers.interfaces.base import BaseInterface
from ironic.drivers.task import Task


class FirmwareInterface(BaseInterface):
    """Firmware updates. Decorate what changes versions with ``cache_firmware_components``."""

    interface_type: ClassVar[str] = "firmware"

    @abstractmethod
    def update(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        """Update components, each ``component``, ``url`` and optionally ``wait``; the wait state or None."""

    @abstractmethod
    def cache_firmware_components(self, task: Task) -> None:
        """Read the versions and store them with the node, in a ``task.writing()`` block."""
