"""Hardware type `ipmi`: machines whose BMC speaks IPMI."""

from typing import ClassVar

from ironic.drivers.generic import GenericHardware
from ironic.drivers.hardware_type import Supported


class IPMIHardware(GenericHardware):
    """Power, management, console and vendor methods through ipmitool; the rest as in the generic hardware type."""

    bmc_address_keys: ClassVar[tuple[str, ...] | None] = ("ipmi_address",)

    @property
    def supported_console_interfaces(self) -> Supported:
        """Serial over LAN, or those of the generic hardware type."""
        return ["ipmitool-socat", *super().supported_console_interfaces]

    @property
    def supported_management_interfaces(self) -> Supported:
        """ipmitool, or `noop`, which changes no settings."""
        return ["ipmitool", "noop"]

    @property
    def supported_power_interfaces(self) -> Supported:
        """ipmitool."""
        return ["ipmitool"]

    @property
    def supported_vendor_interfaces(self) -> Supported:
        """ipmitool, or none."""
        return ["ipmitool", *super().supported_vendor_interfaces]
