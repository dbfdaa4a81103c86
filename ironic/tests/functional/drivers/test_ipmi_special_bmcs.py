"""What only some IPMI BMCs have: blades behind them, wrong cipher suites, Speed Select; the real ipmitool with them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors.hardware_errors import IPMIFailure
from ironic.core.flows import states
from ironic.drivers.modules.bmc.bmc_gateway import CallClass
from ironic.drivers.modules.ipmi.conversation import read
from ironic.drivers.modules.ipmi.management import IPMIManagement
from ironic.drivers.modules.ipmi.power import IPMIPower
from ironic.drivers.modules.ipmi.speed_select import IntelIPMIManagement
from ironic.tests.ipmi_bmc import IpmiBmc, ipmi_sim, pyghmi_bmc
from ironic.tests.unit.drivers.machine import Work, work_on

BLADE = "0x82"


@pytest.fixture(autouse=True)
def no_pauses(conf: Callable[..., Any]) -> None:
    conf(ipmi__min_command_interval=0, ipmi__command_retry_timeout=30)


# Bridging


@pytest.fixture(scope="module")
def chassis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IpmiBmc]:
    with ipmi_sim(tmp_path_factory.mktemp("chassis") / "bmc", blades=[BLADE]) as running:
        yield running


def blade_task(chassis: IpmiBmc, channel: str = "0", **changes: Any) -> Work:
    bridge = {"ipmi_bridging": "single", "ipmi_target_channel": channel, "ipmi_target_address": BLADE}
    return work_on(driver="ipmi", driver_info=chassis.driver_info(**bridge, **changes))


@pytest.mark.parametrize("local_address", [None, "0x20"])
def test_a_blade_is_switched_and_its_chassis_is_left_alone(chassis: IpmiBmc, local_address: str | None) -> None:
    blade, power = IpmiBmc(chassis.directory / BLADE, chassis.port), IPMIPower()
    task, whole = (
        blade_task(chassis, ipmi_local_address=local_address),
        work_on(driver="ipmi", driver_info=chassis.driver_info()),
    )
    blade.switch(on=False)
    chassis.switch(on=False)
    power.set_power_state(task, states.POWER_ON)
    assert (blade.is_on, chassis.is_on) == (True, False)
    assert power.get_power_state(task) == states.POWER_ON
    assert power.get_power_state(whole) == states.POWER_OFF
    power.set_power_state(task, states.POWER_OFF)
    assert not blade.is_on


def test_a_blade_has_a_vendor_and_a_boot_device_of_its_own(chassis: IpmiBmc) -> None:
    task, management = blade_task(chassis), IPMIManagement()
    assert management.detect_vendor(task) == "intel corporation"
    management.set_boot_device(task, "pxe")
    assert any(call.startswith("set boot pxe") for call in IpmiBmc(chassis.directory / BLADE, 0).calls)
    assert not any(call.startswith("set boot") for call in chassis.calls)


def test_a_channel_that_the_chassis_lacks_is_an_error(chassis: IpmiBmc) -> None:
    with pytest.raises(IPMIFailure, match="Invalid data field"):
        read(blade_task(chassis, channel="7"), ("mc", "info"))


WAY = {
    "ipmi_bridging": "dual",
    "ipmi_transit_channel": "7",
    "ipmi_transit_address": "0x82",
    "ipmi_target_channel": "0",
    "ipmi_target_address": "0x2c",
}


@pytest.mark.parametrize("local_address", [None, "0x20", "0x24"])
def test_a_module_behind_a_blade_is_reached_by_two_messages_in_one_another(
    bmc: IpmiBmc, local_address: str | None
) -> None:
    module, power = IpmiBmc(bmc.directory / "7,0x82,0,0x2c", bmc.port), IPMIPower()
    module.directory.mkdir()
    info = bmc.driver_info(**WAY, ipmi_local_address=local_address)
    task = work_on(driver="ipmi", driver_info=info)
    assert power.get_power_state(task) == states.POWER_OFF
    power.set_power_state(task, states.POWER_ON)
    assert (module.is_on, bmc.is_on) == (True, False)
    assert IPMIManagement().detect_vendor(task) == "intel corporation"
    assert "bridged 7,0x82,0,0x2c netfn=0x0 cmd=0x2 data=01" in bmc.calls


def test_a_module_that_is_not_there_is_an_error(bmc: IpmiBmc) -> None:
    with pytest.raises(IPMIFailure, match="Destination unavailable"):
        read(work_on(driver="ipmi", driver_info=bmc.driver_info(**WAY)), ("mc", "info"))


# Cipher suites


@pytest.fixture
def bmc(tmp_path: Path) -> Iterator[IpmiBmc]:
    """Run a BMC that takes cipher suite 3 only."""
    with pyghmi_bmc(tmp_path / "bmc") as running:
        yield running


def test_a_bmc_that_does_not_take_what_it_names_gets_another_cipher_suite(
    bmc: IpmiBmc, conf: Callable[..., Any]
) -> None:
    conf(ipmi__cipher_suite_versions=["3", "17"])
    (bmc.directory / "suites").write_text("3 17")
    task = work_on(driver="ipmi", driver_info=bmc.driver_info(ipmi_cipher_suite=None))
    power = IPMIPower()
    assert power.get_power_state(task) == states.POWER_OFF
    assert bmc.calls.count("cipher suites") == 1
    power.set_power_state(task, states.POWER_ON)
    # The suite that was found is named from then on.
    assert bmc.is_on and bmc.calls.count("cipher suites") == 1


@pytest.mark.parametrize("simulator", ["pyghmi", "sim"])
def test_a_cipher_suite_that_the_bmc_lacks_is_no_refused_login(tmp_path: Path, simulator: str) -> None:
    running = pyghmi_bmc if simulator == "pyghmi" else ipmi_sim
    with running(tmp_path / "other") as bmc:
        task = work_on(driver="ipmi", driver_info=bmc.driver_info(ipmi_cipher_suite="17"))
        for _ in range(4):
            with pytest.raises(IPMIFailure, match=r"(?i)authentication algorithm"):
                read(task, ("power", "status"), anew=True, kind=CallClass.TELEMETRY)
        task.node.driver_info["ipmi_cipher_suite"] = "3"
        assert IPMIPower().get_power_state(task) == states.POWER_OFF


# Speed Select


def test_a_speed_select_profile_is_chosen_for_each_socket(bmc: IpmiBmc) -> None:
    task: Any = work_on(driver="ipmi", driver_info=bmc.driver_info())
    step = {"step": "configure_intel_speedselect", "args": {"intel_speedselect_config": "0x01", "socket_count": "2"}}
    IntelIPMIManagement().execute_deploy_step(task, step)
    assert [call for call in bmc.calls if call.startswith("netfn=0x2c cmd=0x41")] == [
        "netfn=0x2c cmd=0x41 data=04000001",
        "netfn=0x2c cmd=0x41 data=04000101",
    ]
