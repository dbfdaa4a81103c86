"""Hardware type `intel-ipmi`: IPMI machines with processors that have Intel Speed Select profiles."""

from ironic.drivers.hardware_type import Supported
from ironic.drivers.ipmi import IPMIHardware


class IntelIPMIHardware(IPMIHardware):
    """As hardware type `ipmi`, with a management interface that also chooses the profile."""

    @property
    def supported_management_interfaces(self) -> Supported:
        """ipmitool with Speed Select."""
        return ["intel-ipmitool"]
