import logging
import threading
import time
from typing import Any

import pytest

from ironic.conductor import locking
from ironic.conductor.locking import LockMode
from ironic.conductor.tasks import TaskFactory, require_exclusive_lock
from ironic.conductor.workers import Workers
from ironic.core.errors import (
    ExclusiveLockRequired,
    InvalidState,
    NodeLocked,
    NodeNotFound,
    NodeNotLocked,
    NoFreeConductorWorker,
    TakenOver,
)
from ironic.core.flows import states
from ironic.drivers.modules.fake import FakeBIOS
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import break_lock
from ironic.tests.unit.conductor.conftest import fake_composition, wait_until


@pytest.fixture
def node(make_node):
    return make_node(power_interface="fake")


@pytest.fixture
def acquire(tasks, context):
    def acquire(ident, **kwargs):
        return tasks.acquire(context, ident, **({"purpose": "testing"} | kwargs))

    return acquire


@pytest.fixture
def holder(store):
    """Return who holds a node."""
    return lambda uuid: store.nodes.row(("reservation",), uuid)[0]


@pytest.fixture
def stored(store):
    """Return one column of a node as it is stored, or several."""

    def stored(uuid, *columns):
        row = store.nodes.row(columns, uuid)
        return row[0] if len(columns) == 1 else tuple(row)

    return stored


@pytest.fixture
def full(pool):
    """Fill the pool."""
    slots = [pool.take("filler") for _ in range(4)]
    yield
    for slot in slots:
        slot.release()


def settle(pool, holder, uuid):
    """Wait until work on a node has ended."""
    wait_until(lambda: not pool.taken and holder(uuid) is None)


# Taking and giving back


def test_an_exclusive_task_holds_the_node_while_it_lasts(acquire, node, holder):
    with acquire(node) as task:
        assert holder(node) == "c1"
        assert (task.node.uuid, task.node_id, task.host, task.shared) == (node, task.node.id, "c1", False)
        assert task.driver.node_uuid == node
    assert holder(node) is None


def test_a_shared_task_holds_nothing(acquire, node, holder):
    with acquire(node, mode=LockMode.SHARED) as task:
        assert holder(node) is None
        assert task.shared
        assert task.driver.node_uuid == node


def test_the_node_is_given_back_when_the_block_fails(acquire, node, holder):
    with pytest.raises(ZeroDivisionError), acquire(node):
        raise ZeroDivisionError
    assert holder(node) is None


def test_the_node_is_given_back_when_its_driver_can_not_be_built(acquire, make_node, holder):
    node = make_node(driver="broken")
    with pytest.raises(LookupError):
        acquire(node)
    assert holder(node) is None


def test_a_node_that_is_not_there(acquire):
    with pytest.raises(NodeNotFound):
        acquire("1be26c0b-03f2-4d2e-ae87-c02d7f33c123")


def test_a_node_is_found_by_name_and_by_id(acquire, make_node, store):
    uuid = make_node(name="rack1-u7")
    with acquire("rack1-u7") as task:
        assert task.node.uuid == uuid
    with acquire(store.nodes.get(uuid).id) as task:
        assert task.node.uuid == uuid


def test_a_locked_node_is_refused_after_the_configured_tries(acquire, node, store, conf):
    conf(conductor__node_locked_retry_attempts=3, conductor__node_locked_retry_interval=0)
    store.nodes.reserve(node, "other")
    with counting_statements(store) as seen, pytest.raises(NodeLocked) as raised:
        acquire(node)
    assert raised.value.facts == {"node": node, "host": "other"}
    assert seen.writes >= 1


def test_without_retry_a_locked_node_is_refused_at_once(acquire, node, store, conf):
    conf(conductor__node_locked_retry_attempts=50, conductor__node_locked_retry_interval=1)
    store.nodes.reserve(node, "other")
    began = time.monotonic()
    with pytest.raises(NodeLocked):
        acquire(node, mode=LockMode.PERIODIC)
    assert time.monotonic() - began < 25


def test_a_waiting_task_gets_the_node_as_soon_as_it_is_released(acquire, node, conf):
    conf(conductor__node_locked_retry_attempts=3, conductor__node_locked_retry_interval=30)
    first = acquire(node)
    timer = threading.Timer(0.1, first.release_resources)
    timer.start()
    began = time.monotonic()
    with acquire(node):
        assert time.monotonic() - began < 5
    timer.join()


def test_a_patient_task_waits_longer(acquire, node, store, conf, holder):
    conf(conductor__node_locked_retry_attempts=1, conductor__node_locked_retry_interval=1)
    store.nodes.reserve(node, "other")
    timer = threading.Timer(0.2, store.nodes.release, (store.nodes.get(node), "other"))
    timer.start()
    with pytest.raises(NodeLocked):
        acquire(node)
    with acquire(node, mode=LockMode.PATIENT):
        assert holder(node) == "c1"
    timer.join()


def test_unsaved_changes_are_not_saved_behind_the_back(acquire, node, stored):
    with acquire(node) as task:
        task.node.last_error = "never meant to be stored"
        task.node.extra["draft"] = 1
    assert stored(node, "last_error") is None


def test_release_and_save_may_be_one(acquire, node, stored, store):
    with acquire(node) as task:
        task.node.last_error = "meant to be stored"
        with counting_statements(store) as seen:
            task.save_and_release()
        assert (seen.writes, seen.commits) == (1, 1)
    assert stored(node, "last_error", "reservation") == ("meant to be stored", None)


def test_what_was_taken_over_can_not_be_written(acquire, node, store, stored):
    with acquire(node) as task:
        store.nodes.update(task.node_id, {"reservation": "survivor"})
        task.node.last_error = "too late"
        with pytest.raises(TakenOver):
            task.node.save()
        with pytest.raises(TakenOver):
            task.process_event("provide")
    assert stored(node, "last_error", "provision_state", "reservation") == (None, "manageable", "survivor")


def test_a_node_held_for_long_is_worth_a_line(acquire, node, caplog, monkeypatch):
    monkeypatch.setattr(locking, "LONG_HOLD_SECONDS", 0.0)
    caplog.set_level(logging.INFO)
    with acquire(node, purpose="a long cleaning"):
        pass
    assert f"Node {node} was held for 0.0 seconds for a long cleaning" in caplog.text


def test_tasks_know_what_is_held(acquire, tasks, node, store):
    with acquire(node) as task:
        assert set(tasks.held) == {task.node_id}
        task.downgrade_lock()
        assert not tasks.held


# Ports


def test_ports_are_read_when_they_are_asked_for(acquire, node, store):
    node_id = store.nodes.get(node).id
    store.ports.create({"node_id": node_id, "address": "52:54:00:00:00:01"})
    with acquire(node, mode=LockMode.SHARED) as task:
        with counting_statements(store) as seen:
            assert [port.address for port in task.ports] == ["52:54:00:00:00:01"]
            assert task.ports is task.ports
            assert task.portgroups == []
        assert seen.selects == 2
        store.ports.create({"node_id": node_id, "address": "52:54:00:00:00:02"})
        assert len(task.ports) == 1
        task.ports = None
        task.portgroups = None
        assert len(task.ports) == 2
        task.ports, task.portgroups = task.ports[:1], ()
        assert (len(task.ports), task.portgroups) == (1, [])


# Changing the lock


def test_an_upgrade_reads_the_node_again(acquire, node, store, holder):
    with acquire(node, mode=LockMode.SHARED) as task:
        record = task.node
        store.nodes.update(task.node_id, {"power_interface": "redfish", "maintenance": True})
        task.upgrade_lock(purpose="now for real")
        assert holder(node) == "c1"
        assert task.node is record
        assert (record.maintenance, record.held_by, task.driver.power) == (True, "c1", "redfish")
        assert (task.shared, task.purpose) == (False, "now for real")
    assert holder(node) is None


def test_an_upgrade_of_an_exclusive_task_changes_its_purpose_only(acquire, node, store):
    with acquire(node) as task, counting_statements(store) as seen:
        task.upgrade_lock(purpose="more")
        assert (task.purpose, seen.texts) == ("more", [])


def test_an_upgrade_may_be_refused(acquire, node, store, holder):
    store.nodes.reserve(node, "other")
    with acquire(node, mode=LockMode.SHARED) as task:
        with pytest.raises(NodeLocked):
            task.upgrade_lock(retry=False)
        assert task.shared
    assert holder(node) == "other"


def test_a_downgrade_lets_others_have_the_node(acquire, node, holder):
    with acquire(node) as task:
        task.downgrade_lock()
        assert holder(node) is None
        assert task.shared
        with acquire(node):
            assert holder(node) == "c1"
        task.upgrade_lock()
        assert holder(node) == "c1"
    assert holder(node) is None


@pytest.mark.parametrize(
    "act",
    [
        lambda task: task.downgrade_lock(),
        lambda task: task.process_event("provide"),
        lambda task: task.finish("provide"),
        lambda task: task.save_and_release(),
    ],
)
def test_what_needs_the_lock_is_refused_without_it(acquire, node, act, stored):
    with acquire(node, mode=LockMode.SHARED) as task, pytest.raises(ExclusiveLockRequired):
        act(task)
    with acquire(node) as task:
        task.release_resources()
        task.release_resources()
        with pytest.raises(NodeNotLocked):
            act(task)
    assert stored(node, "provision_state") == "manageable"


def test_a_method_may_demand_the_lock(acquire, node):
    class Interface:
        @require_exclusive_lock
        def change(self, task, value):
            return value

    change_by_function = require_exclusive_lock(lambda task, value: value)
    with acquire(node) as task:
        assert (Interface().change(task, 3), change_by_function(task, 4)) == (3, 4)
    with acquire(node, mode=LockMode.SHARED) as task:
        for change in (Interface().change, change_by_function):
            with pytest.raises(ExclusiveLockRequired):
                change(task, 3)


# Work that follows


def test_what_follows_runs_elsewhere_with_the_lock_held(acquire, node, holder, pool):
    seen: list[Any] = []

    def work(task, word):
        seen.append((threading.current_thread() is not threading.main_thread(), holder(node), word))

    with acquire(node) as task:
        task.spawn_after(work, task, word="x")
        assert seen == []
    settle(pool, holder, node)
    assert seen == [(True, "c1", "x")]
    assert holder(node) is None


def test_the_lock_comes_back_when_the_work_fails(acquire, node, holder, pool, caplog):
    with acquire(node, purpose="dividing") as task:
        task.spawn_after(divmod, 1, 0)
    settle(pool, holder, node)
    assert holder(node) is None
    assert f"Node {node}: dividing failed (request req-1)" in caplog.text


def test_a_shared_task_may_have_work_following(acquire, node, pool, holder):
    done = threading.Event()
    with acquire(node, mode=LockMode.SHARED) as task:
        task.spawn_after(done.set)
    assert done.wait(30)
    settle(pool, holder, node)


def test_what_was_to_follow_does_not_when_the_block_fails(acquire, node, holder, pool):
    ran: list[Any] = []
    with pytest.raises(ZeroDivisionError), acquire(node) as task:
        task.spawn_after(ran.append, 1)
        raise ZeroDivisionError
    assert (ran, pool.taken, holder(node)) == ([], 0, None)


def test_releasing_early_also_gives_up_what_was_to_follow(acquire, node, holder, pool):
    ran: list[Any] = []
    with acquire(node) as task:
        task.spawn_after(ran.append, 1)
        task.release_resources()
    assert (ran, pool.taken, holder(node)) == ([], 0, None)


def test_a_full_pool_calls_the_hook_with_the_lock_held(acquire, node, holder, full):
    seen: list[Any] = []
    with pytest.raises(NoFreeConductorWorker), acquire(node) as task:
        task.set_spawn_error_hook(lambda error, *args: seen.append((type(error), args, holder(node))), "a", "b")
        task.spawn_after(int)
    assert seen == [(NoFreeConductorWorker, ("a", "b"), "c1")]
    assert holder(node) is None


def test_the_hook_is_not_called_for_a_refusal_that_came_before(acquire, node):
    seen: list[Any] = []
    with pytest.raises(ZeroDivisionError), acquire(node) as task:
        task.set_spawn_error_hook(seen.append)
        raise ZeroDivisionError
    assert seen == []


def test_a_hook_that_fails_does_not_cover_the_error(acquire, node, holder, full, caplog):
    with pytest.raises(NoFreeConductorWorker), acquire(node) as task:
        task.set_spawn_error_hook(divmod, 0)
        task.spawn_after(int)
    assert holder(node) is None
    assert "clean-up after testing failed" in caplog.text


def test_background_work_leaves_the_reserved_workers_to_users(store, context, node):
    pool = Workers("c1", 4, 50)
    tasks = TaskFactory(store, fake_composition(), pool, "c1")
    for _ in range(2):
        pool.take("filler")
    with (
        pytest.raises(NoFreeConductorWorker),
        tasks.acquire(context, node, mode=LockMode.REPORT, purpose="heartbeat") as task,
    ):
        task.spawn_after(int)
    with tasks.acquire(context, node, purpose="request") as task:
        task.spawn_after(int)
    wait_until(lambda: pool.taken == 2)


# Moves


def test_an_event_moves_the_node_and_its_callback_follows(acquire, node, stored, holder, pool, clock):
    seen: list[Any] = []

    def work(task, *args, **kwargs):
        seen.append((stored(node, "provision_state"), args, kwargs))
        task.process_event("done")

    clock.pass_by(60)
    with acquire(node) as task:
        task.node.last_error = "of an earlier try"
        task.process_event("provide", callback=work, call_args=(task, 1), call_kwargs={"x": 2})
        assert stored(node, "provision_state", "target_provision_state") == ("cleaning", "available")
        assert stored(node, "last_error", "provision_updated_at") == (None, clock())
    settle(pool, holder, node)
    assert seen == [("cleaning", (1,), {"x": 2})]
    assert stored(node, "provision_state", "target_provision_state", "reservation") == ("available", None, None)


def test_a_full_pool_is_noticed_before_the_node_moves(acquire, node, stored, holder, full):
    with pytest.raises(NoFreeConductorWorker), acquire(node) as task:
        task.process_event("provide", callback=int)
    assert stored(node, "provision_state", "last_error", "reservation") == ("manageable", None, None)


def test_a_full_pool_calls_the_handler_with_the_states_before(acquire, node, full, store):
    seen: list[Any] = []
    with pytest.raises(NoFreeConductorWorker), acquire(node) as task:
        task.process_event("provide", callback=int, err_handler=lambda error, *args: seen.append(args))
    ((record, state, target),) = seen
    assert (record.uuid, state, target) == (node, "manageable", None)


def test_a_block_that_fails_after_the_move_calls_the_handler(acquire, node, holder, pool):
    seen: list[Any] = []
    with pytest.raises(ZeroDivisionError), acquire(node) as task:
        task.process_event("provide", callback=int, err_handler=lambda error, *args: seen.append((error, *args[1:])))
        raise ZeroDivisionError
    assert [(type(error), state, target) for error, state, target in seen] == [(ZeroDivisionError, "manageable", None)]
    assert (pool.taken, holder(node)) == (0, None)


def test_without_a_handler_a_moved_node_is_failed_rather_than_left_alone(acquire, node, stored):
    with pytest.raises(ZeroDivisionError), acquire(node) as task:
        task.process_event("provide", callback=int)
        raise ZeroDivisionError("oops")
    state, error, reservation = stored(node, "provision_state", "last_error", "reservation")
    assert (state, reservation) == ("clean failed", None)
    assert "could not be started" in error


def test_an_event_that_does_not_fit_changes_nothing(acquire, node, stored, pool):
    with pytest.raises(InvalidState) as raised, acquire(node) as task:
        task.node.last_error = "pending"
        task.process_event("rescue", callback=int)
    assert raised.value.facts == {"node": node, "state": "manageable", "event": "rescue"}
    assert node in str(raised.value)
    assert stored(node, "provision_state", "last_error") == ("manageable", None)
    assert pool.taken == 0


@pytest.mark.parametrize("state", sorted(states.WORKING))
def test_work_that_dies_fails_its_node(acquire, make_node, state, stored, holder, pool):
    node = make_node(provision_state=state, target_provision_state="available", last_error="old")

    def work(task):
        task.node.extra["half"] = "done"
        raise RuntimeError("the driver broke")

    with acquire(node, purpose="some work") as task:
        task.spawn_after(work, task)
    settle(pool, holder, node)
    found, error, extra, reservation = stored(node, "provision_state", "last_error", "extra", "reservation")
    assert found == states.after(state, "fail")
    assert error == "some work failed unexpectedly: RuntimeError: the driver broke"
    assert "half" not in (extra or "")
    assert reservation is None


@pytest.mark.demand("S55")
def test_cleaning_that_dies_takes_the_node_into_maintenance(acquire, make_node, stored, holder, pool):
    node = make_node(provision_state="cleaning", power_state="power on")
    with acquire(node) as task:
        task.spawn_after(divmod, 1, 0)
    settle(pool, holder, node)
    maintenance, fault, reason, power = stored(node, "maintenance", "fault", "maintenance_reason", "power_state")
    assert (maintenance, fault, power) == (True, "clean failure", "power on")
    assert "ZeroDivisionError" in reason


def test_work_whose_node_was_taken_over_ends_quietly(acquire, make_node, store, stored, pool, holder, caplog):
    node = make_node(provision_state="cleaning")

    def work(task):
        store.nodes.update(task.node_id, {"reservation": "survivor"})
        task.process_event("done")

    with acquire(node) as task:
        task.spawn_after(work, task)
    wait_until(lambda: not pool.taken)
    assert stored(node, "provision_state", "reservation") == ("cleaning", "survivor")
    assert "is no longer held by conductor c1" in caplog.text
    assert not [record for record in caplog.records if record.exc_info]


def test_the_last_move_gives_the_lock_back_in_one_statement(acquire, make_node, store, stored):
    node = make_node(provision_state="cleaning", target_provision_state="available")
    with acquire(node) as task:
        task.node.set_driver_internal_info("clean_step_index", 3)
        with counting_statements(store) as seen:
            task.finish("wait")
        assert (seen.selects, seen.writes, seen.commits) == (0, 1, 1)
        assert not task.holds_lock
    assert stored(node, "provision_state", "reservation") == ("clean wait", None)
    assert "clean_step_index" in stored(node, "driver_internal_info")


def test_one_round_of_limited_work_costs_three_commits_and_five_statements(acquire, node, store, pool, holder):
    with counting_statements(store) as seen:
        with acquire(node) as task:
            task.process_event("provide", callback=task.finish, call_args=("wait",))
        wait_until(lambda: not pool.taken)
    # One of the reads counts who else is at it.
    assert (seen.selects, seen.writes, seen.commits) == (2, 3, 3)
    assert holder(node) is None


def test_a_user_waits_for_background_work_instead_of_hearing_of_it(tasks, store, make_node, context, conf):
    conf(conductor__node_locked_retry_attempts=1, conductor__node_locked_retry_interval=1)
    node = make_node()
    background = tasks.observe(context, store.nodes.get(node), purpose="looking")
    background.upgrade_lock("bringing power back")
    release = threading.Timer(0.3, background.release_resources)
    release.start()
    with tasks.acquire(context, node, purpose="of a user") as task:
        assert task.holds_lock
    release.join()


def test_background_work_never_waits_for_a_lock_it_only_tries(tasks, store, make_node, context):
    node = make_node()
    one, two = (tasks.observe(context, store.nodes.get(node), purpose="looking") for _ in range(2))
    one.upgrade_lock("one")
    with one, two, pytest.raises(NodeLocked) as raised:
        two.upgrade_lock("two", retry=False)
    assert "in use by conductor c1 (background: one)" in str(raised.value)


def test_a_user_is_told_what_holds_the_node(tasks, make_node, context, conf):
    conf(conductor__node_locked_retry_attempts=1)
    node = make_node()
    with tasks.acquire(context, node, purpose="provision verb clean"), pytest.raises(NodeLocked) as raised:
        tasks.acquire(context, node, purpose="deletion")
    assert raised.value.facts["purpose"] == "provision verb clean"


def test_work_that_begins_in_the_background_does_not_look_like_a_matter_of_moments(
    tasks, store, make_node, context, pool, holder
):
    node = make_node(provision_state="clean wait")
    seen = []

    def work(task):
        seen.append(store.nodes.get(node).reservation_purpose)
        task.finish("fail", last_error="enough")

    with tasks.acquire(context, node, mode=LockMode.PERIODIC, purpose="checking the step") as task:
        seen.append(store.nodes.get(node).reservation_purpose)
        task.process_event("resume", callback=work, call_args=(task,))
    settle(pool, holder, node)
    assert seen == ["background: checking the step", "checking the step"]


def test_what_belongs_to_a_node_is_written_by_its_holder_only(acquire, make_node, store):
    node = make_node()
    with acquire(node) as task:
        with task.writing():
            store.traits.replace(task.node_id, ["CUSTOM_A"])
        break_lock(store, task.node_id)
        with pytest.raises(TakenOver), task.writing():
            store.traits.replace(task.node_id, [])
    assert store.traits.of([task.node_id])[task.node_id] == ["CUSTOM_A"]


def test_what_a_driver_finds_out_is_stored_by_the_holder_only(acquire, make_node, store):
    bios = FakeBIOS()
    with acquire(make_node()) as task:
        bios.apply_configuration(task, [{"name": "virtualization", "value": "on"}])
        task.node.set_driver_internal_info("fake_bios", {"virtualization": "off"})
        break_lock(store, task.node_id)
        with pytest.raises(TakenOver):
            bios.cache_bios_settings(task)
    assert store.bios_settings.rows(("name", "value"), task.node_id) == [("virtualization", "on")]


def test_a_last_move_that_is_rolled_back_leaves_the_node_held_and_can_be_made_again(acquire, make_node, store, stored):
    node = make_node(provision_state="verifying")
    with acquire(node) as task:
        with pytest.raises(ZeroDivisionError), store.writing():
            task.finish("done")
            raise ZeroDivisionError
        assert (task.holds_lock, task.node.provision_state) == (True, "verifying")
        task.finish("done")
        assert not task.holds_lock
    assert stored(node, "provision_state", "reservation") == ("manageable", None)
