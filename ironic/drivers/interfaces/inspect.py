"""Finding out what a machine is made of."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ironic.drivers.interfaces.base import BaseInterface, unsupported
from ironic.drivers.task import Task


class InspectInterface(BaseInterface):
    """Inspection, through the BMC or by an agent on the machine. All methods run with the lock held."""

    interface_type: ClassVar[str] = "inspect"

    # What an inspection is expected to find out at least.
    ESSENTIAL_PROPERTIES: ClassVar[list[str]] = ["cpu_arch", "local_gb", "memory_mb"]

    @abstractmethod
    def inspect_hardware(self, task: Task) -> str:
        """Begin; MANAGEABLE when finished, INSPECTWAIT when data arrive later. Raises HardwareInspectionFailure."""

    def abort(self, task: Task) -> None:
        """Give a waiting inspection up, quickly."""
        raise unsupported(task, "abort")

    def continue_inspection(
        self, task: Task, inventory: Mapping[str, object], plugin_data: dict[str, object] | None = None
    ) -> str | None:
        """Take the data that have arrived; the result is that of :meth:`inspect_hardware` (S81)."""
        raise unsupported(task, "continue_inspection")
