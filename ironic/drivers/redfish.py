"""Machines whose BMC speaks Redfish."""

from ironic.drivers.generic import GenericHardware
from ironic.drivers.hardware_type import Supported


class RedfishHardware(GenericHardware):
    """Inspection, power and management through Redfish, the rest as with any machine."""

    @property
    def supported_inspect_interfaces(self) -> Supported:
        """What the BMC tells, or whatever any machine can have."""
        return ["redfish", *super().supported_inspect_interfaces]

    @property
    def supported_management_interfaces(self) -> Supported:
        """Redfish, or leave the settings alone."""
        return ["redfish", "noop"]

    @property
    def supported_power_interfaces(self) -> Supported:
        """Redfish."""
        return ["redfish"]
