"""The steps the engine performs itself, between those of drivers: hold, wait and power."""

from typing import Any

import pytest

from ironic.core import states
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
