"""The four ways of booting from the network, as data.

What differs is which program reads a machine's file (the one of the boot mode, PXELINUX or GRUB, or else iPXE) and how
the machine's firmware fetches that program (TFTP or HTTP). Everything else follows from these two.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ironic.conf import CONF
from ironic.core.boot_languages import GRUB, IPXE, PXELINUX
from ironic.drivers import boot_devices, boot_modes


@dataclass(frozen=True, slots=True)
class Variant:
    """One way: the name of the boot interface, whether iPXE is used, whether firmware fetches it over HTTP."""

    name: str
    ipxe: bool
    http: bool

    @property
    def needs_web(self) -> bool:
        """Tell whether files are fetched from a web server; else they come over TFTP."""
        return self.ipxe or self.http

    @property
    def root(self) -> Path:
        """The directory that machines are offered."""
        return Path(CONF.deploy.http_root if self.needs_web else CONF.pxe.tftp_root)

    @property
    def boot_device(self) -> str:
        """What the firmware is told to start from."""
        return boot_devices.UEFIHTTP if self.http else boot_devices.PXE

    def program(self, boot_mode: str) -> str:
        """Name the program that reads a machine's file."""
        if self.ipxe:
            return IPXE
        return GRUB if boot_mode == boot_modes.UEFI else PXELINUX


VARIANTS: Final = {
    variant.name: variant
    for variant in (
        Variant("pxe", ipxe=False, http=False),
        Variant("ipxe", ipxe=True, http=False),
        Variant("http", ipxe=False, http=True),
        Variant("http-ipxe", ipxe=True, http=True),
    )
}
