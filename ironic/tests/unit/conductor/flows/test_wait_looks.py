"""Looks at what nodes wait for: when, by whom, and what ends a wait."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from ironic.conductor import power
from ironic.conductor.flows import wait_ends
from ironic.conductor.locking import LockMode
from ironic.core.flows import node_waits, states
from ironic.core.flows.node_waits import Follows
from ironic.db import NodeRecord, tables
from ironic.drivers.contract import awaited_setting, waits
from ironic.drivers.contract.step_declarations import StepDone, StepFailed
from ironic.drivers.contract.task import SHUTS_DOWN
from ironic.drivers.contract.wait_declarations import Terms
from ironic.tests.unit.conductor.flows.kinds import CLEAN, SERVICE, begin, every_flow

KIND = "scripted"


def wait_in_step(task):
    """Do as a step that waits for hardware."""
    waits.begin(task, KIND, "the hardware", None, interface="vendor", seconds=600, follows=Follows.FLOW)
    task.node.save()
    return {"cleaning": states.CLEANWAIT, "deploying": states.DEPLOYWAIT, "servicing": states.SERVICEWAIT}[
        task.node.provision_state
    ]


@pytest.fixture
def waiting(bench):
    def make(kind) -> str:
        bench.script.answers["first"] = wait_in_step
        uuid = begin(bench, kind, "first", "second")
        assert bench.state(uuid)[0] == kind.waiting
        return uuid

    return make


def rows_of(bench, uuid) -> list[str]:
    """Return the kinds of the rows of a node; its record says the same."""
    node: NodeRecord = bench.row(uuid)
    found = [wait.kind for wait in bench.store.node_waits.of(node.id)]
    assert found == node_waits.open_kinds(node)
    return found


@every_flow
def test_the_row_says_what_is_awaited_since_when_until_when_and_what_follows(bench, waiting, kind):
    uuid = waiting(kind)
    (wait,) = bench.store.node_waits.of(bench.row(uuid).id)
    assert (wait.kind, wait.interface, wait.words, wait.follows) == (KIND, "vendor", "the hardware", Follows.FLOW)
    assert wait.until - wait.since == timedelta(seconds=600)
    assert wait.run.startswith(f"{kind.name} 20")
    assert (bench.row(uuid).reservation, bench.pool.taken) == (None, 0)


@every_flow
@pytest.mark.parametrize("end", [StepDone(), StepFailed("it is broken")], ids=["done", "failed"])
def test_the_end_that_a_look_finds_moves_the_flow_and_removes_the_row(bench, waiting, kind, end):
    uuid = waiting(kind)
    bench.look()
    assert (rows_of(bench, uuid), bench.script.calls.count("look")) == ([KIND], 1)

    def found(task):
        task.upgrade_lock("ending it", retry=False)
        return end

    bench.script.answers["look"] = found
    bench.look(5)
    assert bench.state(uuid) == kind.done if end == StepDone() else bench.state(uuid)[0] == kind.failed
    assert rows_of(bench, uuid) == []


@pytest.mark.parametrize(
    ("interval", "expected"), [(60, [0, 5, 10, 20, 40, 80, 140]), (1, [0, 1, 2, 3, 4, 5, 6]), (0, [0, 60, 120])]
)
def test_looks_come_soon_at_first_and_then_at_the_interval(bench, waiting, interval, expected):
    (wait,) = bench.store.node_waits.of(bench.row(waiting(CLEAN)).id)
    looks = [wait.changed]
    while len(looks) < len(expected):
        looks.append(waits.after_look(wait, looks[-1], interval))
    assert [(moment - wait.changed).total_seconds() for moment in looks] == expected


def test_a_look_comes_only_when_it_is_due(bench, waiting):
    waiting(CLEAN)
    for seconds in (0, 0, 4, 2, 4):
        bench.look(seconds)
    assert bench.script.calls.count("look") == 2


def test_a_look_that_fails_stops_no_other_one(bench, waiting, caplog):
    one, other = waiting(CLEAN), waiting(CLEAN)

    def look(task):
        if task.node.uuid == one:
            raise ValueError("an odd answer")

    bench.script.answers["look"] = look
    bench.look()
    assert bench.script.calls.count("look") == 2
    assert one in caplog.text and other not in caplog.text


def test_a_node_that_is_locked_or_in_maintenance_is_not_looked_at(bench, waiting):
    uuid = waiting(CLEAN)
    with bench.tasks.acquire(bench.context, uuid, purpose="a test"):
        bench.look()
    bench.store.nodes.update(uuid, {"maintenance": True})
    bench.look()
    assert "look" not in bench.script.calls
    bench.store.nodes.update(uuid, {"maintenance": False})
    bench.look()
    assert "look" in bench.script.calls


def test_an_unexpected_error_before_a_look_puts_it_off(bench, waiting, monkeypatch, caplog):
    uuid = waiting(CLEAN)
    monkeypatch.setattr(bench.composition, "driver_for", lambda node: 1 / 0)
    for _ in range(3):
        bench.look()
    assert caplog.text.count("looking at what it waits for failed") == 1
    monkeypatch.undo()
    bench.look(61)
    assert (rows_of(bench, uuid), "look" in bench.script.calls) == ([KIND], True)


def test_an_interval_of_0_switches_the_looks_off(bench, waiting, monkeypatch):
    uuid = waiting(CLEAN)
    interface = bench.composition.implementation("fake-hardware", "vendor", "scripted")
    name, _ = interface.looks[KIND]
    monkeypatch.setattr(type(interface), "looks", {KIND: (name, Terms(KIND, lambda: 0))})
    for seconds in (0, 61):
        bench.look(seconds)
    assert ("look" in bench.script.calls, rows_of(bench, uuid)) == (False, [KIND])


def test_what_a_later_release_has_stored_keeps_no_other_node_waiting(bench, waiting):
    odd, sound = waiting(CLEAN), waiting(CLEAN)
    with bench.store.writing() as connection:
        of_odd = tables.node_waits.c.node_id == bench.row(odd).id
        connection.execute(sa.update(tables.node_waits).where(of_odd).values(follows="later"))
    for seconds in (0, 10):
        bench.look(seconds)
    assert bench.script.calls.count("look") == 2
    assert (bench.state(odd)[0], rows_of(bench, sound)) == (states.CLEANWAIT, [KIND])


def test_a_request_goes_on_in_maintenance_and_in_a_flow(bench, waiting):
    """A soft change of the power of a machine that a flow waits for."""
    uuid = waiting(SERVICE)
    bench.store.nodes.update(uuid, {"maintenance": True, "power_interface": "scripted", "power_state": "power on"})
    bench.script.answers["set soft power off"] = lambda task: task.notes.put(SHUTS_DOWN, 60)
    bench.endpoint.change_node_power_state(bench.context, uuid, "soft power off", None)
    assert rows_of(bench, uuid) == [KIND, power.SHUTDOWN]
    bench.script.answers["get_power_state"] = "power off"
    bench.look()
    assert (bench.row(uuid).power_state, bench.row(uuid).target_power_state) == ("power off", None)
    assert (rows_of(bench, uuid), bench.script.calls.count("look")) == ([KIND], 0)


def test_a_shutdown_that_was_given_up_switches_nothing_on(bench):
    uuid = bench.node("power", power_state="power on")
    bench.script.answers["set soft rebooting"] = lambda task: task.notes.put(SHUTS_DOWN, 60)
    bench.endpoint.change_node_power_state(bench.context, uuid, "soft rebooting", None)
    bench.store.nodes.update(uuid, {"target_power_state": None})
    bench.script.answers["get_power_state"] = "power off"
    bench.look()
    assert (rows_of(bench, uuid), "set power on" in bench.script.calls) == ([], False)


def test_a_setting_in_an_inspection_begins_that_again(bench):
    """What a report would end is not ended by a setting that has taken effect."""
    suspended = iter([True, False])

    def inspect(task):
        if next(suspended):
            awaited_setting.suspend(task, "secure_boot", True, 60)
        return states.INSPECTWAIT

    bench.script.answers["inspect_hardware"] = inspect
    uuid = bench.node("inspect", provision_state=states.MANAGEABLE)
    assert bench.verb(uuid, "inspect")[0] == states.INSPECTWAIT
    with bench.tasks.acquire(bench.context, uuid, LockMode.PERIODIC_SHARED, purpose="looking") as task:
        wait = waits.of(task, awaited_setting.KIND)
        assert wait is not None
        wait_ends.end_look(task, awaited_setting.check(task, wait, lambda column, wanted: True), wait.follows)
    assert bench.state(uuid)[0] == states.INSPECTWAIT
    assert (bench.script.calls.count("inspect_hardware"), rows_of(bench, uuid)) == (2, [])


def test_one_of_two_conductors_looks(bench, waiting):
    uuid = waiting(CLEAN)
    node_id = bench.row(uuid).id
    (wait,) = bench.store.node_waits.of(node_id)
    assert bench.store.node_waits.claim(node_id, wait, wait.next_look + timedelta(seconds=5))
    assert not bench.store.node_waits.claim(node_id, wait, wait.next_look + timedelta(seconds=5))


def test_a_conductor_without_the_interface_leaves_the_wait(bench, waiting, monkeypatch):
    uuid = waiting(CLEAN)
    bench.store.nodes.update(uuid, {"vendor_interface": "no-vendor"})
    bench.look()
    assert (rows_of(bench, uuid), bench.state(uuid)[0]) == ([KIND], states.CLEANWAIT)


def test_what_another_run_has_left_is_forgotten(bench, waiting):
    """No move leaves one: the row was changed by hand, or by a conductor of a former release."""
    uuid = waiting(CLEAN)
    bench.store.nodes.update(uuid, {"provision_state": states.MANAGEABLE})
    bench.look()
    assert (rows_of(bench, uuid), "look" in bench.script.calls) == ([], False)


def test_what_is_not_stored_is_awaited_again(bench):
    """A transaction that is rolled back leaves the row and the record as they were."""
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    with bench.tasks.acquire(bench.context, uuid, purpose="a test") as task:
        waits.begin(task, KIND, "it", None, interface="vendor", seconds=None, follows=Follows.REQUEST)

        def fail(_connection):
            task.node.save()
            raise ValueError

        with pytest.raises(ValueError):
            bench.store.run(fail)
        assert (rows_of(bench, uuid), task.node.pending_waits.keys()) == ([], {KIND})
        task.node.save()
    assert rows_of(bench, uuid) == [KIND]


def test_one_indexed_query_finds_what_is_due(bench, waiting):
    waiting(CLEAN)
    with bench.store.reading() as connection:
        plan = connection.exec_driver_sql(
            "EXPLAIN QUERY PLAN SELECT * FROM node_waits WHERE next_look <= '2026-01-01'"
        ).all()
    assert "node_waits_next_look_idx" in str(plan)
