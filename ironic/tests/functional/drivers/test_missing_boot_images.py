"""Boot images that another conductor has published, or that are lost: they are published and inserted again."""
# ruff: noqa: F811 - fixtures that are imported are named again by those who use them

import base64
import gzip
from pathlib import Path

import pytest
import requests

from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.memory.agent_memory import KnownAgent
from ironic.drivers.modules.redfish.orders import ramdisk_images
from ironic.drivers.modules.redfish.virtual_media_boot import RedfishVirtualMediaBoot
from ironic.tests.functional.drivers.test_virtual_media_boot import (  # noqa: F401 - fixtures among them
    PARAMETERS,
    boot,
    images,
    inserted,
    machine,
    on_cd,
)
from ironic.tests.unit.drivers.machine import Work


def move(task: Work, tmp_path: Path) -> None:
    """Take the images away, as they are on another host."""
    for path in (tmp_path / "http" / "vmedia").iterdir():
        path.unlink()


@pytest.mark.parametrize("reports", [True, False])
def test_a_ramdisk_finds_the_image_of_a_lost_conductor(
    boot: RedfishVirtualMediaBoot, machine: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reports: bool
) -> None:
    boot.prepare_ramdisk(machine, PARAMETERS)
    before, orders = inserted(machine)["CD"], list[str]()
    monkeypatch.setattr(machine, "change_power", orders.append)
    token = KnownAgent(machine.node.driver_internal_info).token
    machine.node.provision_state = "wait call-back"
    assert not ramdisk_images.are_missing(machine.node)
    move(machine, tmp_path)
    assert ramdisk_images.are_missing(machine.node)
    if reports:
        machine.node.set_driver_internal_info("agent_url", "http://192.0.2.9:9999")
    boot.restore_ramdisk(machine, None, None)
    after = inserted(machine)["CD"]
    assert after != before
    words = on_cd(after)["/boot/grub/grub.cfg"].decode().split()
    assert {f"ipa-agent-token={token}", "ipa-api-url=http://192.0.2.7:6385"} <= set(words)
    assert orders == ([] if reports else ["rebooting"])
    assert not ramdisk_images.are_missing(machine.node)
    boot.clean_up_ramdisk(machine)
    assert not ramdisk_images.are_missing(machine.node)
    assert "secret_virtual_media_boot" not in machine.node.saved["driver_internal_info"]


def test_an_image_that_no_drive_takes_is_offered_again(
    boot: RedfishVirtualMediaBoot, machine: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot.prepare_ramdisk(machine, PARAMETERS)
    machine.node.provision_state = "wait call-back"
    move(machine, tmp_path)
    with monkeypatch.context() as broken:
        broken.setitem(machine.node.driver_info, "redfish_address", "http://127.0.0.1:1")
        with pytest.raises(RedfishError):
            boot.restore_ramdisk(machine, None, None)
    assert ramdisk_images.are_missing(machine.node)
    boot.restore_ramdisk(machine, None, None)
    assert not ramdisk_images.are_missing(machine.node)


def test_an_instance_finds_its_image_and_its_config_drive_again(
    boot: RedfishVirtualMediaBoot, machine: Work, images: Path, tmp_path: Path
) -> None:
    node = machine.node
    node.instance_info = {
        "capabilities": {"boot_option": "ramdisk"},
        "boot_iso": f"file://{images}/ready.iso",
        "configdrive": base64.b64encode(gzip.compress(b"the drive")).decode(),
    }
    boot.prepare_instance(machine)
    node.provision_state = "active"
    move(machine, tmp_path)
    boot.restore_instance(machine, None, None)
    drives = inserted(machine)
    assert requests.get(drives["CD"], timeout=60).content == b"the ready.iso" * 1000
    assert requests.get(drives["Floppy"], timeout=60).content == b"the drive"
    assert machine.management.get_boot_device(machine) == {"boot_device": "cdrom", "persistent": True}
