"""What a machine boots from, how its firmware behaves, what its sensors say."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from ironic.core.machine_documents import BootDevice, Lights
from ironic.drivers.interfaces.base import BaseInterface, unsupported
from ironic.drivers.task import Task


class ManagementInterface(BaseInterface):
    """Settings and observations of a machine; everything but boot devices and sensors is optional."""

    interface_type: ClassVar[str] = "management"

    # Boot device (names: ironic.drivers.boot_devices)

    @abstractmethod
    def get_supported_boot_devices(self, task: Task) -> list[str]:
        """Return the names that :meth:`set_boot_device` takes."""

    @abstractmethod
    def set_boot_device(self, task: Task, device: str, persistent: bool = False) -> None:
        """Have the machine boot from a device, the next time or from now on. May be repeated.

        Raises InvalidParameterValue for a device that isn't supported.
        """

    @abstractmethod
    def get_boot_device(self, task: Task) -> BootDevice:
        """Return ``boot_device`` and ``persistent``; either may be None when the machine doesn't tell."""

    # Boot mode and secure boot (names: ironic.drivers.boot_modes)

    def get_supported_boot_modes(self, task: Task) -> list[str]:
        """Return the modes that :meth:`set_boot_mode` takes."""
        raise unsupported(task, "get_supported_boot_modes")

    def set_boot_mode(self, task: Task, mode: str) -> None:
        """Have the firmware start things in a mode. May be repeated."""
        raise unsupported(task, "set_boot_mode")

    def get_boot_mode(self, task: Task) -> str | None:
        """Return "bios" or "uefi", None when the machine doesn't tell."""
        raise unsupported(task, "get_boot_mode")

    def get_secure_boot_state(self, task: Task) -> bool:
        """Tell whether secure boot is on."""
        raise unsupported(task, "get_secure_boot_state")

    def set_secure_boot_state(self, task: Task, state: bool) -> None:
        """Turn secure boot on or off. May be repeated."""
        raise unsupported(task, "set_secure_boot_state")

    # Observations

    @abstractmethod
    def get_sensors_data(self, task: Task) -> dict[str, dict[str, dict[str, object]]]:
        """Return readings by sensor type and sensor; raises FailedToGetSensorData."""

    def get_node_health(self, task: Task) -> str | None:
        """Return OK, WARNING or CRITICAL, None when the machine doesn't tell."""
        raise unsupported(task, "get_node_health")

    def detect_vendor(self, task: Task) -> str | None:
        """Return who made the machine; kept in the node's properties."""
        raise unsupported(task, "detect_vendor")

    def get_mac_addresses(self, task: Task) -> list[str]:
        """Return the MAC addresses of the machine that can be used for ports."""
        raise unsupported(task, "get_mac_addresses")

    # Lights and signals (names: ironic.drivers.indicators)

    def inject_nmi(self, task: Task) -> None:
        """Send a non-maskable interrupt. Not to be repeated."""
        raise unsupported(task, "inject_nmi")

    def get_supported_indicators(self, task: Task, component: str | None = None) -> Lights:
        """Return lights by component and name, each with ``readonly`` and ``states``."""
        raise unsupported(task, "get_supported_indicators")

    def set_indicator_state(self, task: Task, component: str, indicator: str, state: str) -> None:
        """Switch a light. May be repeated."""
        raise unsupported(task, "set_indicator_state")

    def get_indicator_state(self, task: Task, component: str, indicator: str) -> str:
        """Return what a light shows."""
        raise unsupported(task, "get_indicator_state")

    # Virtual media (names: VMEDIA_DEVICES in ironic.drivers.boot_devices)

    def get_virtual_media(self, task: Task) -> list[dict[str, object]]:
        """Return what is in the machine's virtual drives."""
        raise unsupported(task, "get_virtual_media")

    def attach_virtual_media(self, task: Task, device_type: str, image_url: str) -> None:
        """Put an image into a virtual drive, in place of what is there."""
        raise unsupported(task, "attach_virtual_media")

    def detach_virtual_media(self, task: Task, device_types: Sequence[str] | None = None) -> None:
        """Empty these virtual drives, None means all. Empty ones stay empty."""
        raise unsupported(task, "detach_virtual_media")
