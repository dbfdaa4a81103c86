"""A door for third-party plug-ins: boot mode and secure boot that an instance needs."""

from ironic.drivers.nodes.instance_capabilities import requests_secure_boot as is_secure_boot_requested
from ironic.drivers.nodes.secure_boot import turn_off as deconfigure_secure_boot_if_needed
from ironic.drivers.nodes.secure_boot import turn_on as configure_secure_boot_if_needed
from ironic.drivers.plug_ins.boot_modes import get_boot_mode, get_boot_mode_for_deploy, sync_boot_mode

__all__ = [
    "configure_secure_boot_if_needed",
    "deconfigure_secure_boot_if_needed",
    "get_boot_mode",
    "get_boot_mode_for_deploy",
    "is_secure_boot_requested",
    "sync_boot_mode",
]
