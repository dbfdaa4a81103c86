"""Names, addresses and DHCP answers per way of booting."""

from pathlib import Path

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.netboot import boot_files, boot_variants
from ironic.drivers.modules.netboot.boot_variants import VARIANTS
from ironic.integrations.dhcp import Option
from ironic.tests.conftest import Setter

TFTP = [Option("siaddr", "192.0.2.1"), Option("66", "192.0.2.1")]
SCRIPT = Option("67", "http://192.0.2.1:8080/boot/boot.ipxe", True)


@pytest.mark.parametrize(
    "variant, mode, program, root, address, file",
    [
        ("pxe", "bios", "pxelinux", "tftp", "u/f", "01-52-54-00-aa-00-01"),
        ("pxe", "uefi", "grub", "tftp", "/u/f", "52:54:00:aa:00:01.conf"),
        ("http", "uefi", "grub", "http", "/boot/u/f", "52:54:00:aa:00:01.conf"),
        ("ipxe", "bios", "ipxe", "http", "http://192.0.2.1:8080/boot/u/f", "52-54-00-aa-00-01"),
        ("http-ipxe", "uefi", "ipxe", "http", "http://192.0.2.1:8080/boot/u/f", "52-54-00-aa-00-01"),
    ],
)
def test_each_program_finds_its_files(
    place: Path, variant: str, mode: str, program: str, root: str, address: str, file: str
) -> None:
    row = VARIANTS[variant]
    assert row.program(mode) == program
    places = boot_variants.Layout(row, "u")
    assert places.address("f", program) == address
    assert places.by_mac(program, "52:54:00:AA:00:01") == place / root / "pxelinux.cfg" / file
    assert places.folder == place / root / "u"


@pytest.mark.parametrize("name", ["..", "../x", "/etc", "a/b", "", ".", "a\0b", "a\n", "-"])
def test_no_name_leads_out_of_a_directory(place: Path, name: str) -> None:
    places = boot_variants.Layout(VARIANTS["ipxe"], name)
    with pytest.raises(InvalidParameterValue, match="can't name a boot file"):
        assert places.folder
    for program in boot_variants.PROGRAMS:
        with pytest.raises(InvalidParameterValue, match="can't name a boot file"):
            places.by_mac(program, name)


@pytest.mark.parametrize(
    "variant, mode, expected",
    [
        ("pxe", "bios", [*TFTP, Option("67", "pxelinux.0")]),
        ("pxe", "uefi", [*TFTP, Option("67", "bootx64.efi")]),
        ("ipxe", "bios", [*TFTP, Option("67", "undionly.kpxe", False), SCRIPT]),
        ("ipxe", "uefi", [*TFTP, Option("67", "snponly.efi", False), SCRIPT]),
        ("http", "uefi", [Option("60", "HTTPClient"), Option("67", "http://192.0.2.1:8080/boot/bootx64.efi")]),
        (
            "http-ipxe",
            "uefi",
            [
                Option("60", "HTTPClient", False),
                Option("67", "http://192.0.2.1:8080/boot/snponly.efi", False),
                SCRIPT,
            ],
        ),
    ],
)
def test_machines_are_told_what_to_fetch(place: Path, variant: str, mode: str, expected: list[Option]) -> None:
    assert boot_files.dhcp_options(VARIANTS[variant], mode, "x86_64") == expected


def test_a_boot_program_may_be_for_an_architecture(conf: Setter, place: Path) -> None:
    conf(pxe__pxe_bootfile_name_by_arch={"aarch64": "bootaa64.efi"})
    assert boot_files.boot_program_of(VARIANTS["pxe"], "uefi", "aarch64") == "bootaa64.efi"
    assert boot_files.boot_program_of(VARIANTS["ipxe"], "uefi", "aarch64") == "snponly.efi"
