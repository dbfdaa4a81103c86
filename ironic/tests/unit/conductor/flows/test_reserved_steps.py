"""The steps the engine performs itself, between those of drivers: hold, wait and power."""

from typing import Any

import pytest

from ironic.conductor.flows.wait_ends import ON_TIMEOUT
from ironic.core.errors import NoFreeConductorWorker
from ironic.core.flows import states
from ironic.tests.unit.conductor.flows.kinds import CLEAN, DEPLOY, Kind, every_flow, played


def with_reserved(kind: Kind, name: str, **args: Any) -> dict[str, Any]:
    """Return the verb's arguments for first, a reserved step and third."""
    arguments = kind.steps("first", "third")
    reserved: dict[str, Any] = {"interface": "deploy", "step": name, "args": args}
    if kind is DEPLOY:
        reserved["priority"] = 899.5
    arguments[kind.asks].insert(1, reserved)
    return arguments


def reserved_node(bench, kind: Kind, **values: Any) -> str:
    return bench.node("vendor", "deploy", "power", provision_state=kind.begins_in, **values)


@every_flow
def test_it_holds_until_a_user_lets_go(bench, kind):
    uuid = reserved_node(bench, kind)
    assert bench.verb(uuid, kind.verb, **with_reserved(kind, "hold")) == (kind.held, kind.target)
    node = bench.row(uuid)
    assert getattr(node, kind.column)["step"] == "hold"
    assert node.reservation is None
    assert played(bench) == ["first"]
    assert bench.verb(uuid, "unhold") == kind.done
    assert played(bench) == ["first", "third"]


@every_flow
def test_it_stays_held_without_a_free_worker(bench, kind):
    uuid = reserved_node(bench, kind)
    bench.verb(uuid, kind.verb, **with_reserved(kind, "hold"))
    bench.pool.full = True
    with pytest.raises(NoFreeConductorWorker):
        bench.verb(uuid, "unhold")
    assert bench.state(uuid) == (kind.held, kind.target)
    bench.pool.full = False
    assert bench.verb(uuid, "unhold") == kind.done


@every_flow
def test_it_shows_a_held_step_as_the_user_wrote_it(bench, kind):
    uuid = reserved_node(bench, kind)
    bench.verb(uuid, kind.verb, **with_reserved(kind, "hold"))
    shown = getattr(bench.row(uuid), kind.column)
    assert {key: shown[key] for key in ("step", "interface")} == {"step": "hold", "interface": "deploy"}
    assert "abortable" not in shown


@pytest.mark.parametrize("kind", [CLEAN, DEPLOY], ids=lambda kind: kind.name)
def test_it_goes_on_with_the_agents_next_heartbeat_after_a_hold(bench, kind):
    uuid = reserved_node(bench, kind)
    bench.verb(uuid, kind.verb, **with_reserved(kind, "hold"))
    bench.beat(uuid)
    assert bench.state(uuid)[0] == kind.held
    assert bench.verb(uuid, "unhold")[0] == kind.waiting
    bench.beat(uuid)
    assert bench.state(uuid) == kind.done
    assert played(bench) == ["first", "third"]


@every_flow
def test_it_waits_for_a_sign_of_life(bench, kind):
    uuid = reserved_node(bench, kind)
    assert bench.verb(uuid, kind.verb, **with_reserved(kind, "wait"))[0] == kind.waiting
    bench.beat(uuid)
    assert bench.state(uuid) == kind.done
    assert played(bench) == ["first", "third"]


@every_flow
def test_it_waits_for_some_seconds_and_no_longer_than_allowed(bench, kind, conf):
    conf(conductor__max_conductor_wait_step_seconds=0)
    uuid = reserved_node(bench, kind)
    assert bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=1000)) == kind.done


@every_flow
def test_it_goes_on_by_itself_after_that_time(bench, kind):
    uuid = reserved_node(bench, kind)
    assert bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20))[0] == kind.waiting
    assert bench.row(uuid).driver_internal_info["waiting_for"].startswith("the end of a pause of 20 seconds, until ")
    bench.look(19)
    assert bench.state(uuid)[0] == kind.waiting
    bench.look(2)
    assert bench.state(uuid) == kind.done
    assert played(bench) == ["first", "third"]
    assert "waiting_for" not in bench.row(uuid).driver_internal_info


@pytest.mark.demand("S63")
@every_flow
def test_nothing_holds_the_node_while_it_waits_and_heartbeats_do_not_end_it(bench, kind):
    uuid = reserved_node(bench, kind)
    bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20))
    bench.beat(uuid)
    node = bench.row(uuid)
    assert (node.provision_state, getattr(node, kind.column)["step"]) == (kind.waiting, "wait")
    assert (node.reservation, bench.pool.taken) == (None, 0)
    bench.look(21)
    assert bench.state(uuid) == kind.done


@every_flow
def test_an_abort_ends_it_at_once(bench, kind):
    uuid = reserved_node(bench, kind)
    bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20))
    bench.verb(uuid, "abort")
    assert bench.state(uuid)[0] in (kind.failed, states.ACTIVE)
    bench.look(21)
    assert played(bench) == ["first"]


@every_flow
def test_another_wait_that_began_meanwhile_is_left_alone(bench, kind):
    """Aborted and begun again while the first wait goes on: that one has no say any more."""
    uuid = reserved_node(bench, kind)
    listed = with_reserved(kind, "wait", seconds=20)
    bench.verb(uuid, kind.verb, **listed)
    bench.look(15)
    bench.verb(uuid, "abort")
    bench.store.nodes.update(uuid, {"provision_state": kind.begins_in, "maintenance": False})
    bench.verb(uuid, kind.verb, **listed)
    bench.look(15)
    assert bench.state(uuid)[0] == kind.waiting
    assert played(bench) == ["first", "first"]


@every_flow
def test_a_node_that_was_taken_into_maintenance_is_left_alone(bench, kind):
    uuid = reserved_node(bench, kind)
    bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20))
    bench.store.nodes.update(uuid, {"maintenance": True})
    bench.look(21)
    assert bench.state(uuid)[0] == kind.waiting
    bench.store.nodes.update(uuid, {"maintenance": False})
    bench.look()
    assert bench.state(uuid) == kind.done


@every_flow
def test_a_pause_that_is_longer_than_a_wait_may_be_does_not_time_out(bench, kind):
    uuid = reserved_node(bench, kind)
    bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20))
    with bench.tasks.acquire(bench.context, uuid, purpose="overdue") as task:
        task.spawn_after(ON_TIMEOUT[kind.waiting], task, "Nothing came in time.")
    assert bench.state(uuid)[0] == kind.waiting
    assert bench.row(uuid).reservation is None


@every_flow
def test_without_a_free_worker_it_goes_on_a_little_later(bench, kind, caplog):
    uuid = reserved_node(bench, kind)
    bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20))
    bench.pool.refuses_work = True
    bench.look(21)
    assert bench.state(uuid)[0] == kind.waiting
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    assert bench.row(uuid).reservation is None
    bench.pool.refuses_work = False
    bench.look(6)
    assert bench.state(uuid) == kind.done


@every_flow
@pytest.mark.parametrize(
    "name, call, after",
    [
        ("power_on", "set power on", "power on"),
        ("power_off", "set power off", "power off"),
        ("reboot", "set rebooting", "power on"),
    ],
)
def test_it_changes_the_power_between_steps(bench, kind, name, call, after):
    uuid = reserved_node(bench, kind)
    assert bench.verb(uuid, kind.verb, **with_reserved(kind, name)) == kind.done
    assert call in bench.script.calls
    assert bench.row(uuid).power_state == after


def test_it_fails_when_a_machine_must_not_be_switched_off(bench):
    uuid = reserved_node(bench, CLEAN, disable_power_off=True)
    assert bench.verb(uuid, "clean", **with_reserved(CLEAN, "power_off"))[0] == states.CLEANFAIL
    assert "disable_power_off" in bench.row(uuid).last_error
