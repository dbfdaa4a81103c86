"""What is offered to all machines alike: boot programs, and the files that lead on to a machine's own.

These are there before any node is, so that machines nobody knows yet find something, and they are made anew whenever
a machine is prepared.
"""

import logging
from pathlib import Path

from ironic.conf import CONF
from ironic.core.boot_languages import GRUB, IPXE
from ironic.core.management_errors import BootImageFailed
from ironic.drivers.modules.netboot import files, layout, templates
from ironic.drivers.modules.netboot.variants import Variant

LOG = logging.getLogger(__name__)


def offer(variant: Variant) -> None:
    """Write them."""
    for name, source in CONF.pxe.loader_file_paths.items():
        _copy(variant.root / name, source)
    if variant.ipxe:
        _copy_loaders_to_tftp()
        files.write(variant.root / layout.BOOT_SCRIPT, _boot_script(variant))
    else:
        text = _first_of_grub(variant)
        for name in layout.FIRST_OF_GRUB:
            files.write(variant.root / name, text)


def offer_where_possible(variant: Variant) -> None:
    """Write them if the directory is there already; what stands in the way is told when a machine is prepared."""
    try:
        if variant.root.is_dir():
            offer(variant)
    except Exception as error:
        LOG.warning("What all machines boot through could not be written below %s: %s", variant.root, error)


def _copy_loaders_to_tftp() -> None:
    """Offer iPXE itself over TFTP as well: firmware that can't do HTTP fetches it there."""
    root = Path(CONF.pxe.tftp_root)
    if CONF.pxe.loader_file_paths and root.is_dir():
        for name, source in CONF.pxe.loader_file_paths.items():
            _copy(root / name, source)


def _copy(target: Path, source: str) -> None:
    try:
        files.write(target, Path(source).read_bytes())
    except OSError as error:
        raise BootImageFailed(image=source, reason=f"[pxe]loader_file_paths: {error.strerror}") from error


def _boot_script(variant: Variant) -> str:
    return templates.render(
        CONF.pxe.ipxe_boot_script,
        base=f"{layout.base(variant, IPXE)}{CONF.pxe.pxe_config_subdir}/",
        fallback=CONF.pxe.ipxe_fallback_script,
    )


def _first_of_grub(variant: Variant) -> str:
    base = f"{layout.base(variant, GRUB)}{CONF.pxe.pxe_config_subdir}/"
    return templates.render(CONF.pxe.initial_grub_template, base=base)
