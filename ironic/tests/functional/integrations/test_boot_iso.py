"""CD images with the boot programs of Debian's packages, and FAT images made by mtools."""

import dataclasses
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pycdlib
import pytest

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.core.errors.hardware_errors import ImageCreationFailed, ImageUnacceptable
from ironic.integrations import boot_iso, fat_image
from ironic.integrations.boot_iso import BootIso, BootPrograms

MARK = "11111111-0000-4000-8000-00000000000a"
UEFI, BIOS = 0xEF, 0
DEBIAN = {
    "efi_program": "/usr/lib/grub/x86_64-efi/monolithic/gcdx64.efi",
    "isolinux": "/usr/lib/ISOLINUX/isolinux.bin",
    "ldlinux": "/usr/lib/syslinux/modules/bios/ldlinux.c32",
}
_PATHS: dict[str, Any] = {name: Path(path) for name, path in DEBIAN.items()}
ALL = BootPrograms(**_PATHS)


@pytest.fixture
def iso(tmp_path: Path) -> BootIso:
    (tmp_path / "kernel").write_bytes(b"a kernel" * 5000)
    (tmp_path / "ramdisk").write_bytes(b"a ramdisk" * 5000)
    return BootIso(
        kernel=tmp_path / "kernel", ramdisk=tmp_path / "ramdisk", grub_arguments="quiet 'a=b c'",
        isolinux_arguments='quiet "a=b c"', grub_template=CONF.grub_config_template,
        isolinux_template=CONF.isolinux_config_template, mark=MARK,
    )  # fmt: skip


def boots(path: Path) -> set[int]:
    """Return the platforms that an image boots on, as its boot catalogue names them."""
    disc: Any = pycdlib.PyCdlib()
    disc.open(str(path))
    catalogue = disc.eltorito_boot_catalog
    found = {catalogue.validation_entry.platform_id, *(section.platform_id for section in catalogue.sections)}
    disc.close()
    return found


def file_of(path: Path, name: str) -> bytes:
    disc = pycdlib.PyCdlib()
    disc.open(str(path))
    with disc.open_file_from_iso(rr_path=name) as file:
        content: bytes = file.read()
    disc.close()
    return content


@pytest.mark.parametrize(
    "lacking, platforms",
    [((), {UEFI, BIOS}), (("efi_program",), {BIOS}), (("isolinux",), {UEFI}), (("ldlinux",), {UEFI})],
)
def test_it_boots_by_every_program_that_is_there(
    iso: BootIso, tmp_path: Path, lacking: tuple[str, ...], platforms: set[int]
) -> None:
    without: dict[str, Any] = dict.fromkeys(lacking)
    programs = dataclasses.replace(ALL, **without)
    boot_iso.build(iso, programs, tmp_path / "x.iso")
    assert boots(tmp_path / "x.iso") == platforms
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernel", "ramdisk", "x.iso"]


def test_each_program_reads_its_own_file(iso: BootIso, tmp_path: Path) -> None:
    boot_iso.build(dataclasses.replace(iso, files={"openstack/latest/a.json": b"{}"}), ALL, tmp_path / "x.iso")
    grub, isolinux = (file_of(tmp_path / "x.iso", path) for path in ("/boot/grub/grub.cfg", "/isolinux/isolinux.cfg"))
    assert b"linux /vmlinuz quiet 'a=b c'\ninitrd /initrd\n" in grub
    # Not by a label, which a config drive on the disk may have as well.
    assert f"search --no-floppy --set=root --file /.disk/{MARK}".encode() in grub
    assert b'APPEND quiet "a=b c"\n' in isolinux
    assert file_of(tmp_path / "x.iso", "/openstack/latest/a.json") == b"{}"
    assert file_of(tmp_path / "x.iso", f"/.disk/{MARK}")


def test_the_system_partition_of_an_operator_is_taken_as_it_is(iso: BootIso, tmp_path: Path) -> None:
    (tmp_path / "esp").write_bytes(b"a partition" * 1000)
    programs = BootPrograms(efi_partition=tmp_path / "esp", efi_program=ALL.efi_program)
    boot_iso.build(dataclasses.replace(iso, grub_config_path="EFI/debian/grub.cfg"), programs, tmp_path / "x.iso")
    assert file_of(tmp_path / "x.iso", "/boot/grub/efi.img") == b"a partition" * 1000
    assert file_of(tmp_path / "x.iso", "/EFI/debian/grub.cfg") == file_of(tmp_path / "x.iso", "/boot/grub/grub.cfg")


def test_the_program_of_uefi_is_where_firmware_looks_for_it(iso: BootIso, tmp_path: Path) -> None:
    boot_iso.build(iso, ALL, tmp_path / "x.iso")
    (tmp_path / "esp").write_bytes(file_of(tmp_path / "x.iso", "/boot/grub/efi.img"))
    command = ["mtype", "-i", str(tmp_path / "esp"), "::EFI/BOOT/BOOTX64.EFI"]
    found = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    assert ALL.efi_program and found == ALL.efi_program.read_bytes()


def test_a_missing_part_is_named(iso: BootIso, tmp_path: Path) -> None:
    (tmp_path / "ramdisk").unlink()
    with pytest.raises(ImageCreationFailed, match=r"ramdisk: No such file"):
        boot_iso.build(iso, ALL, tmp_path / "x.iso")


def test_it_has_an_end_in_bytes(iso: BootIso, tmp_path: Path, conf: Any) -> None:
    conf(outgoing__download_max_size=1)
    with pytest.raises(ImageUnacceptable, match="download_max_size"):
        boot_iso.build(iso, ALL, tmp_path / "x.iso")
    conf(outgoing__download_max_size=100, outgoing__min_free_space=1 << 40)
    with pytest.raises(IronicError, match="not enough disk space"):
        boot_iso.build(iso, ALL, tmp_path / "x.iso")
    assert not (tmp_path / "x.iso").exists() and not list(tmp_path.glob("*.efi"))


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageCreationFailed, match="install package mtools"):
        fat_image.make(tmp_path / "x.img", fat_image.FLOPPY_SIZE, "label", {})


def test_no_other_directory_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one of the system for temporary files may be below a root that can only be read."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    fat_image.make(tmp_path / "x.img", fat_image.FLOPPY_SIZE, "label", {"a/b": b"text"})
    assert [path.name for path in tmp_path.iterdir()] == ["x.img"]


def test_what_does_not_fit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ImageCreationFailed, match="mcopy"):
        fat_image.make(tmp_path / "x.img", fat_image.FLOPPY_SIZE, "label", {"a": bytes(2 << 20)})


def test_the_options_name_the_files_of_debian() -> None:
    defaults = [CONF.efi_boot_program_by_arch["x86_64"], CONF.isolinux_bin, CONF.ldlinux_c32]
    assert defaults == list(DEBIAN.values())
    assert all(Path(path).is_file() for path in defaults)


def test_an_operator_replaces_the_files_of_the_boot_programs(iso: BootIso, tmp_path: Path) -> None:
    (tmp_path / "grub").write_text("linux {{ linux }} {{ kernel_params }} --\ninitrd {{ initrd }} # {{ mark }}")
    (tmp_path / "isolinux").write_text("KERNEL {{ kernel }}\nAPPEND initrd={{ ramdisk }} {{ arguments }}\n")
    own: dict[str, Any] = {f"{name}_template": str(tmp_path / name) for name in ("grub", "isolinux")}
    boot_iso.build(dataclasses.replace(iso, **own), ALL, tmp_path / "x.iso")
    grub, isolinux = (file_of(tmp_path / "x.iso", path) for path in ("/boot/grub/grub.cfg", "/isolinux/isolinux.cfg"))
    assert grub == f"linux /vmlinuz quiet 'a=b c' --\ninitrd /initrd # {MARK}".encode()
    assert isolinux == b'KERNEL /vmlinuz\nAPPEND initrd=/initrd quiet "a=b c"\n'


@pytest.mark.parametrize(
    "content, text",
    [
        (b"linux {{ kernel }} {{ arguments }} {{ token }}", "'token' is undefined"),
        (b"{% if %}", "Expected an expression"),
        (b"{{ kernel / 2 }}", "unsupported operand"),
        (b"\xff\xfe", "can't decode"),
        (None, "can't be read: No such file"),
    ],
)
@pytest.mark.parametrize("program", ["grub", "isolinux"])
def test_a_template_that_can_not_be_used_is_named(
    iso: BootIso, tmp_path: Path, program: str, content: bytes | None, text: str
) -> None:
    path = tmp_path / "own.j2"
    if content is not None:
        path.write_bytes(content)
    changed: dict[str, Any] = {f"{program}_template": str(path)}
    given = {"grub": iso.grub_template, "isolinux": iso.isolinux_template, program: str(path)}
    with pytest.raises(InvalidParameterValue, match=f"Boot template {path} .*{text}"):
        boot_iso.check_templates(**given)
    with pytest.raises(InvalidParameterValue, match=f"Boot template {path} .*{text}"):
        boot_iso.build(dataclasses.replace(iso, **changed), ALL, tmp_path / "x.iso")
    assert not (tmp_path / "x.iso").exists()
