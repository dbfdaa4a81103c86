"""Settings that take effect by a restart: work that can be repeated leaves its worker, other work goes its own way."""

from dataclasses import replace
from datetime import timedelta

import pytest

from ironic.conductor.flows import wait_ends
from ironic.conductor.locking import LockMode
from ironic.conductor.takeover import TakeOver
from ironic.core.errors import NoFreeConductorWorker
from ironic.core.flows import node_waits, states
from ironic.core.flows.node_waits import NodeWait
from ironic.drivers.contract import awaited_setting, waits
from ironic.drivers.contract.step_declarations import StepDone, StepFailed, Suspended
from ironic.drivers.contract.task import Waiter
from ironic.drivers.contract.wait_declarations import ORDERED
from ironic.drivers.modules.fake import FakeManagement
from ironic.drivers.modules.redfish.orders.waiting_step import AtBmc, BmcStep
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.unit.conductor.flows import kinds

KIND = awaited_setting.KIND
STEP = BmcStep("a_step", "vendor", AtBmc)
WANTED = {"capabilities": {"secure_boot": "true"}}


@pytest.fixture
def machine(bench, monkeypatch) -> dict[str, bool]:
    """Give the fake management secure boot that takes effect at a restart: when a test says so."""
    machine = {"state": False}

    def change(management, task, state):
        bench.script.play(f"secure boot {state}", task)
        if not awaited_setting.is_restart_allowed(task):
            return ORDERED
        awaited_setting.suspend(task, "secure_boot", state, 60)
        machine["state"] = state
        return None

    monkeypatch.setattr(FakeManagement, "get_secure_boot_state", lambda management, task: machine["state"])
    monkeypatch.setattr(FakeManagement, "set_secure_boot_state", change)
    return machine


def look(bench, uuid, is_so=True) -> None:
    """Do as the periodic method of an interface does."""
    with bench.tasks.acquire(bench.context, uuid, LockMode.PERIODIC_SHARED, purpose="looking") as task:
        wait = waits.of(task, KIND)
        assert wait is not None
        wait_ends.end_look(task, awaited_setting.check(task, wait, lambda column, wanted: is_so))


def wait_of(task) -> NodeWait:
    wait = waits.of(task, STEP.kind)
    assert wait is not None
    return wait


def awaits(bench, uuid, kind=KIND) -> bool:
    """Return whether a node has a wait, in its row and in the table."""
    row = bench.row(uuid)
    is_open = node_waits.is_open(row, kind)
    assert is_open is (bench.store.node_waits.get(row.id, kind) is not None)
    return is_open


def deployed(bench, machine, **values) -> str:
    uuid = bench.node("deploy", provision_state=states.AVAILABLE, automated_clean=False, instance_info=WANTED, **values)
    assert bench.verb(uuid, "active")[0] == states.DEPLOYWAIT
    return uuid


def test_a_node_waits_and_the_end_of_its_deployment_is_repeated(bench, machine):
    uuid = deployed(bench, machine)
    assert bench.row(uuid).reservation is None
    bench.beat(uuid)
    look(bench, uuid, is_so=False)
    assert bench.state(uuid)[0] == states.DEPLOYWAIT, "neither what it boots nor a look ends the wait"
    machine["state"] = True
    look(bench, uuid)
    row = bench.row(uuid)
    assert (row.provision_state, row.secure_boot, awaits(bench, uuid)) == (states.ACTIVE, True, False)
    assert bench.script.calls.count("secure boot True") == 1
    assert bench.script.calls.count("prepare") == 1


def test_a_preparation_is_repeated_as_a_whole(bench, machine):
    """Take what a former instance has left."""
    machine["state"] = True
    uuid = bench.node(
        "deploy", provision_state=states.AVAILABLE, driver_internal_info={"secure_boot_of_instance": True}
    )
    assert bench.verb(uuid, "active")[0] == states.DEPLOYWAIT
    assert bench.script.calls == ["secure boot False"]
    machine["state"] = False
    look(bench, uuid)
    assert bench.state(uuid)[0] == states.ACTIVE
    assert bench.script.calls == ["secure boot False", "prepare"]


def test_there_is_no_wait_when_an_instance_is_removed(bench, machine):
    uuid = deployed(bench, machine)
    machine["state"] = True
    look(bench, uuid)
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)
    row = bench.row(uuid)
    assert row.driver_internal_info["secure_boot_of_instance"], "the next ramdisk's preparation sees to it"
    assert (awaits(bench, uuid), row.last_error) == (False, None)
    assert machine["state"], "until the next start"


@pytest.mark.parametrize("end", ["abort", "time-out", "failure"])
def test_nothing_is_awaited_after_the_end_of_a_flow(bench, machine, end):
    uuid = deployed(bench, machine)
    if end == "abort":
        bench.verb(uuid, "abort")
    else:
        with bench.tasks.acquire(bench.context, uuid, purpose="a test") as task:
            if end == "failure":
                wait_ends.end_look(task, StepFailed("the BMC has accepted it, but"))
            else:
                wait_ends.end_wait(task, "Timed out.")
    row = bench.row(uuid)
    assert (row.provision_state, awaits(bench, uuid)) == (states.DEPLOYFAIL, False)


def test_a_step_that_waits_is_repeated_and_recorded_once(bench, machine, conf):
    conf(conductor__record_step_flows_in_history=True)
    uuid = bench.node("vendor", "deploy", provision_state=states.AVAILABLE)
    bench.script.answers["second"] = lambda task: machine["state"] or task.management.set_secure_boot_state(task, True)
    assert bench.verb(uuid, "active")[0] == states.DEPLOYWAIT
    machine["state"] = None
    bench.script.answers["second"] = None
    look(bench, uuid)
    assert bench.state(uuid)[0] == states.ACTIVE
    assert [call for call in bench.script.calls if call in ("first", "second", "third")] == [
        *("first", "second", "second", "third")
    ]
    begun = [event for _severity, _kind, event in bench.history(uuid) if event.endswith("second begins")]
    assert len(begun) == 1


def test_a_step_on_a_child_node_is_not_left(bench, machine):
    """The parent's flow waits for no child, so the step itself does."""
    parent = bench.node("vendor", "deploy", provision_state=states.MANAGEABLE)
    child = bench.node("vendor", provision_state=states.MANAGEABLE, parent_node=parent)
    bench.script.answers["second"] = lambda task: task.management.set_secure_boot_state(task, True)
    step = {"interface": "vendor", "step": "second", "args": {}, "execute_on_child_nodes": True}
    assert bench.verb(parent, "clean", clean_steps=[step])[0] == states.MANAGEABLE
    assert machine["state"]
    assert not any(awaits(bench, uuid) for uuid in (parent, child))


# Operations without a waiting state, and steps that go on by themselves


def leave_rescue(bench, machine) -> str:
    """Unrescue a node whose instance needs secure boot."""
    bench.script.answers["unrescue"] = lambda task: (
        machine["state"] or task.management.set_secure_boot_state(task, True)
    )
    uuid = bench.node("rescue", provision_state=states.RESCUE)
    assert bench.verb(uuid, "unrescue")[0] == states.UNRESCUING
    assert (bench.row(uuid).reservation, bench.pool.taken) == (None, 0)
    return uuid


def test_leaving_rescue_waits_in_its_state_without_a_worker(bench, machine):
    uuid = leave_rescue(bench, machine)
    look(bench, uuid, is_so=False)
    assert bench.script.calls.count("unrescue") == 1
    machine["state"] = None
    bench.script.answers["unrescue"] = states.ACTIVE
    look(bench, uuid)
    row = bench.row(uuid)
    assert (row.provision_state, row.last_error, awaits(bench, uuid)) == (states.ACTIVE, None, False)
    assert bench.script.calls.count("unrescue") == 2


def test_no_free_worker_delays_the_end_of_a_rescue(bench, machine):
    uuid = leave_rescue(bench, machine)
    bench.pool.full = True
    with pytest.raises(NoFreeConductorWorker):
        look(bench, uuid)
    assert awaits(bench, uuid)
    bench.pool.full, bench.script.answers["unrescue"] = False, states.ACTIVE
    look(bench, uuid)
    assert bench.state(uuid)[0] == states.ACTIVE


@pytest.mark.parametrize("kind", [kinds.CLEAN, kinds.SERVICE], ids=lambda kind: kind.name)
def test_no_free_worker_delays_the_end_of_a_step_in_the_bmc(bench, kind):
    def give_orders(task):
        STEP.remember(task, AtBmc())
        return STEP.begin(task, "the BMC to do it")

    def look_at_bmc(verdict) -> None:
        with bench.tasks.acquire(bench.context, uuid, LockMode.PERIODIC_SHARED, purpose="looking") as task:
            wait_ends.end_look(task, STEP.look(task, wait_of(task), lambda task, memory: verdict))

    bench.script.answers["first"] = give_orders
    uuid = kinds.begin(bench, kind, "first", "second")
    bench.pool.full = True
    with pytest.raises(NoFreeConductorWorker):
        look_at_bmc(StepDone())
    assert awaits(bench, uuid, STEP.kind)
    bench.pool.full = False
    look_at_bmc(None)
    assert bench.state(uuid)[0] == kind.waiting
    look_at_bmc(StepDone())
    assert bench.state(uuid) == kind.done
    assert not awaits(bench, uuid, STEP.kind)


@pytest.mark.parametrize("kind", [kinds.CLEAN, kinds.SERVICE], ids=lambda kind: kind.name)
def test_what_a_step_waits_for_is_on_the_node_in_its_history_and_in_the_log(bench, conf, kind, caplog):
    def give_orders(task):
        STEP.remember(task, AtBmc())
        return STEP.begin(task, "the BMC to report Turbo=Off")

    conf(conductor__record_step_flows_in_history=True)
    caplog.set_level("INFO")
    bench.script.answers["first"] = give_orders
    uuid = kinds.begin(bench, kind, "first", "second")
    told = bench.row(uuid).driver_internal_info["waiting_for"]
    assert told.startswith("the BMC to report Turbo=Off, until ")
    assert [event for *_, event in bench.history(uuid) if "waiting" in event] == [f"waiting for {told}"]
    assert f"waiting for {told}" in caplog.text
    with bench.tasks.acquire(bench.context, uuid, LockMode.PERIODIC_SHARED, purpose="looking") as task:
        wait_ends.end_look(task, STEP.look(task, wait_of(task), lambda task, memory: StepDone()))
    assert bench.state(uuid) == kind.done
    assert "waiting_for" not in bench.row(uuid).driver_internal_info


def test_the_wait_for_a_setting_is_told_and_forgotten(bench, machine, conf):
    conf(conductor__record_step_flows_in_history=True)
    uuid = deployed(bench, machine)
    told = bench.row(uuid).driver_internal_info["waiting_for"]
    assert told.startswith("the BMC to report secure_boot True, until ")
    assert f"waiting for {told}" in [event for *_, event in bench.history(uuid)]
    machine["state"] = True
    look(bench, uuid)
    assert "waiting_for" not in bench.row(uuid).driver_internal_info


def test_a_setting_without_effect_fails_leaving_rescue(bench, machine):
    uuid = leave_rescue(bench, machine)
    with bench.tasks.acquire(bench.context, uuid, purpose="a test") as task:
        wait_ends.end_look(task, StepFailed("the BMC has accepted it, but"))
    row = bench.row(uuid)
    assert (row.provision_state, awaits(bench, uuid)) == (states.UNRESCUEFAIL, False)
    assert "the BMC has accepted it, but" in row.last_error
    assert "rescue.clean_up" in bench.script.calls


def end_wait(bench, uuid) -> None:
    with bench.tasks.acquire(bench.context, uuid, purpose="a test") as task:
        node_waits.end(task.node, KIND)
        task.node.save()


@pytest.mark.demand("S60")
def test_what_restarts_is_no_orphan_while_it_is_looked_at(bench, machine):
    uuid, other = leave_rescue(bench, machine), leave_rescue(bench, machine)
    bench.store.conductors.register(bench.tasks.host, "", ["fake-hardware"], [])
    end_wait(bench, other)
    for one in (uuid, other):
        bench.store.nodes.update(one, {"provision_updated_at": bench.store.clock.now() - timedelta(hours=1)})
    takeover = TakeOver(bench.tasks, HashRingManager(bench.store, heartbeat_timeout=60))
    takeover.of_the_dead()
    assert [bench.state(one)[0] for one in (uuid, other)] == [states.UNRESCUING, states.UNRESCUEFAIL]
    with bench.tasks.acquire(bench.context, uuid, purpose="a test") as task:
        wait = waits.of(task, KIND)
        assert wait is not None
        node_waits.put(task.node, replace(wait, until=bench.store.clock.now() - timedelta(hours=1)))
        task.node.save()
    takeover.of_the_dead()
    assert bench.state(uuid)[0] == states.UNRESCUEFAIL


def test_the_wait_of_a_step_that_polls_ends_without_its_flow(bench, machine):
    def wait(task):
        with pytest.raises(Suspended), waits.waiting(task, Waiter.STEP):
            task.management.set_secure_boot_state(task, True)
        return states.CLEANWAIT

    bench.script.answers["second"] = wait
    step = {"interface": "vendor", "step": "second", "args": {}}
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    assert bench.verb(uuid, "clean", clean_steps=[step])[0] == states.CLEANWAIT
    assert awaits(bench, uuid)
    look(bench, uuid)
    row = bench.row(uuid)
    assert (row.provision_state, row.secure_boot, awaits(bench, uuid)) == (states.CLEANWAIT, True, False)
