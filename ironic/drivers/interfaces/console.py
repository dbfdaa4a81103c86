"""Access to a machine's console."""

from abc import abstractmethod
from typing import ClassVar

from ironic.core.machine_documents import Console
from ironic.drivers.interfaces.base import BaseInterface
from ironic.drivers.task import Task


class ConsoleInterface(BaseInterface):
    """The console of a machine. Starting what runs and stopping what doesn't are no errors."""

    interface_type: ClassVar[str] = "console"

    @abstractmethod
    def start_console(self, task: Task) -> None:
        """Make the console reachable."""

    @abstractmethod
    def stop_console(self, task: Task) -> None:
        """Close the console."""

    @abstractmethod
    def get_console(self, task: Task) -> Console:
        """Return how to reach the console: ``type`` and ``url``."""
