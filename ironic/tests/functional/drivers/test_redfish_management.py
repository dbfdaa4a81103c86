"""Redfish management against a real BMC emulator."""

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import FailedToGetSensorData, RedfishError
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.tests.redfish_bmc import RedfishBmc
from ironic.tests.unit.drivers.machine import UUID, Work, work_on


@pytest.fixture
def management() -> RedfishManagement:
    return RedfishManagement()


@pytest.mark.parametrize("device", ["pxe", "disk", "cdrom"])
def test_it_sets_the_boot_device(management: RedfishManagement, task: Work, device: str) -> None:
    management.set_boot_device(task, device, persistent=True)
    assert management.get_boot_device(task) == {"boot_device": device, "persistent": True}


def test_it_lists_what_this_bmc_can_boot_from(management: RedfishManagement, task: Work) -> None:
    assert management.get_supported_boot_devices(task) == ["pxe", "disk", "cdrom", "uefihttp"]


@pytest.mark.parametrize("device", ["floppy", "punched card"])
def test_it_refuses_a_boot_device_the_machine_has_not(management: RedfishManagement, task: Work, device: str) -> None:
    before = management.get_boot_device(task)
    with pytest.raises(InvalidParameterValue, match=UUID):
        management.set_boot_device(task, device)
    assert management.get_boot_device(task) == before


@pytest.mark.parametrize("mode", ["bios", "uefi"])
def test_it_sets_the_boot_mode(management: RedfishManagement, task: Work, mode: str) -> None:
    management.set_boot_mode(task, mode)
    assert management.get_boot_mode(task) == mode
    assert mode in management.get_supported_boot_modes(task)


def test_it_refuses_an_unknown_boot_mode(management: RedfishManagement, task: Work) -> None:
    with pytest.raises(InvalidParameterValue, match="openfirmware"):
        management.set_boot_mode(task, "openfirmware")


def test_it_turns_secure_boot_on_and_off(management: RedfishManagement, task: Work) -> None:
    for wanted in (True, True, False, False):
        management.set_secure_boot_state(task, wanted)
        assert management.get_secure_boot_state(task) is wanted


@pytest.mark.parametrize("step", ["clear_secure_boot_keys", "reset_secure_boot_keys_to_default"])
def test_it_says_so_when_the_bmc_can_not_reset_keys(management: RedfishManagement, task: Work, step: str) -> None:
    with pytest.raises(RedfishError, match="ResetKeys"):
        management.execute_clean_step(task, {"step": step, "interface": "management"})


def test_it_reads_temperatures_and_fans(management: RedfishManagement, task: Work) -> None:
    sensors = management.get_sensors_data(task)
    assert set(sensors) == {"Fan", "Temperature", "Power", "Drive", "Extra"}
    assert sensors["Extra"]["UUID"] in task.node.driver_info["redfish_system_id"]
    assert {fan["reading"] for fan in sensors["Fan"].values()} == {2100, 2050}
    assert all(fan["reading_units"] == "RPM" and fan["health"] == "OK" for fan in sensors["Fan"].values())
    assert 41 in {probe["reading_celsius"] for probe in sensors["Temperature"].values()}
    assert [drive["capacity_bytes"] for drive in sensors["Drive"].values()] == [480_000_000_000]
    assert sensors["Power"] == {}


def test_it_reads_the_other_sensors_of_a_bmc_with_a_broken_part(management: RedfishManagement, bmc: RedfishBmc) -> None:
    task = work_on(driver_info=bmc.driver_info(-1))
    sensors = management.get_sensors_data(task)
    assert sensors["Drive"] == {}
    assert sensors["Fan"]
    assert management.get_supported_indicators(task, "disk") == {"disk": {}}


def test_it_says_why_sensors_can_not_be_read(management: RedfishManagement, task: Work) -> None:
    task.node.driver_info["redfish_system_id"] = "/redfish/v1/Systems/none-of-these"
    with pytest.raises(FailedToGetSensorData, match=UUID):
        management.get_sensors_data(task)


def test_it_knows_health_vendor_and_addresses(management: RedfishManagement, bmc: RedfishBmc) -> None:
    task = work_on(driver_info=bmc.driver_info(0))
    assert management.get_node_health(task) == "OK"
    assert management.detect_vendor(task) == "Sushy Emulator"
    assert management.get_mac_addresses(task) == bmc.mac_addresses(0)


def test_it_reports_a_failed_nmi(management: RedfishManagement, task: Work) -> None:
    # The emulator offers the action and does not implement it.
    with pytest.raises(RedfishError) as failure:
        management.inject_nmi(task)
    assert failure.value.facts["operation"] == "sending an NMI"


def test_it_switches_lights(management: RedfishManagement, task: Work) -> None:
    lights = management.get_supported_indicators(task)
    assert lights["chassis"]
    name = next(iter(lights["chassis"]))
    for state in ("on", "blinking", "off"):
        management.set_indicator_state(task, "chassis", name, state)
        assert management.get_indicator_state(task, "chassis", name) == state


def test_it_refuses_lights_that_are_not_there(management: RedfishManagement, task: Work) -> None:
    name = next(iter(management.get_supported_indicators(task, "chassis")["chassis"]))
    for component, indicator, state in (("nic", name, "on"), ("chassis", "none", "on"), ("chassis", name, "purple")):
        with pytest.raises(InvalidParameterValue, match=UUID):
            management.set_indicator_state(task, component, indicator, state)


def test_it_lists_and_empties_virtual_drives(management: RedfishManagement, task: Work) -> None:
    management.detach_virtual_media(task)
    assert management.get_virtual_media(task) == [
        {"media_types": ["CD", "DVD"], "inserted": False, "image": ""},
        {"media_types": ["Floppy", "USBStick"], "inserted": False, "image": ""},
    ]
    with pytest.raises(InvalidParameterValue, match="punched card"):
        management.attach_virtual_media(task, "punched card", "http://192.0.2.1/x.iso")
