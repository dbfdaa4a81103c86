"""Boot devices and boot modes."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.lasting_boot_device import is_persistent
from ironic.drivers.modules.netboot import firmware
from ironic.tests.unit.drivers.machine import Machine
from ironic.tests.unit.drivers.modules.netboot.conftest import Firmware, machine

DEVICES = ["pxe", "disk", "uefihttp"]


@pytest.mark.parametrize(
    "forced, network, disk",
    [
        (None, False, True),
        ("Default", False, True),
        ("Always", True, True),
        ("never", False, False),
        (True, True, True),
        ("false", False, False),
    ],
)
def test_devices_are_set_for_good_as_the_node_wants(forced: Any, network: bool, disk: bool) -> None:
    told = Firmware()
    task = machine(firmware=told, driver_info={"force_persistent_boot_device": forced})
    firmware.boot_from_network(task, "pxe", for_good=False)
    firmware.boot_from_disk(task)
    assert told.told == [("pxe", network), ("disk", disk)]


@pytest.mark.parametrize("devices, device", [(DEVICES, "uefihttp"), (["pxe", "disk"], "pxe")])
def test_http_boot_is_asked_for_where_the_bmc_knows_it(devices: list[str], device: str) -> None:
    told = Firmware(devices)
    firmware.boot_from_network(machine(firmware=told), "uefihttp", for_good=False)
    assert told.told == [(device, False)]


def test_a_bmc_that_knows_no_disk_is_not_told_of_it() -> None:
    told = Firmware(["pxe"])
    firmware.boot_from_disk(machine(firmware=told))
    assert told.told == []


@pytest.mark.parametrize(
    "mode, capabilities, told",
    [
        ("bios", "boot_mode:uefi", ["uefi", ("pxe", False)]),
        ("uefi", "boot_mode:uefi", [("pxe", False)]),
        ("bios", "", [("pxe", False)]),
        (None, "boot_mode:uefi", [("pxe", False)]),
    ],
)
def test_the_mode_is_changed_when_it_is_asked_for_and_another_one(mode: Any, capabilities: str, told: Any) -> None:
    bmc = Firmware(mode=mode)
    firmware.boot_from_network(machine(firmware=bmc, properties={"capabilities": capabilities}), "pxe", for_good=False)
    assert bmc.told == told


def test_other_words_are_refused() -> None:
    with pytest.raises(InvalidParameterValue, match="force_persistent_boot_device"):
        is_persistent(Machine(driver_info={"force_persistent_boot_device": "sometimes"}), default=True)
