"""Base classes for power, management and console interfaces."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from ironic.core.bmc_readings import BootDevice, Console, Lights
from ironic.core.flows import states
from ironic.drivers.contract.contract_types import Task
from ironic.drivers.contract.interfaces.base_interface import BaseInterface, unsupported
from ironic.drivers.contract.wait_declarations import Ordered


class PowerInterface(BaseInterface[Task]):
    """Power of a machine. The actions block until the machine has reached the state, and may be repeated."""

    interface_type: ClassVar[str] = "power"

    @abstractmethod
    def get_power_state(self, task: Task) -> str | None:
        """Return "power on", "power off" or "error"; None when it is unknown."""

    @abstractmethod
    def set_power_state(self, task: Task, power_state: str, timeout: int | None = None) -> None:
        """Bring the machine into a supported power state within ``timeout`` seconds (None: as configured).

        Raise PowerStateFailure when the state is not reached, InvalidParameterValue for an unsupported state. The
        caller has checked ``disable_power_off``.
        """

    @abstractmethod
    def reboot(self, task: Task, timeout: int | None = None) -> None:
        """Restart the machine without a shutdown, or switch it on. Raise PowerStateFailure."""

    def get_supported_power_states(self, task: Task) -> list[str]:
        """Return the states that :meth:`set_power_state` accepts."""
        return [states.POWER_ON, states.POWER_OFF, states.REBOOT]

    def supports_power_sync(self, task: Task) -> bool:
        """Return whether the power state of the node may be synchronised with the machine periodically."""
        return True


class ManagementInterface(BaseInterface[Task]):
    """Settings and sensors of a machine; all methods but those for boot devices and sensors are optional."""

    interface_type: ClassVar[str] = "management"

    # Whether the service knows the address of the BMC, so that no ramdisk has to find it out.
    knows_bmc_address: ClassVar[bool] = False

    # Boot device (names: ironic.drivers.contract.boot_devices)

    @abstractmethod
    def get_supported_boot_devices(self, task: Task) -> list[str]:
        """Return the names that :meth:`set_boot_device` accepts."""

    @abstractmethod
    def set_boot_device(self, task: Task, device: str, persistent: bool = False) -> None:
        """Set the boot device for the next boot, or persistently. May be repeated.

        Raise InvalidParameterValue for an unsupported device.
        """

    @abstractmethod
    def get_boot_device(self, task: Task) -> BootDevice:
        """Return ``boot_device`` and ``persistent``; each is None when it is unknown."""

    # Boot mode and secure boot (names: LEGACY_BIOS and UEFI in ironic.drivers.contract.boot_devices)

    def get_supported_boot_modes(self, task: Task) -> list[str]:
        """Return the modes that :meth:`set_boot_mode` accepts."""
        raise unsupported(task, "get_supported_boot_modes")

    def set_boot_mode(self, task: Task, mode: str) -> None:
        """Set the boot mode of the firmware. May be repeated."""
        raise unsupported(task, "set_boot_mode")

    def get_boot_mode(self, task: Task) -> str | None:
        """Return "bios" or "uefi"; None when it is unknown."""
        raise unsupported(task, "get_boot_mode")

    def get_secure_boot_state(self, task: Task) -> bool | None:
        """Return whether secure boot is on."""
        raise unsupported(task, "get_secure_boot_state")

    def set_secure_boot_state(self, task: Task, state: bool) -> Ordered | None:
        """Turn secure boot on or off; return ORDERED if that takes effect when the machine starts. May be repeated."""
        raise unsupported(task, "set_secure_boot_state")

    # Sensors and inventory

    @abstractmethod
    def get_sensors_data(self, task: Task) -> dict[str, dict[str, dict[str, object]]]:
        """Return the readings by sensor type and sensor name; raise FailedToGetSensorData."""

    def get_node_health(self, task: Task) -> str | None:
        """Return OK, WARNING or CRITICAL; None when it is unknown."""
        raise unsupported(task, "get_node_health")

    def detect_vendor(self, task: Task) -> str | None:
        """Return the manufacturer of the machine, which is stored in the node's properties."""
        raise unsupported(task, "detect_vendor")

    def get_mac_addresses(self, task: Task) -> list[str]:
        """Return the MAC addresses of the machine that can be used for ports."""
        raise unsupported(task, "get_mac_addresses")

    # Interrupts and indicators (names: ironic.drivers.contract.indicators)

    def inject_nmi(self, task: Task) -> None:
        """Send a non-maskable interrupt. Must not be repeated."""
        raise unsupported(task, "inject_nmi")

    def get_supported_indicators(self, task: Task, component: str | None = None) -> Lights:
        """Return the indicators by component and name, each with ``readonly`` and ``states``."""
        raise unsupported(task, "get_supported_indicators")

    def set_indicator_state(self, task: Task, component: str, indicator: str, state: str) -> None:
        """Set the state of an indicator. May be repeated."""
        raise unsupported(task, "set_indicator_state")

    def get_indicator_state(self, task: Task, component: str, indicator: str) -> str:
        """Return the state of an indicator."""
        raise unsupported(task, "get_indicator_state")

    # Virtual media (names: VMEDIA_DEVICES in ironic.drivers.contract.boot_devices)

    def get_virtual_media(self, task: Task) -> list[dict[str, object]]:
        """Return the images in the machine's virtual drives."""
        raise unsupported(task, "get_virtual_media")

    def attach_virtual_media(self, task: Task, device_type: str, image_url: str) -> None:
        """Insert an image into a virtual drive, replacing the present one."""
        raise unsupported(task, "attach_virtual_media")

    def detach_virtual_media(self, task: Task, device_types: Sequence[str] | None = None) -> None:
        """Eject the images from virtual drives of these types, None means all. May be repeated."""
        raise unsupported(task, "detach_virtual_media")


class ConsoleInterface(BaseInterface[Task]):
    """Console of a machine. Starting an open console and stopping a closed one are no errors."""

    interface_type: ClassVar[str] = "console"

    @abstractmethod
    def start_console(self, task: Task) -> None:
        """Open the console."""

    @abstractmethod
    def stop_console(self, task: Task) -> None:
        """Close the console."""

    @abstractmethod
    def get_console(self, task: Task) -> Console:
        """Return the address of the console: ``type`` and ``url``."""
