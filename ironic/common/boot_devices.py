"""A door for third-party plug-ins: names of boot devices under the path they import them from."""

from ironic.drivers.contract.boot_devices import (
    BIOS,
    CDROM,
    DISK,
    FLOPPY,
    ISCSIBOOT,
    PXE,
    SAFE,
    UEFIHTTP,
    VMEDIA_DEVICES,
    WANBOOT,
)

__all__ = ["BIOS", "CDROM", "DISK", "FLOPPY", "ISCSIBOOT", "PXE", "SAFE", "UEFIHTTP", "VMEDIA_DEVICES", "WANBOOT"]
