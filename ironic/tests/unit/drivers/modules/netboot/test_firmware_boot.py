"""Boot devices and boot modes."""

import re
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.core.errors.hardware_errors import RedfishError
from ironic.drivers.modules.netboot import PXEBoot, firmware_boot
from ironic.drivers.nodes.node_attributes import is_boot_device_persistent
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
    bmc = Firmware()
    task = machine(firmware=bmc, driver_info={"force_persistent_boot_device": forced})
    firmware_boot.boot_from_network(task, "pxe", persistent=False)
    firmware_boot.boot_from_disk(task)
    assert bmc.recorded == [("pxe", network), ("disk", disk)]


@pytest.mark.parametrize("devices, device", [(DEVICES, "uefihttp"), (["pxe", "disk"], "pxe")])
def test_http_boot_is_asked_for_where_the_bmc_knows_it(devices: list[str], device: str) -> None:
    bmc = Firmware(devices)
    firmware_boot.boot_from_network(machine(firmware=bmc), "uefihttp", persistent=False)
    assert bmc.recorded == [(device, False)]


def test_a_bmc_that_knows_no_disk_is_not_told_of_it() -> None:
    bmc = Firmware(["pxe"])
    firmware_boot.boot_from_disk(machine(firmware=bmc))
    assert bmc.recorded == []


@pytest.mark.parametrize(
    "mode, capabilities, expected",
    [
        ("bios", "boot_mode:uefi", ["uefi", ("pxe", False)]),
        ("uefi", "boot_mode:uefi", [("pxe", False)]),
        ("bios", "", [("pxe", False)]),
        (None, "boot_mode:uefi", [("pxe", False)]),
    ],
)
def test_the_mode_is_changed_when_it_is_asked_for_and_another_one(mode: Any, capabilities: str, expected: Any) -> None:
    bmc = Firmware(mode=mode)
    firmware_boot.boot_from_network(
        machine(firmware=bmc, properties={"capabilities": capabilities}), "pxe", persistent=False
    )
    assert bmc.recorded == expected


@pytest.mark.parametrize(
    "error",
    [
        RedfishError(node="n1", operation="setting the boot mode", error="it is read-only"),
        UnsupportedDriverExtension(driver="a driver", extension="set_boot_mode"),
    ],
)
def test_an_unknown_mode_that_can_not_be_set_fails_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    bmc = Firmware()

    def refuse(*_arguments: Any) -> None:
        raise error

    monkeypatch.setattr(bmc, "get_boot_mode", lambda task: None)
    monkeypatch.setattr(bmc, "set_boot_mode", refuse)
    task = machine(firmware=bmc, properties={"capabilities": "boot_mode:uefi"})
    with pytest.raises(
        InvalidParameterValue, match=f"{re.escape(str(error))}.*firmware setup.*default_boot_mode to uefi"
    ):
        firmware_boot.boot_from_network(task, "pxe", persistent=False)
    assert bmc.recorded == []


def test_other_words_are_refused() -> None:
    with pytest.raises(InvalidParameterValue, match="force_persistent_boot_device"):
        is_boot_device_persistent(Machine(driver_info={"force_persistent_boot_device": "sometimes"}), default=True)


class SecureFirmware(Firmware):
    """Firmware with secure boot."""

    secure = False

    def get_secure_boot_state(self, task: Any) -> bool:
        return self.secure

    def set_secure_boot_state(self, task: Any, state: bool) -> None:
        self.secure = state
        self.recorded.append(f"secure boot {state}")


def test_secure_boot_is_on_for_the_instance_and_off_for_ramdisks(place: Any) -> None:
    bmc, boot = SecureFirmware(mode="bios"), PXEBoot()
    task = machine(firmware=bmc, provision_state="deploying", instance_info={"capabilities": {"secure_boot": "true"}})
    boot.prepare_ramdisk(task, {})
    assert bmc.recorded == ["uefi", ("pxe", False)]
    boot.prepare_instance(task)
    assert bmc.recorded[2:] == ["secure boot True", ("disk", True)]
    boot.prepare_ramdisk(task, {})
    boot.prepare_instance(task)
    boot.clean_up_instance(task)
    assert [order for order in bmc.recorded[4:] if str(order).startswith("secure")] == [
        "secure boot False", "secure boot True", "secure boot False"
    ]  # fmt: skip
    assert task.node.secure_boot is False
