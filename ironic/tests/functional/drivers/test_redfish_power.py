"""Redfish power against a real BMC emulator."""

from collections.abc import Callable
from typing import Any

import pytest
import sushy

from ironic.core.errors import InvalidParameterValue, PowerStateFailure
from ironic.core.flows import states
from ironic.drivers.contract import waits
from ironic.drivers.contract.task import SHUTS_DOWN, Waiter
from ironic.drivers.modules.bmc import power_actions
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.tests.functional.drivers.scripted_bmc import SYSTEM, scripted_bmc
from ironic.tests.redfish_bmc import RedfishBmc
from ironic.tests.unit.drivers.machine import Work, work_on


def real_state(task: Work) -> sushy.PowerState:
    return read(task, "looking", lambda system: system.power_state)


@pytest.fixture
def power() -> RedfishPower:
    return RedfishPower()


@pytest.mark.parametrize(
    "wanted, reached",
    [
        (states.POWER_ON, states.POWER_ON),
        (states.REBOOT, states.POWER_ON),
        (states.SOFT_REBOOT, states.POWER_ON),
        (states.POWER_OFF, states.POWER_OFF),
        (states.SOFT_POWER_OFF, states.POWER_OFF),
    ],
)
@pytest.mark.parametrize("before", [states.POWER_OFF, states.POWER_ON])
def test_it_reaches_every_state_it_offers(
    power: RedfishPower, task: Work, before: str, wanted: str, reached: str
) -> None:
    power.set_power_state(task, before)
    assert power.get_power_state(task) == before

    power.set_power_state(task, wanted)

    assert wanted in power.get_supported_power_states(task)
    assert power.get_power_state(task) == reached
    assert real_state(task) is (sushy.PowerState.ON if reached == states.POWER_ON else sushy.PowerState.OFF)


def test_it_reboots_a_machine_that_is_off_into_on(power: RedfishPower, task: Work) -> None:
    power.reboot(task)
    assert power.get_power_state(task) == states.POWER_ON


@pytest.mark.parametrize("restart", [states.REBOOT, states.SOFT_REBOOT])
def test_it_never_powers_off_a_node_that_forbids_it(power: RedfishPower, task: Work, restart: str) -> None:
    power.set_power_state(task, states.POWER_ON)
    task.node.disable_power_off = True
    power.set_power_state(task, restart)
    assert power.get_power_state(task) == states.POWER_ON


def test_it_returns_only_when_the_machine_is_there(power: RedfishPower, slow_bmc: RedfishBmc) -> None:
    task = work_on(driver_info=slow_bmc.driver_info())
    with pytest.raises(PowerStateFailure) as failure:
        power.set_power_state(task, states.POWER_ON, timeout=2)
    assert failure.value.facts["target"] == states.POWER_ON
    assert failure.value.facts["node"] == task.node.uuid
    assert slow_bmc.address in str(failure.value)
    assert real_state(task) is sushy.PowerState.OFF


def test_it_waits_as_long_as_the_option_says_when_nobody_names_a_time(
    power: RedfishPower, slow_bmc: RedfishBmc, conf: Callable[..., Any]
) -> None:
    conf(conductor__power_state_change_timeout=2, conductor__soft_power_off_timeout=1)
    task = work_on(driver_info=slow_bmc.driver_info())
    with pytest.raises(PowerStateFailure, match="within 2 seconds"):
        power.set_power_state(task, states.POWER_ON)


def test_it_refuses_a_state_it_does_not_know(power: RedfishPower, task: Work) -> None:
    with pytest.raises(InvalidParameterValue, match="suspended"):
        power.set_power_state(task, "suspended")


def test_it_says_which_bmc_refused(power: RedfishPower, task: Work, bmc: RedfishBmc) -> None:
    task.node.driver_info["redfish_system_id"] = "/redfish/v1/Systems/none-of-these"
    with pytest.raises(PowerStateFailure) as failure:
        power.set_power_state(task, states.POWER_ON)
    assert task.node.uuid in str(failure.value)
    assert bmc.address in str(failure.value)


@pytest.mark.parametrize("wanted", [states.SOFT_POWER_OFF, states.SOFT_REBOOT])
def test_a_shutdown_is_left_to_the_conductor_after_a_moment(
    power: RedfishPower, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    monkeypatch.setattr(power_actions, "_SHUTDOWN_SECONDS", 0.1)
    with scripted_bmc("On") as slow:
        slow.on_reset = lambda _kind: slow.documents[SYSTEM].update(PowerState="On")
        task = work_on(driver_info={"redfish_address": slow.address, "redfish_system_id": SYSTEM})
        with waits.waiting(task, Waiter.REQUEST):
            power.set_power_state(task, wanted, timeout=40)
        assert slow.sent() == [{"ResetType": "GracefulShutdown"}]
    assert task.notes.get(SHUTS_DOWN) == pytest.approx(39.9)
