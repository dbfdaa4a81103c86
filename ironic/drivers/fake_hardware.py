"""Hardware type `fake-hardware`: simulated machines for tests and first experiments."""

from typing import ClassVar

from ironic.drivers.generic import GenericHardware
from ironic.drivers.hardware_type import Supported


class FakeHardware(GenericHardware):
    """Fake interfaces first; any other enabled interface is accepted as well, such as one of a real BMC."""

    accepts_any_enabled: ClassVar[bool] = True

    @property
    def supported_bios_interfaces(self) -> Supported:
        """The fake implementation, or none."""
        return ["fake", *super().supported_bios_interfaces]

    @property
    def supported_boot_interfaces(self) -> Supported:
        """The fake implementation, or those of the generic hardware type."""
        return ["fake", *super().supported_boot_interfaces]

    @property
    def supported_console_interfaces(self) -> Supported:
        """The fake implementation, or those of the generic hardware type."""
        return ["fake", *super().supported_console_interfaces]

    @property
    def supported_deploy_interfaces(self) -> Supported:
        """The fake implementation, or those of the generic hardware type."""
        return ["fake", *super().supported_deploy_interfaces]

    @property
    def supported_firmware_interfaces(self) -> Supported:
        """The fake implementation, or none."""
        return ["fake", *super().supported_firmware_interfaces]

    @property
    def supported_inspect_interfaces(self) -> Supported:
        """The fake implementation, or those of the generic hardware type."""
        return ["fake", *super().supported_inspect_interfaces]

    @property
    def supported_management_interfaces(self) -> Supported:
        """The fake implementation."""
        return ["fake"]

    @property
    def supported_power_interfaces(self) -> Supported:
        """The fake implementation."""
        return ["fake"]

    @property
    def supported_raid_interfaces(self) -> Supported:
        """The fake implementation, or none."""
        return ["fake", *super().supported_raid_interfaces]

    @property
    def supported_rescue_interfaces(self) -> Supported:
        """The fake implementation, or none."""
        return ["fake", *super().supported_rescue_interfaces]

    @property
    def supported_storage_interfaces(self) -> Supported:
        """The fake implementation, or none."""
        return ["fake", *super().supported_storage_interfaces]

    @property
    def supported_vendor_interfaces(self) -> Supported:
        """The fake implementation, or none."""
        return ["fake", *super().supported_vendor_interfaces]
