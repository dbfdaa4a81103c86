"""What a DHCP server has to answer a machine, so that its firmware finds the boot program."""

from collections.abc import Iterator

from ironic.conf import CONF
from ironic.drivers import boot_modes
from ironic.drivers.modules.netboot import layout
from ironic.drivers.modules.netboot.variants import Variant
from ironic.integrations.dhcp import BOOT_PROGRAM, Option
from ironic.integrations.dhcp.base import NEXT_SERVER, TFTP_SERVER, VENDOR_CLASS

_HTTP_CLIENT = "HTTPClient"


def options(variant: Variant, boot_mode: str, arch: str | None) -> list[Option]:
    """Return the options for the machine's cards."""
    return list(_options(variant, loader(variant, boot_mode, arch)))


def loader(variant: Variant, boot_mode: str, arch: str | None) -> str:
    """Return the file name of the boot program."""
    stem = "ipxe_bootfile_name" if variant.ipxe else "pxe_bootfile_name"
    default = CONF.pxe[f"uefi_{stem}" if boot_mode == boot_modes.UEFI else stem]
    return str(CONF.pxe[f"{stem}_by_arch"].get(arch, default))


def _options(variant: Variant, name: str) -> Iterator[Option]:
    # iPXE comes twice: as what the firmware fetches, and then as what asks for the boot script.
    to_firmware = False if variant.ipxe else None
    if variant.http:
        yield Option(VENDOR_CLASS, _HTTP_CLIENT, to_firmware)
        yield Option(BOOT_PROGRAM, f"{layout.web_url()}/{name}", to_firmware)
    else:
        yield Option(NEXT_SERVER, CONF.pxe.tftp_server)
        yield Option(TFTP_SERVER, CONF.pxe.tftp_server)
        yield Option(BOOT_PROGRAM, name, to_firmware)
    if variant.ipxe:
        yield Option(BOOT_PROGRAM, f"{layout.web_url()}/{layout.BOOT_SCRIPT}", True)
