"""Soft power changes whose machine shuts down without a worker: how they end, and what replaces them."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from ironic.conductor.power import SHUTDOWN
from ironic.core.errors import IronicError
from ironic.core.flows import node_waits, states
from ironic.db import tables
from ironic.drivers.contract.task import SHUTS_DOWN, Waiter
from ironic.tests.databases import counting_statements

OFF, ON = states.POWER_OFF, states.POWER_ON


@pytest.fixture
def look(bench):
    """Return what looks at the machines of this conductor, which is the only one."""
    return lambda: bench.look(10)


def shutting_down(bench, target=states.SOFT_POWER_OFF, seconds=60, **values) -> str:
    """Have a user order a soft change; the machine takes its time."""

    def shut_down(task):
        if task.waiter is Waiter.REQUEST:
            task.notes.put(SHUTS_DOWN, seconds)

    bench.script.answers[f"set {target}"] = shut_down
    uuid = bench.node("power", power_state=ON, **values)
    bench.endpoint.change_node_power_state(bench.context, uuid, target, None)
    row = bench.row(uuid)
    assert (row.power_state, row.target_power_state, row.reservation) == (ON, states.POWER_TARGET[target], None)
    assert (row.last_error, bench.pool.taken) == (None, 0)
    return uuid


def power_of(bench, uuid) -> tuple[str | None, str | None, bool]:
    """Return power state and target, and whether a shutdown is awaited."""
    row = bench.row(uuid)
    return row.power_state, row.target_power_state, node_waits.is_open(row, SHUTDOWN)


def test_no_worker_and_no_lock_until_the_machine_is_off(bench, look):
    uuid = shutting_down(bench)
    look()
    assert power_of(bench, uuid) == (ON, OFF, True)
    bench.script.answers["get_power_state"] = OFF
    look()
    assert power_of(bench, uuid) == (OFF, None, False)
    row = bench.row(uuid)
    assert (row.reservation, row.last_error) == (None, None)
    assert row.driver_internal_info["last_power_state_change"]


def test_a_soft_restart_switches_the_machine_on_again(bench, look):
    uuid = shutting_down(bench, states.SOFT_REBOOT)
    bench.script.answers["get_power_state"] = OFF
    bench.script.answers["set power on"] = lambda task: bench.script.answers.update(get_power_state=ON)
    look()
    assert power_of(bench, uuid) == (ON, None, False)
    assert bench.script.calls.count("set power on") == 1


def test_one_that_does_not_shut_down_in_time_is_a_failure(bench, look):
    uuid = shutting_down(bench, seconds=-1)
    look()
    assert power_of(bench, uuid) == (ON, None, False)
    row = bench.row(uuid)
    assert "did not shut down in time" in row.last_error
    assert ("ERROR", "power") in [entry[:2] for entry in bench.history(uuid)]


def test_a_bmc_that_does_not_answer_is_asked_again(bench, look):
    uuid = shutting_down(bench)
    bench.script.answers["get_power_state"] = IronicError("no answer")
    look()
    assert power_of(bench, uuid) == (ON, OFF, True)


def test_the_way_back_on_that_fails_is_recorded(bench, look):
    uuid = shutting_down(bench, states.SOFT_REBOOT)
    bench.script.answers |= {"get_power_state": OFF, "set power on": IronicError("no current")}
    look()
    assert power_of(bench, uuid) == (OFF, None, False)
    assert "no current" in bench.row(uuid).last_error


def test_a_target_without_a_shutdown_is_left_alone_and_no_long_text_is_searched(bench, look):
    uuid = bench.node("power", power_state=ON, target_power_state=OFF)
    with counting_statements(bench.store) as statements:
        look()
    assert power_of(bench, uuid) == (ON, OFF, False)
    assert bench.script.calls == []
    assert not [text for text in statements.texts if "LIKE" in text.upper()]


@pytest.mark.parametrize("target", [ON, OFF])
def test_another_change_replaces_it(bench, look, target):
    uuid = shutting_down(bench)
    bench.endpoint.change_node_power_state(bench.context, uuid, target, None)
    assert power_of(bench, uuid) == (target, None, False)


def test_a_flow_that_changes_the_power_replaces_it(bench, look):
    uuid = shutting_down(bench, provision_state=states.MANAGEABLE)
    step = {"interface": "power", "step": "power_off", "args": {}}
    assert bench.verb(uuid, "clean", clean_steps=[step])[0] == states.MANAGEABLE
    assert power_of(bench, uuid) == (OFF, None, False)


@pytest.mark.demand("S60")
def test_another_conductor_ends_what_a_dead_one_has_ordered(bench, look):
    uuid = shutting_down(bench)
    with bench.store.writing() as connection:
        connection.execute(sa.update(tables.node_waits).values(until=bench.store.clock.now() - timedelta(seconds=1)))
    look()
    assert power_of(bench, uuid) == (ON, None, False)


def test_a_locked_node_is_looked_at_later(bench, look):
    uuid = shutting_down(bench)
    bench.script.answers["get_power_state"] = OFF
    with bench.tasks.acquire(bench.context, uuid, purpose="a test"):
        look()
        assert power_of(bench, uuid) == (ON, OFF, True)
    look()
    assert power_of(bench, uuid) == (OFF, None, False)
