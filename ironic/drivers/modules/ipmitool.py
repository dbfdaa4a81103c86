"""Interfaces of IPMI machines, under the names that third-party hardware types import."""

from ironic.drivers.modules.ipmi.management import IPMIManagement
from ironic.drivers.modules.ipmi.power import IPMIPower
from ironic.drivers.modules.ipmi.socat_console import IPMISocatConsole
from ironic.drivers.modules.ipmi.vendor import IPMIVendorPassthru as VendorPassthru
from ironic.drivers.plug_ins.ipmi_tool import COMMON_PROPERTIES, dump_sdr, is_bridging_enabled, send_raw

__all__ = [
    "COMMON_PROPERTIES",
    "IPMIManagement",
    "IPMIPower",
    "IPMISocatConsole",
    "VendorPassthru",
    "dump_sdr",
    "is_bridging_enabled",
    "send_raw",
]
