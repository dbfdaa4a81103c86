"""The four variants of network boot (PXE, iPXE, HTTP, iPXE over HTTP), and the paths and URLs of their files.

The variants differ in the boot program that reads a node's file (by boot mode PXELINUX or GRUB, or else iPXE) and in
how the firmware fetches that program (TFTP or HTTP). Below the root directory of a variant lie:

    <node UUID>/            kernel, ramdisk, and a copy of the node's file for the operator
    pxelinux.cfg/           the node's file by MAC address, where boot programs search it
    boot.ipxe               the first script of iPXE
    grub/grub.cfg, grub.cfg the first file of GRUB (which of them depends on how GRUB was built)

Machines are identified by the MAC addresses of their ports with `pxe_enabled`; all paths derive from these addresses
and the node's UUID.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.texts.boot_file_quoting import GRUB, IPXE, PXELINUX
from ironic.drivers.contract import boot_devices
from ironic.integrations import web_root

PROGRAMS: Final = (PXELINUX, GRUB, IPXE)

CONFIG: Final = "config"
BOOT_SCRIPT: Final = "boot.ipxe"
GRUB_ENTRY_FILES: Final = ("grub/grub.cfg", "grub.cfg")

# A UUID or a MAC address: such a name can't contain a path.
_NAME: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z:-]*")


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant: the name of its boot interface, whether it uses iPXE, whether the firmware fetches over HTTP."""

    name: str
    ipxe: bool
    http: bool

    @property
    def needs_web(self) -> bool:
        """Whether machines fetch their files from a web server; otherwise they fetch them over TFTP."""
        return self.ipxe or self.http

    @property
    def has_root(self) -> bool:
        """Whether there is such a directory: an empty option would be the one that the service was started in."""
        return bool((CONF.deploy.http_root if self.needs_web else CONF.pxe.tftp_root).strip())

    @property
    def root(self) -> Path:
        """The root directory of the server that machines fetch files from."""
        return Path(CONF.deploy.http_root if self.needs_web else CONF.pxe.tftp_root)

    @property
    def boot_device(self) -> str:
        """The boot device that is set in the firmware."""
        return boot_devices.UEFIHTTP if self.http else boot_devices.PXE

    def program(self, boot_mode: str) -> str:
        """Return the boot program that reads a node's file."""
        if self.ipxe:
            return IPXE
        return GRUB if boot_mode == boot_devices.UEFI else PXELINUX


VARIANTS: Final = {
    variant.name: variant
    for variant in (
        Variant("pxe", ipxe=False, http=False),
        Variant("ipxe", ipxe=True, http=False),
        Variant("http", ipxe=False, http=True),
        Variant("http-ipxe", ipxe=True, http=True),
    )
}


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths and addresses of one node's files."""

    variant: Variant
    uuid: str

    @property
    def folder(self) -> Path:
        """The node's own directory."""
        return self.variant.root / _part_of_path(self.uuid)

    def address(self, name: str, program: str) -> str:
        """Return the address under which a boot program fetches a file from the node's directory."""
        return f"{address_prefix(self.variant, program)}{self.uuid}/{name}"

    def by_mac(self, program: str, mac: str, *, infiniband: bool = False) -> Path:
        """Return the path where a boot program searches the file of the machine with this MAC address."""
        return self.variant.root / str(CONF.pxe.pxe_config_subdir) / file_name(program, mac, infiniband=infiniband)


def address_prefix(variant: Variant, program: str) -> str:
    """Return what a boot program needs before a path relative to the root directory.

    PXELINUX takes paths relative to where it came from, GRUB paths from the root of its server, iPXE URLs.
    """
    if program == IPXE:
        return f"{web_root.url()}/"
    if program == GRUB and variant.http:
        return f"{urlsplit(web_root.url()).path}/"
    return "/" if program == GRUB else ""


def file_name(program: str, mac: str, *, infiniband: bool = False) -> str:
    """Return the name of a node's file by MAC address, as the boot program derives it from its network card.

    PXELINUX begins with the hardware type of ARP, in hexadecimal: 1 is Ethernet, 32 InfiniBand.
    """
    hyphens = _part_of_path(mac).lower().replace(":", "-")
    return {PXELINUX: f"{'20' if infiniband else '01'}-{hyphens}", GRUB: f"{mac.lower()}.conf", IPXE: hyphens}[program]


def _part_of_path(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidParameterValue(
            err=f"{name[:64]!r} is neither a UUID nor a MAC address and can't name a boot file."
        )
    return name
