"""Power of machines whose BMC speaks IPMI: the real ipmitool with ipmi_sim and with the BMC of pyghmi."""

import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, PowerStateFailure
from ironic.core.errors.hardware_errors import IPMIConnectionFailure, IPMIFailure, UnsupportedHardwareFeature
from ironic.core.flows import states
from ironic.drivers.contract.power_reading import odd_state_text
from ironic.drivers.modules.ipmi.power import IPMIPower
from ironic.tests.ipmi_bmc import IpmiBmc, free_udp_port, pyghmi_bmc
from ironic.tests.unit.drivers.machine import UUID, Work, work_on

KEY = bytes(range(230, 250))


@pytest.fixture(autouse=True)
def no_pauses(conf: Callable[..., Any]) -> None:
    conf(ipmi__min_command_interval=0, ipmi__command_retry_timeout=30)


@pytest.fixture(scope="module")
def with_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IpmiBmc]:
    with pyghmi_bmc(tmp_path_factory.mktemp("pyghmi") / "bmc", kg_key=KEY) as running:
        yield running


@pytest.fixture
def keyed(with_key: IpmiBmc) -> IpmiBmc:
    """Return a BMC with a key K_g and without a fault."""
    with_key.fail(None)
    return with_key


@pytest.fixture(params=["sim", "keyed"])
def bmc(request: pytest.FixtureRequest) -> IpmiBmc:
    running: IpmiBmc = request.getfixturevalue(request.param)
    return running


def task_on(bmc: IpmiBmc, **changes: Any) -> Work:
    return work_on(driver="ipmi", driver_info=bmc.driver_info(**changes))


def orders(bmc: IpmiBmc) -> list[str]:
    """Return the changes of power that ipmi_sim has got, in order."""
    return [call.removeprefix("set ") for call in bmc.calls if call.startswith("set ")]


@pytest.mark.parametrize("shared", [True, False])
def test_the_state_is_read(bmc: IpmiBmc, shared: bool) -> None:
    task = task_on(bmc)
    task.shared = shared
    for is_on, state in ((True, states.POWER_ON), (False, states.POWER_OFF)):
        bmc.switch(on=is_on)
        assert IPMIPower().get_power_state(task) == state


@pytest.mark.parametrize(
    ("action", "before", "after"),
    [
        (states.POWER_ON, False, True),
        (states.POWER_ON, True, True),
        (states.POWER_OFF, True, False),
        (states.POWER_OFF, False, False),
        (states.SOFT_POWER_OFF, True, False),
        (states.SOFT_POWER_OFF, False, False),
        (states.REBOOT, True, True),
        (states.REBOOT, False, True),
        (states.SOFT_REBOOT, True, True),
    ],
)
def test_every_action_reaches_its_state(bmc: IpmiBmc, action: str, before: bool, after: bool) -> None:
    bmc.switch(on=before)
    IPMIPower().set_power_state(task_on(bmc), action)
    assert bmc.is_on is after


def test_all_actions_are_listed(sim: IpmiBmc) -> None:
    expected = {states.POWER_ON, states.POWER_OFF, states.REBOOT, states.SOFT_REBOOT, states.SOFT_POWER_OFF}
    assert set(IPMIPower().get_supported_power_states(task_on(sim))) == expected


def test_a_restart_switches_off_and_on(sim: IpmiBmc) -> None:
    sim.switch(on=True)
    before = len(orders(sim))
    IPMIPower().reboot(task_on(sim))
    assert orders(sim)[before:] == ["power 0", "power 1"]


def test_a_machine_that_must_stay_on_is_reset(sim: IpmiBmc) -> None:
    sim.switch(on=True)
    task = task_on(sim)
    task.node.disable_power_off = True
    before = len(orders(sim))
    IPMIPower().reboot(task)
    assert [order.split()[0] for order in orders(sim)[before:]] == ["reset"]
    with pytest.raises(UnsupportedHardwareFeature, match="soft restart"):
        IPMIPower().set_power_state(task, states.SOFT_REBOOT)


def test_an_unknown_state_is_refused(sim: IpmiBmc) -> None:
    with pytest.raises(InvalidParameterValue, match="power state 'sideways'"):
        IPMIPower().set_power_state(task_on(sim), "sideways")


def test_a_bmc_that_is_not_there_is_named() -> None:
    gone = IpmiBmc(Path("/nonexistent"), free_udp_port())
    task = work_on(driver="ipmi", driver_info=gone.driver_info())
    task.shared = True
    with pytest.raises(IPMIConnectionFailure) as failed:
        IPMIPower().get_power_state(task)
    for part in (UUID, f"127.0.0.1 port {gone.port}", "power status", "ipmi_address"):
        assert part in str(failed.value)


def test_a_busy_bmc_is_asked_again(keyed: IpmiBmc, conf: Callable[..., Any]) -> None:
    conf(ipmi__command_retry_timeout=3)
    keyed.fail("busy")
    before = len(keyed.calls)
    with pytest.raises(IPMIFailure, match="Node busy"):
        IPMIPower().get_power_state(task_on(keyed))
    status = [call for call in keyed.calls[before:] if call.startswith("netfn=0x0 cmd=0x1 ")]
    assert len(status) > 1


def test_an_answer_that_stays_the_same_is_asked_for_once(keyed: IpmiBmc) -> None:
    keyed.fail("refuse")
    before = len(keyed.calls)
    with pytest.raises(PowerStateFailure, match="Parameter out of range"):
        IPMIPower().set_power_state(task_on(keyed), states.POWER_ON)
    assert len([call for call in keyed.calls[before:] if call.startswith("netfn=0x0 cmd=0x2 ")]) == 1


def test_a_wrong_key_is_named(keyed: IpmiBmc) -> None:
    with pytest.raises(IPMIFailure, match="ipmi_hex_kg_key"):
        IPMIPower().get_power_state(task_on(keyed, ipmi_hex_kg_key="00ff"[2:] * 3))


def test_version_1_5_is_spoken(sim: IpmiBmc) -> None:
    sim.switch(on=True)
    info = sim.driver_info(ipmi_protocol_version="1.5", ipmi_cipher_suite=None)
    assert IPMIPower().get_power_state(work_on(driver="ipmi", driver_info=info)) == states.POWER_ON


def test_a_cipher_suite_is_found(keyed: IpmiBmc, conf: Callable[..., Any]) -> None:
    conf(ipmi__cipher_suite_versions=["3", "17"])
    keyed.switch(on=True)
    task = task_on(keyed, ipmi_cipher_suite=None)
    for _ in range(2):
        assert IPMIPower().get_power_state(task) == states.POWER_ON


@pytest.mark.parametrize("said", ["Chassis Power is in limbo", "on", "", "Chassis Power is on\nChassis Power is off"])
def test_what_is_neither_on_nor_off_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    tool = tmp_path / "ipmitool"
    tool.write_text(f"#!/bin/sh\nprintf '%s\\n' {shlex.quote(said)}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    task: Any = work_on(driver="ipmi", driver_info={"ipmi_address": "192.0.2.1", "ipmi_password": "p"})
    assert IPMIPower().get_power_state(task) == states.ERROR
    quoted = f": it says {said.replace(chr(10), ' ')!r}" if said else ""
    assert odd_state_text(task) == f"the BMC reports a power state that is neither on nor off{quoted}"
