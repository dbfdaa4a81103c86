"""Power states that no BMC should report: nothing is ordered that could leave a machine off."""

import json
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import PowerStateFailure
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.agent import ramdisk_boot
from ironic.drivers.modules.ipmi.power import IPMIPower
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.test_odd_machines import RESET, on
from ironic.tests.unit.drivers.machine import Work, work_on

ODD = [None, "", "Weird", "N/A", 5, True, [], ["On"], {"State": "On"}]
RESTARTS = [states.REBOOT, states.SOFT_REBOOT]


@pytest.fixture
def resets() -> list[str]:
    return []


@pytest.fixture
def bmc(resets: list[str]) -> Iterator[HostileBmc]:
    with hostile_bmc() as running:

        def note(handler: Handler) -> bool:
            if handler.path == RESET:
                resets.append(json.loads(handler.content)["ResetType"])
            return False

        running.misbehave = note
        yield running


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("stays_on", [True, False])
@pytest.mark.parametrize("restart", RESTARTS)
def test_a_machine_in_an_unknown_state_is_not_restarted(
    bmc: HostileBmc, resets: list[str], odd: Any, stays_on: bool, restart: str
) -> None:
    bmc.documents[SYSTEM]["PowerState"] = odd
    with pytest.raises(PowerStateFailure, match="no power state that is known.*nothing was ordered"):
        RedfishPower().set_power_state(on(bmc, disable_power_off=stays_on), restart)
    assert resets == []


@pytest.mark.parametrize(
    ("shown", "state"),
    [("On", "power on"), (" on ", "power on"), ("poweringOff", "power off"), ("Paused", None)]
    + [(odd, None) for odd in ODD],
)
def test_a_state_is_read_in_any_case_and_not_made_up(bmc: HostileBmc, shown: Any, state: str | None) -> None:
    bmc.documents[SYSTEM]["PowerState"] = shown
    assert RedfishPower().get_power_state(on(bmc)) == state


@pytest.mark.parametrize("is_list", [True, False])
def test_what_is_no_machine_has_no_power_state(bmc: HostileBmc, is_list: bool) -> None:
    bmc.documents[SYSTEM] = {"PowerState": "On", **({"@odata.id": SYSTEM, "Members": []} if is_list else {})}
    with pytest.raises(RedfishError, match=f"Id.* {SYSTEM}"):
        RedfishPower().get_power_state(on(bmc))


def test_the_power_state_takes_one_request(bmc: HostileBmc) -> None:
    settings = f"{SYSTEM}/Settings"
    bmc.documents[SYSTEM] |= {"Boot": {}, "@Redfish.Settings": {"SettingsObject": {"@odata.id": settings}}}
    bmc.documents[settings] = {"Id": "Settings", "Name": "Settings", "Boot": {"BootSourceOverrideMode": "UEFI"}}
    RedfishPower().get_power_state(on(bmc))
    bmc.requests.clear()
    RedfishPower().get_power_state(on(bmc))
    assert bmc.requests == [("GET", SYSTEM)]


@pytest.mark.parametrize("state", ["On", "on", "PoweringOn", "Paused", "Off", "PoweringOff"])
@pytest.mark.parametrize("restart", RESTARTS)
def test_a_restart_switches_no_machine_off_that_must_stay_on(
    bmc: HostileBmc, resets: list[str], state: str, restart: str
) -> None:
    bmc.documents[SYSTEM]["PowerState"] = state
    RedfishPower().set_power_state(on(bmc, disable_power_off=True), restart)
    reset = "ForceRestart" if restart == states.REBOOT else "GracefulRestart"
    assert resets == (["On"] if "off" in state.lower() else [reset])


@pytest.mark.parametrize("target", [states.POWER_OFF, states.SOFT_POWER_OFF])
def test_no_order_switches_a_machine_off_that_must_stay_on(bmc: HostileBmc, resets: list[str], target: str) -> None:
    for state in ("On", "Weird"):
        bmc.documents[SYSTEM]["PowerState"] = state
        with pytest.raises(PowerStateFailure, match="disable_power_off"):
            RedfishPower().set_power_state(on(bmc, disable_power_off=True), target)
    assert resets == []


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("target, reset", [(states.POWER_ON, "On"), (states.POWER_OFF, "ForceOff")])
def test_a_change_is_done_only_when_the_state_is_read(
    bmc: HostileBmc, resets: list[str], odd: Any, target: str, reset: str
) -> None:
    bmc.documents[SYSTEM]["PowerState"] = odd
    RedfishPower().set_power_state(on(bmc), target)
    assert resets == [reset]

    def stays_odd(handler: Handler) -> bool:
        if handler.path == RESET:
            handler.answer(204, None)
        return handler.path == RESET

    bmc.documents[SYSTEM]["PowerState"], bmc.misbehave = odd, stays_odd
    with pytest.raises(PowerStateFailure, match=f"did not report '{target}'"):
        RedfishPower().set_power_state(on(bmc), target, timeout=1)


@pytest.mark.parametrize(
    "state, resets_sent", [("On", ["ForceRestart"]), ("Off", ["On"]), ("Weird", []), (None, []), (7, [])]
)
def test_a_machine_that_must_stay_on_comes_up_anew_or_the_flow_fails(
    bmc: HostileBmc, resets: list[str], state: Any, resets_sent: list[str]
) -> None:
    bmc.documents[SYSTEM]["PowerState"] = state
    task = on(bmc, disable_power_off=True)
    task.driver = BareDriver({"power": RedfishPower()})
    ramdisk_boot.switch_off(task)
    if resets_sent:
        ramdisk_boot.switch_on(task)
    else:
        with pytest.raises(PowerStateFailure, match="nothing was ordered"):
            ramdisk_boot.switch_on(task)
    assert resets == resets_sent


def test_a_setting_of_a_machine_that_must_stay_on_leaves_it_on(bmc: HostileBmc, resets: list[str]) -> None:
    bmc.documents[SYSTEM] |= {"PowerState": "Off", "Boot": {"BootSourceOverrideMode": "Legacy"}}
    usual = bmc.misbehave

    def restarted(handler: Handler) -> bool:
        if handler.path == RESET:
            bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideMode"] = "UEFI"
        return usual(handler)

    bmc.misbehave = restarted
    task = on(bmc, disable_power_off=True)
    task.driver = BareDriver({"power": RedfishPower(), "management": RedfishManagement()})
    RedfishManagement().set_boot_mode(task, "uefi")
    assert resets == ["On"]


# IPMI


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conf: Callable[..., Any]) -> Callable[[str], None]:
    """Return what sets the words of a power state that an ipmitool shows, which records its orders."""
    conf(ipmi__min_command_interval=0)

    def shows(said: str) -> None:
        path = tmp_path / "ipmitool"
        path.write_text(
            f"#!/bin/sh\ncase \"$*\" in *'power status') printf '%s\\n' {shlex.quote(said)};;\n"
            f"*' power '*) echo \"$*\" >> {tmp_path}/orders;; esac\n"
        )
        path.chmod(0o755)

    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return shows


def ipmi_machine(**values: Any) -> Work:
    return work_on(driver="ipmi", driver_info={"ipmi_address": "192.0.2.1", "ipmi_password": "p"}, **values)


@pytest.mark.parametrize("said", ["Chassis Power is in limbo", "Chassis Power is", "", "Chassis Power is on\nor off"])
@pytest.mark.parametrize("stays_on", [True, False])
def test_an_ipmi_machine_in_an_unknown_state_is_not_restarted(
    tool: Callable[[str], None], tmp_path: Path, said: str, stays_on: bool
) -> None:
    tool(said)
    with pytest.raises(PowerStateFailure, match="neither on nor off.*nothing was ordered"):
        IPMIPower().reboot(ipmi_machine(disable_power_off=stays_on))
    assert not (tmp_path / "orders").exists()


@pytest.mark.parametrize("target", [states.POWER_ON, states.POWER_OFF, states.SOFT_POWER_OFF])
@pytest.mark.parametrize("said", ["Chassis Power is in limbo", ""])
def test_a_wait_that_ends_in_an_unknown_state_says_what_the_bmc_answered(
    tool: Callable[[str], None], tmp_path: Path, target: str, said: str
) -> None:
    tool(said)
    with pytest.raises(PowerStateFailure) as failed:
        IPMIPower().set_power_state(ipmi_machine(), target, timeout=1)
    assert f"within 1 seconds; in place of on or off it says {said!r}. Check the machine" in str(failed.value)
    assert len((tmp_path / "orders").read_text().splitlines()) == 1


def test_a_wait_that_ends_in_the_other_state_says_nothing_of_an_earlier_answer(tool: Callable[[str], None]) -> None:
    task = ipmi_machine()
    tool("Chassis Power is in limbo")
    assert IPMIPower().get_power_state(task) == states.ERROR
    tool("Chassis Power is on")
    with pytest.raises(PowerStateFailure, match=r"within 1 seconds\. Check"):
        IPMIPower().set_power_state(task, states.POWER_OFF, timeout=1)


@pytest.mark.parametrize("target", [states.POWER_OFF, states.SOFT_POWER_OFF])
def test_no_order_switches_an_ipmi_machine_off_that_must_stay_on(
    tool: Callable[[str], None], tmp_path: Path, target: str
) -> None:
    tool("Chassis Power is on")
    with pytest.raises(PowerStateFailure, match="disable_power_off"):
        IPMIPower().set_power_state(ipmi_machine(disable_power_off=True), target)
    assert not (tmp_path / "orders").exists()
