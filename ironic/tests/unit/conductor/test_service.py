import logging
import threading

import pytest

from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.service import Conductor
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.workers import Workers
from ironic.core.errors import DriverLoadError, NoFreeConductorWorker, TakenOver
from ironic.core.errors.call_errors import ConductorSuperseded
from ironic.core.hardware_interfaces import InterfaceRow
from ironic.integrations.metrics import METRICS
from ironic.tests.unit.conductor.conftest import FakeComposition, fake_composition, wait_until


@pytest.fixture
def own_tasks(store):
    """Return the tasks of a conductor whose end is part of the test."""
    return TaskFactory(store, fake_composition(), Workers("c1", 4), "c1")


@pytest.fixture
def make(store, hash_ring):
    """Return a function that puts a conductor together; all are stopped at the end."""
    made = []

    def make(composition=None, host="c1", tasks=None, **options):
        composition = composition or FakeComposition()
        tasks = tasks or TaskFactory(store, composition, Workers(host, 4), host)
        options = {"heartbeat_interval": 30, "check_interval": 30, "graceful_timeout": 5} | options
        conductor = Conductor(host, store, composition, hash_ring, tasks, **options)
        made.append(conductor)
        return conductor

    yield make
    for conductor in made:
        conductor.stop()


def test_a_conductor_without_drivers_does_not_start(make, store):
    class Empty(FakeComposition):
        drivers = {}

    with pytest.raises(DriverLoadError) as raised:
        make(Empty()).start()
    assert "enabled_hardware_types" in str(raised.value)
    assert store.conductors.alive(60) == []


@pytest.mark.demand("S33")
def test_a_started_conductor_is_in_the_table_with_what_it_serves(make, store, hash_ring):
    make(group="rack").start()
    (row,) = hash_ring.served()
    assert tuple(row) == ("c1", "rack", "fake-hardware", "power", "fake", True, True, "")
    assert hash_ring.host_for("f1b36d8a-0000-4000-8000-000000000001", "fake-hardware", "rack") == "c1"


def test_a_stopped_conductor_serves_nothing_and_leaves_nothing_behind(make, store, hash_ring):
    before = set(threading.enumerate())
    conductor = make(heartbeat_interval=0.01)
    conductor.start()
    assert {"conductor-heartbeat", "conductor-periodics"} <= {thread.name for thread in threading.enumerate()}
    assert conductor.stop() == []
    assert set(threading.enumerate()) <= before
    assert store.conductors.alive(60) == []
    assert hash_ring.served() == []
    assert conductor.stop() == []


def test_it_takes_calls_before_others_are_told_of_it_and_after_its_locks_were_freed(make, make_node, store):
    node = make_node(provision_state="inspecting", reservation="c1")
    seen = []
    make().start(lambda: seen.append((store.conductors.alive(60), store.nodes.get(node).reservation)))
    assert seen == [([], None)]
    assert len(store.conductors.alive(60)) == 1


def test_one_that_retires_serves_nothing_but_lives_until_its_work_has_ended(make, own_tasks, make_node, store, context):
    conductor = make(tasks=own_tasks, heartbeat_interval=0.01)
    conductor.start()
    proceed = threading.Event()
    node = make_node()
    with own_tasks.acquire(context, node, purpose="cleaning") as task:
        task.process_event("provide", callback=lambda: (proceed.wait(5), task.finish("done")))
    conductor.retire()
    (row,) = store.conductors.alive(60)
    assert row.drivers == []
    assert store.conductors.served_interfaces(60) == []
    assert not conductor.is_idle
    assert store.nodes.get(node).reservation == "c1"
    proceed.set()
    wait_until(lambda: conductor.is_idle)
    assert store.nodes.get(node).provision_state == "available"
    store.conductors.delete("c1")
    wait_until(lambda: store.conductors.alive(60))
    assert store.conductors.served_interfaces(60) == []


def test_a_restart_frees_what_the_earlier_life_held(make, make_node, store):
    works = make_node(provision_state="inspecting", reservation="c1")
    rests = make_node(provision_state="active", reservation="c1")
    make().start()
    assert [store.nodes.get(node).provision_state for node in (works, rests)] == ["inspect failed", "active"]
    assert [store.nodes.get(node).reservation for node in (works, rests)] == [None, None]


def test_the_heartbeat_keeps_the_conductor_alive(make, store, clock):
    make(heartbeat_interval=0.01).start()
    clock.pass_by(600)
    wait_until(lambda: store.conductors.alive(1))


def test_a_row_that_others_removed_is_written_anew(make, store, caplog):
    make(heartbeat_interval=0.01).start()
    store.conductors.delete("c1")
    wait_until(lambda: store.conductors.alive(60))
    assert [row.interface_name for row in store.conductors.served_interfaces(60)] == ["fake"]
    assert "registers again" in caplog.text


@pytest.mark.demand("S34")
def test_other_interfaces_elsewhere_are_one_warning_each_and_no_error(make, store, caplog):
    rows = [InterfaceRow("fake-hardware", "power", name, True) for name in ("fake", "redfish")]
    other = [InterfaceRow("redfish", "power", "redfish", True)]
    store.conductors.register("c2", "", ["fake-hardware", "redfish"], rows + other)
    make().start()
    (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert " c1: fake; c2: fake, redfish." in warning.getMessage()
    assert len(store.conductors.alive(60)) == 2


@pytest.mark.demand("S34")
@pytest.mark.parametrize("prefix", [None, "site1"])
def test_the_number_of_differences_is_a_metric(make, store, conf, measure, prefix):
    rows = [InterfaceRow("fake-hardware", "power", name, True) for name in ("fake", "redfish")]
    store.conductors.register("c2", "", ["fake-hardware"], rows)
    conf(metrics__backend="collector", metrics__global_prefix=prefix)
    measure()
    make().start()
    name = f"{f'{prefix}.' if prefix else ''}conductor.interface_differences"
    assert METRICS.collected()[name] == {"value": 1, "type": "gauge"}


def test_a_restart_is_not_compared_with_its_own_past(make, store, caplog):
    store.conductors.register("c1", "", ["fake-hardware"], [InterfaceRow("fake-hardware", "power", "old", True)])
    make().start()
    assert "different" not in caplog.text


def test_jobs_of_others_come_round_too(make):
    seen = []
    make(jobs=[PeriodicTask("of a driver", 0.01, lambda: seen.append(1))]).start()
    wait_until(lambda: seen)


def test_overdue_waits_end_by_the_flows_own_handlers(make, make_node, store, clock):
    handled = []
    node = make_node(provision_state="clean wait", provision_updated_at=clock())
    clock.pass_by(1801)

    def handler(task, reason):
        handled.append(task.node.uuid)
        task.finish("fail", last_error=reason)

    make(check_interval=0.01, on_timeout={"clean wait": handler}).start()
    wait_until(lambda: store.nodes.get(node).provision_state == "clean failed")
    assert handled == [node]


def test_the_dead_are_noticed(make, make_node, store, clock):
    store.conductors.register("dead", "", ["fake-hardware"], [])
    node = make_node(provision_state="cleaning", reservation="dead")
    clock.pass_by(61)
    make(check_interval=0.01, heartbeat_interval=0.01).start()
    wait_until(lambda: store.nodes.get(node).reservation is None)
    assert store.nodes.get(node).provision_state == "clean failed"


def test_nobody_is_taken_for_dead_while_all_had_no_chance_to_say_that_they_live(make, make_node, store, clock):
    store.conductors.register("dead", "", ["fake-hardware"], [])
    node = make_node(provision_state="cleaning", reservation="dead")
    clock.pass_by(61)
    looked = threading.Event()
    make(check_interval=0.01, jobs=[PeriodicTask("later", 0.3, looked.set)]).start()
    assert looked.wait(10)
    assert store.nodes.get(node).reservation == "dead"


def test_stopping_lets_work_end_and_takes_no_more(make, own_tasks, make_node, store, context):
    conductor = make(tasks=own_tasks)
    conductor.start()
    node, other = make_node(), make_node()
    began, proceed = threading.Event(), threading.Event()

    def work(task):
        began.set()
        proceed.wait(5)
        task.finish("done")

    with own_tasks.acquire(context, node, purpose="cleaning") as task:
        task.process_event("provide", callback=work, call_args=(task,))
    assert began.wait(30)
    stopping = threading.Thread(target=conductor.stop)
    stopping.start()
    wait_until(lambda: own_tasks.pool.is_draining)
    with (
        pytest.raises(NoFreeConductorWorker),
        own_tasks.acquire(context, other, purpose="too late") as task,
    ):
        task.process_event("provide", callback=work, call_args=(task,))
    assert store.conductors.alive(60)
    proceed.set()
    stopping.join(10)
    assert store.nodes.get(node).provision_state == "available"
    assert store.nodes.get(other).provision_state == "manageable"


def test_a_periodic_task_that_does_not_end_holds_up_neither_the_others_nor_the_end(make, own_tasks, store):
    began, proceed = threading.Event(), threading.Event()

    def hang():
        began.set()
        proceed.wait(60)

    conductor = make(tasks=own_tasks, graceful_timeout=0.05, jobs=[PeriodicTask("of a driver", 0.01, hang)])
    conductor.start()
    assert began.wait(30)
    ending = threading.Thread(target=conductor.retire)
    ending.start()
    ending.join(20)
    served, is_ending = store.conductors.served_interfaces(60), ending.is_alive()
    try:
        assert (served, is_ending) == ([], False)
        assert conductor.stop() == ["periodic task"]
    finally:
        proceed.set()


def test_work_that_does_not_end_in_time_is_failed_and_fenced(make, own_tasks, make_node, store, context, caplog):
    conductor = make(tasks=own_tasks, graceful_timeout=0.05)
    conductor.start()
    node = make_node()
    proceed, outcome = threading.Event(), []

    def work(task):
        proceed.wait(10)
        try:
            task.finish("done")
        except TakenOver as error:
            outcome.append(error)
            raise

    with own_tasks.acquire(context, node, purpose="node cleaning") as task:
        task.process_event("provide", callback=work, call_args=(task,))
    assert conductor.stop() == [f"node cleaning of node {node}"]
    assert f"gave up on node cleaning of node {node}" in caplog.text
    found = store.nodes.get(node)
    assert (found.provision_state, found.reservation) == ("clean failed", None)
    assert "conductor c1 was stopped" in found.last_error
    proceed.set()
    wait_until(lambda: outcome)
    assert store.nodes.get(node).provision_state == "clean failed"


def test_stopping_without_a_database_still_ends_everything(make, store, caplog):
    before = set(threading.enumerate())
    conductor = make()
    conductor.start()
    store.close()
    with store.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE nodes RENAME TO gone")
        connection.exec_driver_sql("ALTER TABLE conductors RENAME TO gone_too")
    assert conductor.stop() == []
    assert set(threading.enumerate()) <= before
    assert "could not give back its nodes" in caplog.text
    assert "could not leave the table of conductors" in caplog.text


def test_new_options_make_it_look_round_again(make, store, hash_ring):
    conductor = make()
    conductor.start()
    assert hash_ring.hosts_of("fake-hardware") == ["c1"]
    store.conductors.register("c2", "", ["fake-hardware"], [])
    assert hash_ring.hosts_of("fake-hardware") == ["c1"]
    conductor.reload()
    assert hash_ring.hosts_of("fake-hardware") == ["c1", "c2"]


def test_what_still_waits_when_the_time_is_over_ends_at_once_and_tells(make, own_tasks, make_node, store, context):
    conductor = make(tasks=own_tasks, graceful_timeout=0.05)
    conductor.start()
    node = make_node()
    began = threading.Event()

    def work(task):
        began.set()
        if not store.clock.sleep(60):
            task.finish("fail", last_error="stopped while it waited for the BMC")

    with own_tasks.acquire(context, node, purpose="node cleaning") as task:
        task.process_event("provide", callback=work, call_args=(task,))
    assert began.wait(30)
    assert conductor.stop() == []
    found = store.nodes.get(node)
    assert (found.provision_state, found.reservation) == ("clean failed", None)
    assert found.last_error == "stopped while it waited for the BMC"


def test_a_new_start_in_the_same_process_may_wait_again(make, store):
    store.clock.interrupt()
    assert store.clock.sleep(0.001) is False
    make().start()
    assert store.clock.sleep(0.001) is True


def test_a_newer_process_of_the_same_name_wins(make, make_node, store, context, caplog):
    ended = threading.Event()
    old_tasks = TaskFactory(store, fake_composition(), Workers("c1", 4), "c1")
    older = make(tasks=old_tasks, heartbeat_interval=0.01, on_superseded=ended.set)
    older.start()
    node = make_node(provision_state="cleaning", target_provision_state="available")
    held = old_tasks.acquire(context, node, purpose="cleaning")
    newer_tasks = TaskFactory(store, fake_composition(), Workers("c1", 4), "c1")
    newer = make(tasks=newer_tasks, group="new")
    newer.start()
    assert ended.wait(30)
    assert store.nodes.get(node).provision_state == "clean failed"
    with pytest.raises(TakenOver):
        held.process_event("done")
    with pytest.raises(ConductorSuperseded):
        old_tasks.acquire(context, node, purpose="more")
    with newer_tasks.acquire(context, node, purpose="of the newer") as task:
        held.release_resources()
        older.stop()
        assert store.nodes.get(node).reservation == "c1"
        assert [row.conductor_group for row in store.conductors.alive(60)] == ["new"]
        assert store.conductors.alive(60)[0].drivers == ["fake-hardware"]
        task.node.extra["a"] = 1
        task.node.save()
    assert "Traceback" not in caplog.text
