from typing import Any

import pytest

from ironic.conductor.tasks import TaskFactory
from ironic.conductor.timeouts import WAITS, Timeouts, fail_without_clean_up
from ironic.conductor.workers import Workers
from ironic.core.flows import states
from ironic.tests.unit.conductor.conftest import fake_composition, wait_until


@pytest.fixture
def expire(store, tasks, hash_ring):
    """Return a function that runs the job once on a living conductor and waits for what it started."""

    def expire(handlers=None, tasks=tasks, job=Timeouts):
        store.conductors.register("c1", "", ["fake-hardware"], [])
        hash_ring.reset()
        job(tasks, hash_ring, handlers or {})()
        wait_until(lambda: not tasks.held)

    return expire


@pytest.fixture
def waiting(make_node, clock):
    """Return a function that makes a node that has waited in a state for a while."""

    def waiting(state="clean wait", seconds=1801, **columns):
        began = clock()
        node = make_node(
            **{"provision_state": state, "provision_updated_at": began, "inspection_started_at": began} | columns
        )
        clock.pass_by(seconds)
        return node

    return waiting


def test_every_waiting_state_has_its_option():
    assert set(WAITS) == states.WAITING
    assert len({wait.option for wait in WAITS.values()}) == len(WAITS)


@pytest.mark.parametrize("state", sorted(states.WAITING))
def test_a_wait_that_is_over_fails_its_node_with_a_reason(state, waiting, expire, store):
    node = waiting(state)
    expire()
    found = store.nodes.get(node)
    assert found.provision_state == states.after(state, "fail")
    assert found.reservation is None
    assert f"Timed out after 1800 seconds in state '{state}'" in found.last_error
    assert WAITS[state].expected in found.last_error
    (entry,) = store.history.rows(("event", "severity"), filters={"node_id": found.id})
    assert entry == (found.last_error, "ERROR")


@pytest.mark.parametrize("state", sorted(states.WAITING))
def test_a_wait_that_is_not_over_goes_on(state, waiting, expire, store):
    node = waiting(state, seconds=1799)
    expire()
    assert store.nodes.get(node).provision_state == state


@pytest.mark.demand("S55")
def test_cleaning_that_times_out_takes_the_node_into_maintenance_with_its_power_as_it_is(waiting, expire, store):
    step = {"step": "erase_devices", "interface": "deploy", "priority": 10}
    node = waiting(clean_step=step, target_provision_state="manageable", power_state="power on")
    expire()
    found = store.nodes.get(node)
    assert (found.maintenance, found.fault, found.power_state) == (True, "clean failure", "power on")
    assert "deploy.erase_devices" in found.maintenance_reason
    assert (found.provision_state, found.target_provision_state) == ("clean failed", "manageable")


def test_a_node_that_can_not_be_read_keeps_no_other_one_waiting(waiting, expire, store, caplog):
    step = {"step": "wait", "interface": "deploy"}
    broken, sound = (waiting(seconds=seconds, clean_step=step) for seconds in (1801, 1801))
    with store.writing() as connection:
        text = '{"clean_step_waits_until": "2026-'
        connection.exec_driver_sql("UPDATE nodes SET driver_internal_info = ? WHERE uuid = ?", (text, broken))
    expire({"clean wait": fail_without_clean_up})
    assert store.nodes.row(("provision_state",), sound) == ("clean failed",)
    assert store.nodes.row(("provision_state", "reservation"), broken) == ("clean wait", None)
    assert broken in caplog.text


STARTS = "its ramdisk to start and look its node up, then "


@pytest.mark.parametrize("state", sorted(states.WAITING))
@pytest.mark.parametrize(
    ("known", "last", "following"),
    [
        ({}, "none (recorded power state: power on)", STARTS),
        (
            {"last_power_state_change": "2025-01-01T11:20:00"},
            "its power state was set to 'power on' at 2025-01-01 11:20:00 UTC",
            STARTS,
        ),
        ({"agent_secret_token": "x"}, "its ramdisk has looked its node up", ""),
        (
            {"agent_url": "http://a", "agent_last_heartbeat": "2025-01-01T12:10:00"},
            "its agent's last heartbeat came at 2025-01-01 12:10:00 UTC",
            "",
        ),
        (
            {"agent_url": "http://a", "agent_last_heartbeat": "2025-01-01T10:00:00"},
            "its agent runs since before the wait (last heartbeat at 2025-01-01 10:00:00 UTC)",
            "",
        ),
        ({"agent_last_heartbeat": "nonsense"}, "none (recorded", STARTS),
    ],
)
def test_the_reason_names_the_last_milestone_and_the_one_expected_next(
    waiting, expire, store, state, known, last, following
):
    node = waiting(state, driver_internal_info=known, power_state="power on")
    expire()
    found = store.nodes.get(node)
    error = found.last_error
    assert found.provision_state == states.after(state, "fail")
    assert f"Last milestone: {last}" in error
    assert f"Expected next: {following}{WAITS[state].expected}" in error
    assert "'x'" not in error and "token" not in error


def test_an_inspection_is_measured_from_its_begin(waiting, expire, store, clock):
    old = waiting("inspect wait", seconds=1000)
    store.nodes.update(old, {"provision_updated_at": clock()})
    new = waiting("inspect wait", seconds=1000)
    expire()
    assert [store.nodes.get(node).provision_state for node in (old, new)] == ["inspect failed", "inspect wait"]


@pytest.mark.parametrize("state", sorted(states.WAITING))
def test_without_a_timeout_a_node_waits_for_ever(state, waiting, expire, store, conf):
    conf(**{f"conductor__{WAITS[state].option}": 0})
    node = waiting(state, seconds=10**7)
    expire()
    assert store.nodes.get(node).provision_state == state


@pytest.mark.parametrize("columns", [{"maintenance": True}, {"reservation": "c2"}, {"conductor_group": "other"}])
def test_some_nodes_are_left_alone(columns, waiting, expire, store):
    node = waiting(**columns)
    expire()
    found = store.nodes.get(node)
    assert (found.provision_state, found.reservation) == ("clean wait", columns.get("reservation"))


def test_the_flow_may_have_its_own_way_of_failing(waiting, expire, store):
    def handler(task, reason):
        seen.append((task.node.uuid, task.holds_lock, reason))
        task.finish("fail", last_error="handled")

    seen: list[Any] = []
    node, other = waiting("clean wait"), waiting("rescue wait")
    expire({"clean wait": handler})
    ((uuid, held, reason),) = seen
    assert (uuid, held) == (node, True)
    assert "Timed out" in reason
    assert store.nodes.get(node).last_error == "handled"
    assert "Timed out" in store.nodes.get(other).last_error


def test_a_node_that_moved_on_in_the_meantime_is_left_alone(waiting, expire, store):
    class Late(Timeouts):
        def _overdue(self, state, wait):
            found = super()._overdue(state, wait)
            for uuid in found:
                store.nodes.update(uuid, {"provision_state": "clean hold"})
            return found

    node = waiting()
    expire(job=Late)
    found = store.nodes.get(node)
    assert (found.provision_state, found.reservation) == ("clean hold", None)


def test_users_and_deletions_win_over_the_job(waiting, expire, store):
    class Late(Timeouts):
        def _overdue(self, state, wait):
            found = super()._overdue(state, wait)
            if found:
                store.nodes.reserve(found[0], "user")
                store.nodes.delete(found[1])
            return found

    node, _deleted, third = waiting(), waiting(), waiting()
    expire(job=Late)
    assert store.nodes.get(node).reservation == "user"
    assert store.nodes.get(third).provision_state == "clean failed"


def test_a_full_pool_puts_the_rest_off(waiting, expire, store, caplog):
    pool = Workers("c1", 2)
    for _ in range(2):
        pool.take("a user's request")
    node = waiting()
    expire(tasks=TaskFactory(store, fake_composition(), pool, "c1"))
    assert "No worker is free" in caplog.text
    found = store.nodes.get(node)
    assert (found.provision_state, found.reservation) == ("clean wait", None)
