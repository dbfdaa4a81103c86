"""The engine, with scripted interfaces: what runs, what is stored when, and how each ending looks.

The same tests run on every flow a user sees; what differs between the flows stands in the tables.
"""

import syslog
from datetime import datetime, timedelta
from typing import Any

import pytest

from ironic.conductor.flows import wait_ends
from ironic.conductor.takeover import RESTARTED, TakeOver
from ironic.core.errors import CleanStepFailed, IronicError, NodeLocked, TakenOver
from ironic.core.flows import states
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.unit.conductor.flows.bench import HOST
from ironic.tests.unit.conductor.flows.kinds import CLEAN, DEPLOY, SERVICE, begin, every_flow, played, resume


@every_flow
def test_it_runs_every_step_to_the_end(bench, kind):
    uuid = begin(bench, kind, "first", "second", "third")
    node = bench.row(uuid)
    assert played(bench) == ["first", "second", "third"]
    assert bench.state(uuid) == kind.done
    assert getattr(node, kind.column) == {}
    assert node.reservation is None
    assert not any(key.startswith((kind.name, "steps_", "user_")) for key in node.driver_internal_info)
    assert (node.maintenance, node.fault, node.last_error) == (False, None, None)


@every_flow
def test_it_runs_a_users_order(bench, kind):
    uuid = begin(bench, kind, "third", "first")
    assert played(bench) == ["third", "first"]
    assert bench.state(uuid) == kind.done


@every_flow
def test_it_hands_arguments_to_the_step(bench, kind):
    begin(bench, kind, "on_demand", on_demand={"speed": 7})
    assert bench.script.arguments["on_demand"] == {"speed": 7}


@pytest.mark.demand("S50")
@every_flow
def test_it_stores_the_step_before_it_runs(bench, kind):
    seen = []

    def look(task: Any) -> None:
        stored = bench.row(task.node.uuid)
        info = stored.driver_internal_info
        seen.append((getattr(stored, kind.column)["step"], info[f"{kind.name}_step_index"], stored.provision_state))
        assert [step["step"] for step in info[f"{kind.name}_steps"]][:2] == ["first", "second"]
        assert stored.reservation == HOST

    bench.script.answers = {"first": look, "second": look}
    begin(bench, kind, "first", "second")
    assert seen == [("first", 0, kind.working), ("second", 1, kind.working)]


@every_flow
def test_it_shows_which_step_of_how_many_runs_and_since_when(bench, kind):
    bench.script.answers = {"second": kind.waiting}
    before = bench.store.clock.now()
    uuid = begin(bench, kind, "first", "second", "third")
    node = bench.row(uuid)
    memory = node.driver_internal_info
    planned = memory[f"{kind.name}_steps"]
    assert planned[memory[f"{kind.name}_step_index"]] == getattr(node, kind.column)
    assert [step["step"] for step in planned[:3]] == ["first", "second", "third"]
    since = datetime.fromisoformat(memory[f"{kind.name}_step_started_at"])
    assert before <= since <= bench.store.clock.now()
    bench.script.answers = {}
    resume(bench, uuid)
    kept = bench.row(uuid).driver_internal_info
    assert not {f"{kind.name}_step_index", f"{kind.name}_step_started_at"} & kept.keys()


@every_flow
def test_the_history_says_how_long_a_step_took(bench, kind):
    bench.script.answers = {"first": kind.waiting}
    uuid = begin(bench, kind, "first", "third")
    node = bench.row(uuid)
    earlier = node.now() - timedelta(minutes=2)
    node.set_driver_internal_info(f"{kind.name}_step_started_at", earlier.isoformat())
    node.save()
    resume(bench, uuid)
    took = bench.store.history.rows(("event", "duration_seconds"), filters={"node_id": node.id})
    ended = {event: seconds for event, seconds in took if event.endswith("ended")}
    assert ended[f"{kind.name} step vendor.first ended"] in range(120, 180)
    assert ended[f"{kind.name} step vendor.third ended"] in range(60)
    assert {seconds for event, seconds in took if event.endswith("begins")} == {None}


@pytest.mark.demand("S63")
@every_flow
def test_it_waits_without_holding_the_node_and_goes_on_with_the_next_step(bench, kind):
    bench.script.answers = {"first": kind.waiting}
    uuid = begin(bench, kind, "first", "second")
    waiting = bench.row(uuid)
    assert bench.state(uuid) == (kind.waiting, kind.target)
    assert getattr(waiting, kind.column)["step"] == "first"
    assert waiting.reservation is None
    resume(bench, uuid)
    assert played(bench) == ["first", "second"]
    assert bench.state(uuid) == kind.done


@every_flow
def test_it_runs_a_step_again_that_asked_for_it(bench, kind):
    def once_more(task: Any) -> str | None:
        if played(bench).count("first") > 1:
            return None
        task.node.set_driver_internal_info(f"skip_current_{kind.name}_step", False)
        return kind.waiting

    bench.script.answers = {"first": once_more}
    uuid = begin(bench, kind, "first", "second")
    resume(bench, uuid)
    assert played(bench) == ["first", "first", "second"]
    assert f"skip_current_{kind.name}_step" not in bench.row(uuid).driver_internal_info


@pytest.mark.demand("S64")
@pytest.mark.parametrize(
    "raised",
    [IronicError("the disk is on fire"), CleanStepFailed(node="n", step="s", reason="r"), RuntimeError("boom")],
)
def test_a_failing_clean_step_raises_its_error_once(bench, caplog, raised):
    bench.script.answers = {"first": raised}
    uuid = begin(bench, CLEAN, "first")
    told = [record.getMessage() for record in caplog.records if ": CleanStepFailed: " in record.getMessage()]
    assert len(told) == 1
    said = bench.row(uuid).last_error
    assert said.endswith(f". Clean step vendor.first failed on node {uuid}.")
    assert said.count(f"failed on node {uuid}") == 1


@pytest.mark.demand("S64")
def test_it_names_a_failed_clean_step_by_its_error(bench):
    bench.script.answers = {"first": IronicError("the disk is on fire")}
    uuid = begin(bench, CLEAN, "first")
    expected = CleanStepFailed(node=uuid, step="vendor.first", reason="the disk is on fire")
    assert bench.row(uuid).last_error == str(expected)


FAILURES = {
    "an error of ours": (IronicError("the disk is on fire"), "the disk is on fire"),
    "an unexpected error": (RuntimeError("boom"), "unexpected RuntimeError: boom"),
    "a strange answer": ("done and dusted", "'done and dusted'"),
    "an answer that is no word": ({"a": 1}, "{'a': 1}"),
}


@every_flow
@pytest.mark.parametrize("how", FAILURES)
def test_it_fails_with_a_reason_that_names_the_step(bench, kind, how):
    bench.script.answers["second"], words = FAILURES[how]
    uuid = begin(bench, kind, "first", "second", "third")
    node = bench.row(uuid)
    assert played(bench) == ["first", "second"]
    assert bench.state(uuid) == (kind.failed, kind.target)
    assert words in node.last_error
    assert "vendor.second" in node.last_error
    assert getattr(node, kind.column) == {}
    assert node.reservation is None
    assert [step["step"] for step in node.driver_internal_info[f"{kind.name}_steps"]][:2] == ["first", "second"]
    severity, event_type, event = bench.history(uuid)[-1]
    assert (severity, event) == ("ERROR", node.last_error)
    assert event_type == {"clean": "cleaning", "deploy": "deploying", "service": "servicing"}[kind.name]


@pytest.mark.demand("S55")
@every_flow
def test_it_takes_the_node_into_maintenance_when_the_flow_is_about_the_machine(bench, kind):
    bench.script.answers = {"first": IronicError("the disk is on fire")}
    uuid = begin(bench, kind, "first", node={"power_state": "power on"})
    node = bench.row(uuid)
    assert (node.maintenance, node.fault) == (kind.fault is not None, kind.fault)
    assert (node.maintenance_reason is not None) == node.maintenance
    if node.maintenance:
        assert "vendor.first" in node.maintenance_reason
    assert node.power_state == "power on"


@every_flow
@pytest.mark.parametrize("text", ["a\0b", "half \ud800", "long " * 100_000], ids=["NUL", "half a character", "long"])
@pytest.mark.parametrize("waits", [False, True])
def test_it_fails_whatever_text_a_driver_gives_as_the_reason(bench, kind, text, waits):
    bench.script.answers = {"first": kind.waiting if waits else IronicError(text)}
    uuid = begin(bench, kind, "first")
    if waits:
        with bench.tasks.acquire(bench.context, uuid, purpose="poll") as task:
            wait_ends.fail_polled_step(task, text)
    node = bench.row(uuid)
    assert (node.provision_state, node.fault, node.reservation) == (kind.failed, kind.fault, None)
    assert len(node.last_error) < 5000
    assert len(node.maintenance_reason or "") < 5000


CLEARS_UP = {"clean": "tear_down_cleaning", "deploy": "clean_up", "service": "tear_down_service"}


@every_flow
def test_it_clears_up_after_a_failure_and_says_so_when_that_fails_too(bench, kind):
    bench.script.answers = {"second": IronicError("first fault"), CLEARS_UP[kind.name]: IronicError("second fault")}
    uuid = begin(bench, kind, "second")
    error = bench.row(uuid).last_error
    assert CLEARS_UP[kind.name] in bench.script.calls
    assert error.index("first fault") < error.index("second fault")
    assert bench.state(uuid)[0] == kind.failed


class Killed(BaseException):
    """The conductor ends here."""


def killed_after_a_save(task):
    task.node.save()
    raise Killed


def fail_and_be_killed(bench, kind, reason):
    """Start a flow that waits, and kill the conductor while it clears up after the failure of the wait."""
    bench.script.answers = {"first": kind.waiting, CLEARS_UP[kind.name]: killed_after_a_save}
    uuid = begin(bench, kind, "first", "second", node={"power_state": "power on"})
    with pytest.raises(Killed), bench.tasks.acquire(bench.context, uuid, purpose="time-out") as task:
        wait_ends.end_wait(task, reason)
    bench.script.answers = {}
    # A conductor that is killed does not release its nodes.
    bench.store.nodes.reserve(uuid, HOST)
    TakeOver(bench.tasks, HashRingManager(bench.store, heartbeat_timeout=60)).own(RESTARTED)
    return uuid


@pytest.mark.parametrize("kind", [CLEAN, SERVICE], ids=lambda kind: kind.name)
def test_a_failure_is_recorded_although_its_conductor_was_killed_while_it_cleared_up(bench, kind):
    uuid = fail_and_be_killed(bench, kind, "The agent is silent.")
    node = bench.row(uuid)
    assert (bench.state(uuid)[0], node.reservation) == (kind.failed, None)
    assert (node.maintenance, node.fault) == (True, kind.fault)
    assert "was restarted" in node.last_error
    assert played(bench) == ["first"]


def test_a_failed_deployment_whose_clean_up_was_cut_short_fails_again_and_runs_no_step_twice(bench):
    uuid = fail_and_be_killed(bench, DEPLOY, "The agent is silent.")
    assert bench.state(uuid)[0] == DEPLOY.waiting
    assert bench.row(uuid).deploy_step["step"] == "first"
    bench.beat(uuid)
    assert played(bench) == ["first"]
    with bench.tasks.acquire(bench.context, uuid, purpose="time-out") as task:
        wait_ends.end_wait(task, "The agent is silent.")
    assert bench.state(uuid)[0] == DEPLOY.failed
    assert "The agent is silent." in bench.row(uuid).last_error


PREPARES = {"clean": "prepare_cleaning", "deploy": "prepare", "service": "prepare_service"}


@every_flow
def test_it_fails_when_the_machine_can_not_be_prepared(bench, kind):
    bench.script.answers = {PREPARES[kind.name]: IronicError("no network")}
    uuid = begin(bench, kind, "second")
    node = bench.row(uuid)
    assert played(bench) == []
    assert bench.state(uuid)[0] == kind.failed
    assert "no network" in node.last_error
    assert node.fault == kind.fault


@pytest.mark.parametrize("kind", [CLEAN, SERVICE], ids=lambda kind: kind.name)
def test_it_waits_for_the_ramdisk_and_plans_when_that_has_come(bench, kind):
    bench.script.answers = {PREPARES[kind.name]: kind.waiting}
    uuid = begin(bench, kind, "second")
    node = bench.row(uuid)
    assert bench.state(uuid) == (kind.waiting, kind.target)
    assert getattr(node, kind.column) == {}
    assert played(bench) == []
    bench.beat(uuid)
    assert played(bench) == ["second"]
    assert bench.state(uuid) == kind.done


@pytest.mark.parametrize("kind", [CLEAN, SERVICE], ids=lambda kind: kind.name)
@pytest.mark.parametrize("names, disable, boots", [(["first"], False, False), (["second"], False, True)])
def test_it_boots_the_ramdisk_only_when_a_step_needs_it(bench, kind, names, disable, boots):
    begin(bench, kind, *names)
    assert (PREPARES[kind.name] in bench.script.calls) is boots
    assert (CLEARS_UP[kind.name] in bench.script.calls) is boots


@pytest.mark.parametrize("kind", [CLEAN, SERVICE], ids=lambda kind: kind.name)
def test_it_refuses_a_list_before_the_machine_is_touched(bench, kind):
    uuid = bench.node("vendor", "deploy", provision_state=kind.begins_in)
    listed = [{"interface": "vendor", "step": "second", "args": {"odd": 1}}]
    assert bench.verb(uuid, kind.verb, **{kind.asks: listed}) == (kind.failed, kind.target)
    node = bench.row(uuid)
    assert "odd" in node.last_error
    assert bench.script.calls == []
    # As clients know it: a refused list is no fault of the machine in cleaning, but takes a serviced node out.
    assert node.fault == (None if kind is CLEAN else "service failure")
    assert node.maintenance is (kind is SERVICE)


@pytest.mark.parametrize("kind", [CLEAN, SERVICE], ids=lambda kind: kind.name)
def test_it_refuses_steps_nobody_has_once_the_machine_is_prepared(bench, kind):
    uuid = bench.node("vendor", "deploy", provision_state=kind.begins_in)
    listed = [{"interface": "vendor", "step": "of_some_agent"}]
    bench.verb(uuid, kind.verb, **{kind.asks: listed})
    assert bench.state(uuid)[0] == kind.failed
    assert bench.script.calls == [PREPARES[kind.name], CLEARS_UP[kind.name]]
    assert "vendor.of_some_agent" in bench.row(uuid).last_error


@every_flow
def test_it_refuses_a_change_after_its_lock_was_taken_away(bench, kind):
    """What a conductor that was taken for dead does afterwards is dropped, and touches nothing."""

    def robbed(task: Any) -> None:
        bench.store.nodes.update(task.node.uuid, {"reservation": "another", "last_error": "taken over"})

    bench.script.answers = {"second": robbed}
    uuid = begin(bench, kind, "second", "third")
    node = bench.row(uuid)
    assert played(bench) == ["second"]
    assert (node.reservation, node.last_error, node.provision_state) == ("another", "taken over", kind.working)
    with pytest.raises(NodeLocked):
        bench.verb(uuid, "manage")


def test_it_lets_the_loss_of_the_lock_through_unanswered(bench):
    bench.script.answers = {"second": TakenOver(node="n", host="h"), "tear_down_cleaning": IronicError("touched")}
    uuid = begin(bench, CLEAN, "second")
    assert "tear_down_cleaning" not in bench.script.calls
    assert bench.row(uuid).last_error is None


# Heartbeats


@every_flow
def test_it_leaves_a_drivers_own_wait_to_the_driver(bench, kind):
    bench.script.answers = {"first": kind.waiting}
    uuid = begin(bench, kind, "first", "second")
    bench.beat(uuid)
    assert bench.state(uuid)[0] == kind.waiting
    assert bench.script.calls[-1] == "heartbeat"
    assert bench.script.arguments["heartbeat"]["callback_url"] == "http://192.0.2.7:9999"
    assert bench.row(uuid).driver_internal_info["agent_url"] == "http://192.0.2.7:9999"


# History


@pytest.mark.parametrize("wanted", [True, False])
def test_it_writes_begin_and_end_of_every_step_into_history(bench, conf, wanted):
    conf(conductor__record_step_flows_in_history=wanted)
    bench.script.answers = {"second": states.CLEANWAIT}
    uuid = begin(bench, CLEAN, "first", "second", "third")
    resume(bench, uuid)
    names = ("first", "second", "third")
    expected = [f"clean step vendor.{name} {what}" for name in names for what in ("begins", "ended")]
    assert [event for _severity, _type, event in bench.history(uuid)] == (expected if wanted else [])


def test_it_keeps_no_history_when_there_shall_be_none(bench, conf):
    conf(conductor__node_history=False)
    bench.script.answers = {"second": IronicError("the disk is on fire")}
    uuid = begin(bench, CLEAN, "first", "second")
    assert bench.history(uuid) == []
    assert "the disk is on fire" in bench.row(uuid).last_error


@pytest.mark.parametrize("wanted", [True, False])
def test_it_tells_syslog_of_steps_if_the_operator_wants_that(bench, conf, monkeypatch, wanted):
    lines: list[tuple[int, str]] = []
    monkeypatch.setattr(syslog, "syslog", lambda priority, text: lines.append((priority, text)))
    conf(conductor__log_step_flows_to_syslog=wanted)
    uuid = begin(bench, CLEAN, "first")
    names = ("begins", "ended")
    expected = [(syslog.LOG_INFO, f"ironic: node {uuid}: clean step vendor.first {name}") for name in names]
    assert lines == (expected if wanted else [])


@every_flow
@pytest.mark.parametrize("answer", [RuntimeError("boom"), None])
def test_what_steps_were_given_goes_when_the_list_is_over(bench, kind, answer):
    bench.script.answers = {"third": answer}
    uuid = begin(bench, kind, "on_demand", "third", on_demand={"speed": 7})
    assert bench.script.arguments["on_demand"] == {"speed": 7}
    node = bench.row(uuid)
    assert "speed" not in str(node.driver_internal_info)
    assert getattr(node, kind.column) == {}
