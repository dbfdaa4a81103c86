"""The steps the engine performs itself, between those of drivers: hold, wait and power."""

from datetime import timedelta
from typing import Any

import pytest

from ironic.conductor.flows.resuming import ON_TIMEOUT
from ironic.conductor.timeouts import Timeouts
from ironic.core import states
from ironic.core.errors import NoFreeConductorWorker
from ironic.rpc.hash_ring import HashRingManager
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
    assert bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=0.01)) == kind.done
    assert played(bench) == ["first", "third"]
    assert f"{kind.name}_step_waits_until" not in bench.row(uuid).driver_internal_info


@pytest.fixture
def meanwhile(bench, monkeypatch):
    """Return a list of what is done while a step waits for some time; the wait is over with the last of it."""
    acts: list[Any] = []

    def pause(seconds: float) -> bool:
        return all(act() is not False for act in acts)

    monkeypatch.setattr(bench.store.clock, "sleep", pause)
    return acts


@pytest.mark.demand("S63")
@every_flow
def test_nobody_holds_the_node_while_it_waits_and_heartbeats_do_not_end_it(bench, kind, meanwhile):
    uuid = reserved_node(bench, kind)
    seen = []

    def look() -> None:
        bench.beat(uuid)
        node = bench.row(uuid)
        seen.append((node.provision_state, getattr(node, kind.column)["step"], node.reservation))

    meanwhile.append(look)
    assert bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20)) == kind.done
    assert seen == [(kind.waiting, "wait", None)]
    assert played(bench) == ["first", "third"]


@every_flow
def test_an_abort_ends_it_at_once(bench, kind, meanwhile):
    uuid = reserved_node(bench, kind)
    meanwhile.append(lambda: bench.verb(uuid, "abort"))
    bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20))
    assert bench.state(uuid)[0] in (kind.failed, states.ACTIVE)
    assert played(bench) == ["first"]


@every_flow
def test_another_wait_that_began_meanwhile_is_left_alone(bench, kind, meanwhile):
    """Aborted and begun again while the first wait goes on: that one has no say any more."""
    uuid = reserved_node(bench, kind)
    listed = with_reserved(kind, "wait", seconds=20)

    def once_more() -> None:
        meanwhile.clear()
        meanwhile.append(lambda: False)  # the second wait is not over
        bench.verb(uuid, "abort")
        bench.store.nodes.update(uuid, {"provision_state": kind.begins_in, "maintenance": False})
        bench.verb(uuid, kind.verb, **listed)

    meanwhile.append(once_more)
    bench.verb(uuid, kind.verb, **listed)
    assert bench.state(uuid)[0] == kind.waiting
    assert played(bench) == ["first", "first"]


@every_flow
def test_a_node_that_was_taken_into_maintenance_is_left_alone(bench, kind, meanwhile):
    uuid = reserved_node(bench, kind)
    meanwhile.append(lambda: bench.store.nodes.update(uuid, {"maintenance": True}))
    bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20))
    assert bench.state(uuid)[0] == kind.waiting


def stopped_in_a_wait(bench, kind: Kind, meanwhile, seconds_ago: int) -> str:
    """Return a node whose conductor was stopped while it waited for a time that was over so long ago."""
    uuid = reserved_node(bench, kind)
    meanwhile.append(lambda: False)
    assert bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20))[0] == kind.waiting
    node = bench.row(uuid)
    until = node.now() - timedelta(seconds=seconds_ago)
    node.set_driver_internal_info(f"{kind.name}_step_waits_until", until.isoformat())
    node.save()
    return uuid


@every_flow
@pytest.mark.parametrize("comes", ["a heartbeat", "the look for overdue waits"])
@pytest.mark.parametrize("seconds_ago", [5, -600])
def test_a_conductor_that_ends_leaves_the_wait_to_others(bench, kind, meanwhile, comes, seconds_ago):
    uuid = stopped_in_a_wait(bench, kind, meanwhile, seconds_ago)
    if comes == "a heartbeat":
        bench.beat(uuid)
    else:
        with bench.tasks.acquire(bench.context, uuid, purpose="overdue") as task:
            task.spawn_after(ON_TIMEOUT[kind.waiting], task, "Nothing came in time.")
    if seconds_ago > 0:
        assert bench.state(uuid) == kind.done
        assert played(bench) == ["first", "third"]
    else:
        assert bench.state(uuid)[0] == kind.waiting
    assert bench.row(uuid).reservation is None


def look_for_overdue_waits(bench) -> None:
    bench.store.conductors.register(bench.tasks.host, "", ["fake-hardware"], [])
    Timeouts(bench.tasks, HashRingManager(bench.store, heartbeat_timeout=60), ON_TIMEOUT)()


@every_flow
@pytest.mark.parametrize("seconds_ago", [30, -600])
def test_a_wait_that_a_conductor_has_left_ends_soon_without_an_agent(bench, kind, meanwhile, seconds_ago):
    uuid = stopped_in_a_wait(bench, kind, meanwhile, seconds_ago)
    look_for_overdue_waits(bench)
    assert bench.state(uuid) == (kind.done if seconds_ago > 0 else (kind.waiting, kind.target))
    assert bench.row(uuid).reservation is None


@every_flow
def test_without_a_free_worker_it_goes_on_a_little_later(bench, kind, meanwhile, caplog):
    uuid = reserved_node(bench, kind)
    meanwhile.append(lambda: setattr(bench.pool, "full", True))
    assert bench.verb(uuid, kind.verb, **with_reserved(kind, "wait", seconds=20))[0] == kind.waiting
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    node = bench.row(uuid)
    assert node.reservation is None
    node.set_driver_internal_info(f"{kind.name}_step_waits_until", (node.now() - timedelta(seconds=30)).isoformat())
    node.save()
    bench.pool.full = False
    look_for_overdue_waits(bench)
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
