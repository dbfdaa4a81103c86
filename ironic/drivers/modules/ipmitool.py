"""Interfaces of IPMI machines, under the names that third-party hardware types import."""

from ironic.drivers.modules.ipmi.management import IPMIManagement
from ironic.drivers.modules.ipmi.power import IPMIPower
from ironic.drivers.modules.ipmi.socat_console import IPMISocatConsole
from ironic.drivers.modules.ipmi.vendor import IPMIVendorPassthru as VendorPassthru

__all__ = ["IPMIManagement", "IPMIPower", "IPMISocatConsole", "VendorPassthru"]
