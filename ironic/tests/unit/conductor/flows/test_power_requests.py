"""Changing power by request: what is shown, what is refused, what a failure leaves."""

import pytest

from ironic.core.errors import (
    InvalidParameterValue,
    InvalidStateRequested,
    IronicError,
    MissingParameterValue,
    NoFreeConductorWorker,
    PowerStateFailure,
)
from ironic.core.flows import states


def power(bench, uuid: str, target: str, timeout: int | None = None):
    bench.endpoint.change_node_power_state(bench.context, uuid, target, timeout)
    return bench.row(uuid)


@pytest.mark.parametrize(
    "before, target, after, calls",
    [
        (None, states.POWER_ON, states.POWER_ON, ["set power on"]),
        (states.POWER_ON, states.POWER_ON, states.POWER_ON, []),
        (states.POWER_ON, states.POWER_OFF, states.POWER_OFF, ["set power off"]),
        (states.POWER_ON, states.SOFT_POWER_OFF, states.POWER_OFF, ["set soft power off"]),
        (states.POWER_OFF, states.SOFT_POWER_OFF, states.POWER_OFF, []),
        (states.POWER_OFF, states.REBOOT, states.POWER_ON, ["set rebooting"]),
        (states.POWER_ON, states.SOFT_REBOOT, states.POWER_ON, ["set soft rebooting"]),
    ],
)
def test_it_reaches_every_power_state(bench, before, target, after, calls):
    uuid = bench.node("power", power_state=before, last_error="old")
    node = power(bench, uuid, target)
    assert (node.power_state, node.target_power_state, node.last_error) == (after, None, None)
    assert [call for call in bench.script.calls if call.startswith("set")] == calls
    assert node.reservation is None
    assert node.provision_state == states.ENROLL


@pytest.mark.parametrize("before", [states.POWER_ON, states.POWER_OFF])
def test_it_notes_the_time_of_a_change_that_was_ordered(bench, before):
    past = {"last_power_state_change": "2025-01-01T00:00:00"}
    node = power(bench, bench.node("power", power_state=before, driver_internal_info=past), states.POWER_ON)
    assert (node.driver_internal_info == past) is (before == states.POWER_ON)


def test_it_hands_the_timeout_on(bench):
    uuid = bench.node("power", power_state=states.POWER_ON)
    power(bench, uuid, states.SOFT_POWER_OFF, 30)
    assert bench.script.arguments["set soft power off"] == {"timeout": 30}


@pytest.mark.parametrize("target", sorted(states.POWER_TARGET))
def test_it_shows_where_the_power_is_going(bench, target):
    seen = []
    bench.script.answers[f"set {target}"] = lambda task: seen.append(bench.row(task.node.uuid).target_power_state)
    start = states.POWER_ON if states.POWER_TARGET[target] == states.POWER_OFF else states.POWER_OFF
    power(bench, bench.node("power", power_state=start), target)
    assert seen == [states.POWER_TARGET[target]]


def test_it_says_why_the_power_did_not_change(bench):
    bench.script.answers["set power off"] = IronicError("the BMC is gone")
    uuid = bench.node("power", power_state=states.POWER_ON)
    node = power(bench, uuid, states.POWER_OFF)
    assert (node.power_state, node.target_power_state) == (states.POWER_ON, None)
    assert "the BMC is gone" in node.last_error
    assert node.reservation is None
    assert bench.history(uuid) == [("ERROR", "power", node.last_error)]


def test_it_says_once_that_the_power_did_not_change(bench):
    bench.script.answers["set power off"] = PowerStateFailure(target=states.POWER_OFF, reason="the BMC is gone")
    uuid = bench.node("power", power_state=states.POWER_ON)
    said = "the BMC is gone. Changing the power state to 'power off' failed."
    assert power(bench, uuid, states.POWER_OFF).last_error == said
    assert bench.history(uuid) == [("ERROR", "power", said)]


@pytest.mark.demand("S57")
@pytest.mark.parametrize("state", [states.CLEANING, states.CLEANWAIT])
def test_it_refuses_a_change_while_the_node_is_cleaned(bench, state):
    uuid = bench.node("power", provision_state=state)
    with pytest.raises(InvalidStateRequested):
        power(bench, uuid, states.POWER_OFF)
    assert bench.script.calls == []


@pytest.mark.demand("S57")
@pytest.mark.parametrize("values", [{"provision_state": states.CLEANFAIL}, {"maintenance": True}])
def test_it_changes_the_power_of_a_node_that_needs_an_operator(bench, values):
    uuid = bench.node("power", power_state=states.POWER_ON, **values)
    assert power(bench, uuid, states.POWER_OFF).power_state == states.POWER_OFF


@pytest.mark.parametrize("target", [states.POWER_OFF, states.SOFT_POWER_OFF])
def test_it_never_switches_some_machines_off(bench, target):
    uuid = bench.node("power", power_state=states.POWER_ON, disable_power_off=True)
    with pytest.raises(PowerStateFailure) as refusal:
        power(bench, uuid, target)
    assert refusal.value.status == 409
    assert power(bench, uuid, states.REBOOT).power_state == states.POWER_ON


def test_it_refuses_what_the_driver_does_not_know(bench):
    with pytest.raises(InvalidParameterValue, match="power sideways"):
        power(bench, bench.node("power"), "power sideways")


def test_it_refuses_a_node_that_is_not_fit_for_it(bench):
    bench.script.answers["power.validate"] = MissingParameterValue(err="no address")
    uuid = bench.node("power")
    with pytest.raises(MissingParameterValue):
        power(bench, uuid, states.POWER_ON)
    assert bench.row(uuid).target_power_state is None


def test_it_changes_nothing_when_no_worker_is_free(bench):
    uuid = bench.node("power", last_error="old")
    bench.pool.full = True
    with pytest.raises(NoFreeConductorWorker):
        power(bench, uuid, states.POWER_ON)
    node = bench.row(uuid)
    assert (node.target_power_state, node.reservation, node.last_error) == (None, None, "old")


def test_it_takes_the_target_back_when_the_worker_is_lost(bench):
    uuid = bench.node("power")
    bench.pool.lost = True
    with pytest.raises(NoFreeConductorWorker):
        power(bench, uuid, states.POWER_ON)
    node = bench.row(uuid)
    assert (node.target_power_state, node.reservation) == (None, None)
    assert "power on" in node.last_error


AGENT = {"agent_url": "http://192.0.2.7:9999", "agent_secret_token": "s"}


@pytest.mark.parametrize(
    "target, pregenerated, kept",
    [
        (states.POWER_ON, False, {"agent_url", "agent_secret_token"}),
        (states.REBOOT, False, set()),
        (states.POWER_OFF, False, set()),
        (states.REBOOT, True, {"agent_secret_token", "agent_secret_token_pregenerated"}),
    ],
)
def test_it_forgets_the_agent_that_goes_down_with_the_machine(bench, target, pregenerated, kept):
    info = AGENT | ({"agent_secret_token_pregenerated": True} if pregenerated else {})
    uuid = bench.node("power", power_state=states.POWER_ON, driver_internal_info=info)
    left = power(bench, uuid, target).driver_internal_info
    assert {key for key in left if key.startswith("agent")} == kept


def test_a_change_whose_caller_saves_nothing_leaves_no_target_behind(bench):
    uuid = bench.node("power", power_state=states.POWER_ON)
    with bench.tasks.acquire(bench.context, uuid, purpose="test") as task:
        task.change_power(states.POWER_OFF)
    node = bench.row(uuid)
    assert (node.power_state, node.target_power_state) == (states.POWER_OFF, None)


def test_a_change_that_fails_leaves_no_target_behind(bench):
    bench.script.answers["set power off"] = IronicError("the BMC is gone")
    uuid = bench.node("power", power_state=states.POWER_ON)
    with bench.tasks.acquire(bench.context, uuid, purpose="test") as task, pytest.raises(IronicError):
        task.change_power(states.POWER_OFF)
    assert bench.row(uuid).target_power_state is None
    assert bench.history(uuid) == [
        ("ERROR", "power", "the BMC is gone. Changing the power state to 'power off' failed.")
    ]
