"""Where things lie below a root, and where machines find them.

    <node UUID>/            kernel, ramdisk and the machine's file, for looking at
    pxelinux.cfg/           the machines' files by MAC address, where boot programs look
    boot.ipxe               what iPXE runs first
    grub/grub.cfg, grub.cfg what GRUB reads first (which of them depends on how GRUB was built)

A machine is known by the MAC addresses of its ports with `pxe_enabled`. Everything of one machine follows from the
node's UUID and these addresses.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core.boot_languages import GRUB, IPXE, PXELINUX
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.netboot.variants import Variant

# Of a UUID or MAC address; it never leads out of a directory.
_NAME: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z:-]*")

CONFIG: Final = "config"
BOOT_SCRIPT: Final = "boot.ipxe"
FIRST_OF_GRUB: Final = ("grub/grub.cfg", "grub.cfg")


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of one node's files."""

    variant: Variant
    uuid: str

    @property
    def folder(self) -> Path:
        """The node's own directory."""
        return self.variant.root / _part_of_path(self.uuid)

    def address(self, name: str, program: str) -> str:
        """Return how a boot program names a file of the node."""
        return f"{base(self.variant, program)}{self.uuid}/{name}"

    def by_mac(self, program: str, mac: str) -> Path:
        """Return where a program looks for the file of a machine with this MAC address."""
        return self.variant.root / str(CONF.pxe.pxe_config_subdir) / file_name(program, mac)


def base(variant: Variant, program: str) -> str:
    """Return what stands before the path of a file when a program names it.

    PXELINUX takes paths from where it came, GRUB from the root of the server it came from, iPXE takes URLs.
    """
    if program == IPXE:
        return f"{web_url()}/"
    if program == GRUB and variant.http:
        return f"{urlsplit(web_url()).path}/"
    return "/" if program == GRUB else ""


def web_url() -> str:
    """Return the URL of [deploy]http_root."""
    return str(CONF.deploy.http_url or "").rstrip("/")


def file_name(program: str, mac: str) -> str:
    """Return the name of a machine's file, as the program can put it together from its network card."""
    hyphens = _part_of_path(mac).lower().replace(":", "-")
    return {PXELINUX: f"01-{hyphens}", GRUB: f"{mac.lower()}.conf", IPXE: hyphens}[program]


def _part_of_path(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidParameterValue(
            err=f"{name[:64]!r} is neither a UUID nor a MAC address and can't name a boot file."
        )
    return name


PROGRAMS: Final = (PXELINUX, GRUB, IPXE)
