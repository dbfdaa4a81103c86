"""Settings of a machine's firmware."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from ironic.drivers.interfaces.base import BaseInterface
from ironic.drivers.task import Task


class BIOSInterface(BaseInterface):
    """BIOS settings. Decorate what changes them with ``cache_bios_settings``."""

    interface_type: ClassVar[str] = "bios"

    @abstractmethod
    def apply_configuration(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        """Apply settings, each ``name`` and ``value``; the wait state of the flow or None. May be repeated."""

    @abstractmethod
    def factory_reset(self, task: Task) -> str | None:
        """Bring all settings back to what the maker chose; the wait state or None. May be repeated."""

    @abstractmethod
    def cache_bios_settings(self, task: Task) -> None:
        """Read the settings and store them with the node, in a ``task.writing()`` block."""
