"""Boot devices and boot modes of machines, by the names that the API and drivers use.

Source: doc/contract/states.md#devices-and-lights. Drivers of a BMC translate them into the BMC's own names.
"""

from typing import Final

PXE: Final = "pxe"
DISK: Final = "disk"
CDROM: Final = "cdrom"
BIOS: Final = "bios"
SAFE: Final = "safe"
WANBOOT: Final = "wanboot"
ISCSIBOOT: Final = "iscsiboot"
FLOPPY: Final = "floppy"
UEFIHTTP: Final = "uefihttp"

VMEDIA_DEVICES: Final = (DISK, CDROM, FLOPPY)

# Boot modes.
LEGACY_BIOS: Final = "bios"
UEFI: Final = "uefi"
