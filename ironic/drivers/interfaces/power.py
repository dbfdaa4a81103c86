"""Turning a machine on and off."""

from abc import abstractmethod
from typing import ClassVar

from ironic.core import states
from ironic.drivers.interfaces.base import BaseInterface
from ironic.drivers.task import Task


class PowerInterface(BaseInterface):
    """The power of a machine. Both actions block until the machine has got there, and may be repeated safely."""

    interface_type: ClassVar[str] = "power"

    @abstractmethod
    def get_power_state(self, task: Task) -> str | None:
        """Return "power on", "power off" or "error"; None when the machine doesn't tell."""

    @abstractmethod
    def set_power_state(self, task: Task, power_state: str, timeout: int | None = None) -> None:
        """Bring the machine into a supported power state within ``timeout`` seconds (None: as configured).

        Raises PowerStateFailure when it does not get there, InvalidParameterValue for a state it doesn't know.
        Whether the node may be powered off at all (``disable_power_off``) is asked before.
        """

    @abstractmethod
    def reboot(self, task: Task, timeout: int | None = None) -> None:
        """Restart the machine the hard way, or start it; it is on afterwards. Raises PowerStateFailure."""

    def get_supported_power_states(self, task: Task) -> list[str]:
        """Return what :meth:`set_power_state` takes."""
        return [states.POWER_ON, states.POWER_OFF, states.REBOOT]

    def supports_power_sync(self, task: Task) -> bool:
        """Tell whether recorded and real power state may be compared from time to time."""
        return True
