"""The thirteen kinds of interfaces for the task of drivers. What each has to do stands in the class it derives from."""

from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from ironic.drivers.contract.interfaces import (
    base_interface,
    bios_and_firmware,
    boot_and_deploy,
    networks,
    passthru,
    power_management,
    raid,
    storage,
)
from ironic.drivers.contract.task import Task

BaseInterface: TypeAlias = base_interface.BaseInterface[Task]


class BIOSInterface(bios_and_firmware.BIOSInterface[Task]):
    """Settings of the BIOS."""


class BootInterface(boot_and_deploy.BootInterface[Task]):
    """What a machine boots."""


class ConsoleInterface(power_management.ConsoleInterface[Task]):
    """Consoles."""


class DeployInterface(boot_and_deploy.DeployInterface[Task]):
    """Deployment, and what prepares cleaning and servicing."""

    def validate_adoption(self, task: Task) -> None:
        """Raise what keeps this interface, or the boot interface, from managing an instance that runs already."""
        task.boot.validate(task)
        super().validate_adoption(task)


class FirmwareInterface(bios_and_firmware.FirmwareInterface[Task]):
    """Versions of firmware, and updates."""


class InspectInterface(boot_and_deploy.InspectInterface[Task]):
    """Inspection."""


class ManagementInterface(power_management.ManagementInterface[Task]):
    """Settings and sensors of a machine."""


class NetworkInterface(networks.NetworkInterface[Task]):
    """Networks of a machine."""


class PowerInterface(power_management.PowerInterface[Task]):
    """Power of a machine."""


class RAIDInterface(raid.RAIDInterface[Task]):
    """Logical disks."""


class RescueInterface(boot_and_deploy.RescueInterface[Task]):
    """Rescue mode."""


class StorageInterface(storage.StorageInterface[Task]):
    """Volumes of a machine."""


class VendorInterface(passthru.VendorInterface[Task]):
    """Methods of a vendor."""


@runtime_checkable
class ReportForwarder(Protocol):
    """An inspect interface whose reports are for another service, which needs the node unlocked meanwhile."""

    def has_report(self, task: Task) -> bool:
        """Return whether the other service has a report of this inspection already."""

    def note_report(self, task: Task) -> None:
        """Note, with the lock held, that the other service has the report."""

    def hand_report_on(
        self, node_uuid: str, inventory: Mapping[str, object], plugin_data: Mapping[str, object]
    ) -> None:
        """Send a report to the other service, without a lock.

        Raise HardwareInspectionFailure if it is refused, TemporaryFailure or NodeLocked if the ramdisk shall post it
        again later.
        """


# What an implementation derives from; the classes above do too.
BASES: Final[dict[str, type[base_interface.BaseInterface[Any]]]] = {
    base.interface_type: base
    for base in (
        bios_and_firmware.BIOSInterface,
        boot_and_deploy.BootInterface,
        power_management.ConsoleInterface,
        boot_and_deploy.DeployInterface,
        bios_and_firmware.FirmwareInterface,
        boot_and_deploy.InspectInterface,
        power_management.ManagementInterface,
        networks.NetworkInterface,
        power_management.PowerInterface,
        raid.RAIDInterface,
        boot_and_deploy.RescueInterface,
        storage.StorageInterface,
        passthru.VendorInterface,
    )
}
