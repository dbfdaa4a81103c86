"""A door for third-party plug-ins: boot interfaces of Redfish, and the virtual drives of a BMC."""

from ironic.drivers.modules.redfish.https_boot import RedfishHttpsBoot
from ironic.drivers.modules.redfish.virtual_media_boot import RedfishVirtualMediaBoot
from ironic.drivers.plug_ins.redfish_systems import eject_vmedia, get_vmedia, insert_vmedia

__all__ = [
    "RedfishHttpsBoot",
    "RedfishVirtualMediaBoot",
    "eject_vmedia",
    "get_vmedia",
    "insert_vmedia",
]
