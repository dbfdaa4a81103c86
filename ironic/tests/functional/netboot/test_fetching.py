"""What a machine gets from real servers when it boots: an address, a boot program, its file, kernel and ramdisk."""

import re
from pathlib import Path

import pytest
import requests

from ironic.drivers.modules.netboot import HttpBoot, IPXEBoot, IPXEHttpBoot, NetworkBoot, PXEBoot
from ironic.tests.conftest import Setter
from ironic.tests.functional.netboot.firmware import Firmware, Offer
from ironic.tests.site import until
from ironic.tests.unit.drivers.machine import UUID, Work
from ironic.tests.unit.drivers.modules.netboot.conftest import MAC, OTHER_MAC, machine

BIOS = {"capabilities": "boot_mode:bios"}
STRANGER = "52:54:00:aa:00:99"


@pytest.fixture
def loaders(conf: Setter, tmp_path: Path) -> bytes:
    """Have boot programs of one's own; return what is in them."""
    program = tmp_path / "program"
    program.write_bytes(b"a boot program" * 100)
    conf(pxe__loader_file_paths={name: str(program) for name in ("pxelinux.0", "bootx64.efi", "snponly.efi")})
    return program.read_bytes()


def offered(firmware: Firmware, mac: str = MAC, *, ipxe: bool = False) -> Offer:
    """Wait until dnsmasq has read its files, and return its offer."""
    found: list[Offer] = []

    def ask() -> bool:
        offer = firmware.discover(mac, ipxe=ipxe)
        found.extend([offer] if offer is not None else [])
        return bool(found)

    until(ask)
    return found[-1]


def prepared(boot: NetworkBoot, task: Work) -> None:
    boot.prepare_ramdisk(task, {"ipa-api-url": "http://192.0.2.1:6385"})


def test_pxelinux_gets_everything_over_tftp(firmware: Firmware, loaders: bytes) -> None:
    prepared(PXEBoot(), machine(properties=BIOS))
    offer = offered(firmware)
    assert offer.boot_program == "pxelinux.0"
    assert firmware.fetch(f"{offer.boot_program}") == loaders
    config = (firmware.fetch("pxelinux.cfg/01-52-54-00-aa-00-01") or b"").decode()
    kernel, ramdisk = re.findall(r"kernel (\S+)|initrd=(\S+)", config)
    assert (firmware.fetch(kernel[0]), firmware.fetch(ramdisk[1])) == (b"the kernel", b"the ramdisk")


def test_grub_gets_everything_over_tftp(firmware: Firmware, loaders: bytes) -> None:
    prepared(PXEBoot(), machine())
    offer = offered(firmware)
    assert firmware.fetch(offer.boot_program) == loaders
    assert offer.options[66].rstrip(b"\0").decode() == offer.next_server
    (path,) = re.findall(r"set file=(\S+)", (firmware.fetch("grub/grub.cfg") or b"").decode())
    config = (firmware.fetch(path.replace("$net_default_mac", MAC.lower())) or b"").decode()
    (kernel,), (ramdisk,) = re.findall(r"linux (\S+)", config), re.findall(r"initrd (\S+)", config)
    assert (firmware.fetch(kernel), firmware.fetch(ramdisk)) == (b"the kernel", b"the ramdisk")


def test_ipxe_comes_over_tftp_and_fetches_the_rest_from_the_web(firmware: Firmware, web: str, loaders: bytes) -> None:
    prepared(IPXEBoot(), machine())
    assert firmware.fetch(offered(firmware).boot_program) == loaders
    script = requests.get(offered(firmware, ipxe=True).boot_program, timeout=10).text
    url = re.findall(r"chain --autofree (\S+)", script)[0].replace("${mac:hexhyp}", MAC.lower().replace(":", "-"))
    config = requests.get(url, timeout=10).text
    (kernel,), (ramdisk,) = re.findall(r"kernel (http\S+)", config), re.findall(r"initrd (http\S+)", config)
    assert requests.get(kernel, timeout=10).content == b"the kernel"
    assert requests.get(ramdisk, timeout=10).content == b"the ramdisk"


@pytest.mark.parametrize("cls", [HttpBoot, IPXEHttpBoot])
def test_firmware_fetches_its_boot_program_from_the_web(
    firmware: Firmware, web: str, loaders: bytes, cls: type[NetworkBoot]
) -> None:
    prepared(cls(), machine())
    offer = offered(firmware)
    assert offer.options[60] == b"HTTPClient"
    assert requests.get(offer.boot_program, timeout=10).content == loaders


def test_only_the_machine_itself_is_answered_and_only_for_as_long_as_it_boots(firmware: Firmware) -> None:
    boot, task = PXEBoot(), machine(properties=BIOS)
    prepared(boot, task)
    offered(firmware)
    assert firmware.discover(STRANGER) is None
    boot.clean_up_ramdisk(task)
    until(lambda: firmware.discover(MAC) is None)
    assert firmware.fetch(f"{UUID}/deploy_kernel") is None
    assert firmware.fetch("pxelinux.cfg/01-52-54-00-aa-00-01") is None


def test_a_machine_that_boots_otherwise_the_next_time_is_told_so(firmware: Firmware, web: str) -> None:
    task = machine(properties=BIOS)
    prepared(PXEBoot(), task)
    assert offered(firmware).boot_program == "pxelinux.0"
    PXEBoot().clean_up_ramdisk(task)
    task.node.properties = {}
    prepared(HttpBoot(), task)
    until(lambda: offered(firmware).boot_program == f"{web}/bootx64.efi")
    assert firmware.discover(OTHER_MAC) is None
