"""CD images that boot a kernel and ramdisk, from UEFI and from BIOS alike.

UEFI starts GRUB from a FAT image on the CD (the EFI system partition), BIOS starts ISOLINUX; both read a file with the
kernel command line. The boot programs are files of Debian's packages, see `ironic.conf.virtual_media`. The layout:

    vmlinuz, initrd                  what is booted
    boot/grub/grub.cfg               GRUB's file, also at [DEFAULT]grub_config_path
    boot/grub/efi.img                the EFI system partition
    isolinux/                        ISOLINUX and its file
    .disk/info, .disk/<mark>         by which Debian's GRUB for CDs and GRUB's file find the CD
    openstack/..., etc/...           files for the ramdisk
"""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pycdlib
from pycdlib.pycdlibexception import PyCdlibException

from ironic.core.errors.hardware_errors import ImageCreationFailed
from ironic.integrations import boot_templates, disk_space, fat_image

LABEL: Final = "VMEDIA_BOOT_ISO"
# The ramdisk takes its configuration from a drive with this label.
CONFIG_LABEL: Final = "config-2"

_KERNEL: Final = "vmlinuz"
_RAMDISK: Final = "initrd"
_GRUB_FILE: Final = "boot/grub/grub.cfg"
_SYSTEM_PARTITION: Final = "boot/grub/efi.img"
_ISOLINUX: Final = "isolinux/isolinux.bin"
_MIB: Final = 1024 * 1024
# The number of UEFI in the boot catalogue.
_UEFI: Final = 0xEF


@dataclass(frozen=True, slots=True)
class BootPrograms:
    """The boot programs of an image, as paths on this host; those of a firmware that is not supported are None.

    UEFI needs ``efi_partition``, a whole FAT image, or ``efi_program``, which is put into one under ``efi_name``. BIOS
    needs both files of ISOLINUX.
    """

    efi_program: Path | None = None
    efi_name: str = "BOOTX64.EFI"
    efi_partition: Path | None = None
    isolinux: Path | None = None
    ldlinux: Path | None = None

    @property
    def uefi(self) -> bool:
        """Return whether the image boots from UEFI."""
        return bool(self.efi_partition or self.efi_program)

    @property
    def bios(self) -> bool:
        """Return whether the image boots from BIOS."""
        return bool(self.isolinux and self.ldlinux)


@dataclass(frozen=True, slots=True)
class BootIso:
    """What an image boots and has on it.

    The command lines are in the syntax of the program that reads them, the templates are paths of this host's files;
    ``files`` have their path on the CD as the key.
    ``mark`` is a UUID of this image, by which GRUB and, as its publisher, the ramdisk recognise it.
    """

    kernel: Path
    ramdisk: Path
    grub_arguments: str
    isolinux_arguments: str
    grub_template: str
    isolinux_template: str
    mark: str
    grub_config_path: str = "EFI/BOOT/grub.cfg"
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The label of the image."""
        return CONFIG_LABEL if any(name.startswith("openstack/") for name in self.files) else LABEL


def build(iso: BootIso, programs: BootPrograms, target: Path) -> None:
    """Write the image to a path; raises ImageCreationFailed, InsufficientDiskSpace, ImageUnacceptable.

    InvalidParameterValue is for a template.
    """
    scratch = target.with_name(f"{target.name}.efi")
    try:
        partition = _efi_partition(programs, scratch) if programs.uefi else None
        sources = [iso.kernel, iso.ramdisk, *filter(None, (partition, programs.isolinux, programs.ldlinux))]
        size = sum(path.stat().st_size for path in sources) + sum(map(len, iso.files.values())) + _MIB
        disk_space.check_size(size)
        with disk_space.reserved(target, size):
            _write(iso, programs, partition, target)
    except OSError as error:
        reason = f"{error.filename or target.parent}: {error.strerror}"
        raise ImageCreationFailed(image_type="ISO", error=reason) from error
    except PyCdlibException as error:
        raise ImageCreationFailed(image_type="ISO", error=str(error)) from error
    finally:
        scratch.unlink(missing_ok=True)


def _efi_partition(programs: BootPrograms, scratch: Path) -> Path:
    if programs.efi_partition:
        return programs.efi_partition
    assert programs.efi_program is not None
    files = {f"EFI/BOOT/{programs.efi_name}": programs.efi_program.read_bytes()}
    fat_image.make(scratch, fat_image.size_for(files), "EFI", files)
    return scratch


def _write(iso: BootIso, programs: BootPrograms, partition: Path | None, target: Path) -> None:
    with _Disc.opened(iso.label, iso.mark) as disc:
        disc.add_file(_KERNEL, iso.kernel)
        disc.add_file(_RAMDISK, iso.ramdisk)
        for name, content in iso.files.items():
            disc.add(name, content)
        if programs.bios:
            assert programs.isolinux is not None and programs.ldlinux is not None
            disc.add_file(_ISOLINUX, programs.isolinux)
            disc.add_file("isolinux/ldlinux.c32", programs.ldlinux)
            disc.add(
                "isolinux/isolinux.cfg", _rendered(iso.isolinux_template, iso.isolinux_arguments, iso.mark).encode()
            )
            disc.boot(_ISOLINUX, load_sectors=4, info_table=True)
        if partition is not None:
            disc.add_file(_SYSTEM_PARTITION, partition)
            for name in ("info", iso.mark):
                disc.add(f".disk/{name}", b"Ramdisk\n")
            grub_file = _rendered(iso.grub_template, iso.grub_arguments, iso.mark).encode()
            for name in dict.fromkeys((_GRUB_FILE, iso.grub_config_path.strip("/"))):
                disc.add(name, grub_file)
            disc.boot(_SYSTEM_PARTITION, efi=True)
        disc.write(target)


def check_templates(grub: str, isolinux: str) -> None:
    """Raise InvalidParameterValue when one of the files with templates can't be used."""
    for path in (grub, isolinux):
        _rendered(path, "quiet", "00000000-0000-4000-8000-000000000000")


def _rendered(template: str, arguments: str, mark: str) -> str:
    kernel, ramdisk = f"/{_KERNEL}", f"/{_RAMDISK}"
    # The last three are for templates that were written for upstream.
    older = {"linux": kernel, "initrd": ramdisk, "kernel_params": arguments}
    return boot_templates.render(template, kernel=kernel, ramdisk=ramdisk, arguments=arguments, mark=mark, **older)


class _Disc:
    """An image in the making: ISO 9660 requires short names, Joliet and Rock Ridge carry the real ones."""

    def __init__(self, iso: Any) -> None:
        self._iso = iso
        self._short: dict[str, str] = {"": ""}
        self._has_boot = False

    @classmethod
    @contextmanager
    def opened(cls, label: str, publisher: str) -> Iterator["_Disc"]:
        """Begin an image, and close it at the end."""
        iso = pycdlib.PyCdlib()
        iso.new(interchange_level=3, vol_ident=label, joliet=3, rock_ridge="1.09", pub_ident_str=publisher)
        try:
            yield cls(iso)
        finally:
            iso.close()

    def add_file(self, path: str, source: Path) -> None:
        """Add a file of this host."""
        self._iso.add_file(str(source), self._entry(path), **_names(path))

    def add(self, path: str, content: bytes) -> None:
        """Add a file with this content."""
        self._iso.add_fp(io.BytesIO(content), len(content), self._entry(path), **_names(path))

    def boot(self, path: str, *, load_sectors: int | None = None, info_table: bool = False, efi: bool = False) -> None:
        """Make a file that was added a boot image of the disc, after those before it."""
        catalog = {} if self._has_boot else {"bootcatfile": "/BOOT.CAT;1", "rr_bootcatname": "boot.cat"}
        self._iso.add_eltorito(
            self._short[path],
            boot_load_size=load_sectors,
            boot_info_table=info_table,
            efi=efi,
            platform_id=_UEFI if efi else 0,
            **catalog,
        )
        self._has_boot = True

    def write(self, target: Path) -> None:
        """Write the image."""
        self._iso.write(str(target))

    def _entry(self, path: str) -> str:
        """Return the short path of a new file, whose directories are made."""
        parent, _, name = path.rpartition("/")
        stem, _, suffix = name.upper().partition(".")
        plain = stem.isalnum() and len(stem) <= 8 and (suffix.isalnum() or not suffix) and len(suffix) <= 3
        short = f"{stem}.{suffix}" if plain else f"F{len(self._short)}."
        self._short[path] = f"{self._folder(parent)}/{short};1"
        return self._short[path]

    def _folder(self, path: str) -> str:
        if path not in self._short:
            parent, _, name = path.rpartition("/")
            short = name.upper() if name.isalnum() and len(name) <= 8 else f"D{len(self._short)}"
            self._short[path] = f"{self._folder(parent)}/{short}"
            self._iso.add_directory(self._short[path], rr_name=name, joliet_path=f"/{path}")
        return self._short[path]


def _names(path: str) -> dict[str, str]:
    return {"rr_name": path.rpartition("/")[2], "joliet_path": f"/{path}"}
