"""A door for third-party plug-ins: the system of a Redfish BMC."""

from ironic.drivers.plug_ins.redfish_systems import COMMON_PROPERTIES, get_system, parse_driver_info

__all__ = [
    "COMMON_PROPERTIES",
    "get_system",
    "parse_driver_info",
]
