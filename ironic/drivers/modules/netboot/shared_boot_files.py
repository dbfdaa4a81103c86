"""Boot programs and first scripts that all machines share, and how boot files are written.

The shared files exist before any node does, so that unknown machines find them, and are written again whenever a node
is prepared. A file is replaced in one step, with the mode of [pxe]file_permission.
"""

import logging
import os
import secrets
from pathlib import Path

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import BootImageFailed
from ironic.core.texts.boot_file_quoting import GRUB, IPXE
from ironic.drivers.modules.netboot.boot_variants import BOOT_SCRIPT, GRUB_ENTRY_FILES, Variant, address_prefix
from ironic.integrations import boot_templates

LOG = logging.getLogger(__name__)


def write_shared_files(variant: Variant) -> None:
    """Write the files that all machines share.

    Raise BootImageFailed for a boot program that can't be read, InvalidParameterValue for a template.
    """
    roots = [variant.root]
    tftp_root = Path(CONF.pxe.tftp_root)
    if variant.ipxe and CONF.pxe.loader_file_paths and tftp_root.is_dir():
        # Firmware that can't do HTTP fetches iPXE itself over TFTP.
        roots.append(tftp_root)
    for root in roots:
        for name, source in CONF.pxe.loader_file_paths.items():
            try:
                write_file(root / name, Path(source).read_bytes())
            except OSError as error:
                raise BootImageFailed(image=source, reason=f"[pxe]loader_file_paths: {error.strerror}") from error
    directory = f"{address_prefix(variant, IPXE if variant.ipxe else GRUB)}{CONF.pxe.pxe_config_subdir}/"
    if variant.ipxe:
        script = boot_templates.render(
            CONF.pxe.ipxe_boot_script, base=directory, fallback=CONF.pxe.ipxe_fallback_script
        )
        write_file(variant.root / BOOT_SCRIPT, script)
    else:
        text = boot_templates.render(CONF.pxe.initial_grub_template, base=directory)
        for name in GRUB_ENTRY_FILES:
            write_file(variant.root / name, text)


def write_shared_files_where_possible(variant: Variant) -> None:
    """Write the shared files if the root directory exists; log a failure, which the preparation of a node raises."""
    try:
        if variant.has_root and variant.root.is_dir():
            write_shared_files(variant)
    except Exception as error:
        LOG.warning("The boot files that all machines share could not be written below %s: %s", variant.root, error)


def write_file(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Replace a file in one step: a machine that reads it meanwhile gets the old content or the new one.

    The mode is that of [pxe]file_permission unless another one is given.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return
    make_folder(path.parent)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        fresh.write_bytes(data)
        os.chmod(fresh, CONF.pxe.file_permission if mode is None else mode)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a directory and its parents; those that are new get the mode of [pxe]dir_permission."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    if CONF.pxe.dir_permission is not None:
        os.chmod(path, CONF.pxe.dir_permission)


def remove_file(path: Path) -> None:
    """Remove a file if it exists."""
    path.unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """Remove a directory and its files if it exists."""
    if path.is_dir():
        for file in path.iterdir():
            file.unlink(missing_ok=True)
        path.rmdir()
