"""What a machine can boot from, by the names that people and drivers use.

Source: doc/contract/states.md#devices-and-lights. How a BMC calls these things is the business of its family.
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
