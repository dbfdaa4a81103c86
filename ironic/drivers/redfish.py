"""Hardware type `redfish`: machines whose BMC implements Redfish."""

from typing import ClassVar

from ironic.drivers.generic import GenericHardware
from ironic.drivers.hardware_type import Supported


class RedfishHardware(GenericHardware):
    """Boot, inspection, power and management through Redfish; the rest as in the generic hardware type."""

    bmc_address_keys: ClassVar[tuple[str, ...] | None] = ("redfish_address",)

    @property
    def supported_bios_interfaces(self) -> Supported:
        """Redfish, or none."""
        return ["redfish", *super().supported_bios_interfaces]

    @property
    def supported_boot_interfaces(self) -> Supported:
        """Network boot, or an ISO image that the BMC offers to the machine or its firmware."""
        return [*super().supported_boot_interfaces, "redfish-virtual-media", "redfish-https"]

    @property
    def supported_console_interfaces(self) -> Supported:
        """The console page of the BMC, Serial over LAN of IPMI, or those of the generic hardware type."""
        return ["redfish-graphical", "ipmitool-socat", *super().supported_console_interfaces]

    @property
    def supported_firmware_interfaces(self) -> Supported:
        """Redfish, or none."""
        return ["redfish", *super().supported_firmware_interfaces]

    @property
    def supported_inspect_interfaces(self) -> Supported:
        """Inspection through Redfish, or that of the generic hardware type."""
        return ["redfish", *super().supported_inspect_interfaces]

    @property
    def supported_management_interfaces(self) -> Supported:
        """Redfish, or `noop`, which changes no settings."""
        return ["redfish", "noop"]

    @property
    def supported_power_interfaces(self) -> Supported:
        """Redfish."""
        return ["redfish"]

    @property
    def supported_raid_interfaces(self) -> Supported:
        """Redfish, none, or logical disks created by an agent."""
        return ["redfish", *super().supported_raid_interfaces]

    @property
    def supported_vendor_interfaces(self) -> Supported:
        """Redfish, or none."""
        return ["redfish", *super().supported_vendor_interfaces]
