"""Deploy templates: those that an instance's traits name add their steps to its deployment."""

from typing import Any

import pytest

from ironic.core.errors import Conflict, InvalidParameterValue
from ironic.core.flows import states


def step(name: str, priority: int = 400, **args: Any) -> dict[str, Any]:
    return {"interface": "vendor", "step": name, "args": args, "priority": priority}


def template(bench, name: str, *steps: dict[str, Any]) -> None:
    bench.store.deploy_templates.create_with({"name": name}, list(steps))


def node(bench, *traits: str, state: str = states.AVAILABLE) -> str:
    uuid = bench.node("vendor", provision_state=state, instance_info={"traits": list(traits)} if traits else {})
    bench.store.traits.replace(bench.store.nodes.get(uuid).id, traits)
    return uuid


@pytest.mark.parametrize(("verb", "state"), [("active", states.AVAILABLE), ("rebuild", states.ACTIVE)])
def test_its_steps_join_the_deployment(bench, verb, state):
    template(bench, "CUSTOM_A", step("on_demand", 250, speed=3), step("second", 0))
    template(bench, "CUSTOM_B", step("third", 500))
    template(bench, "CUSTOM_C", step("first", 0))
    uuid = node(bench, "CUSTOM_B", "CUSTOM_A", "CUSTOM_NOBODY", state=state)
    assert bench.verb(uuid, verb) == (states.ACTIVE, None)
    assert bench.script.calls == ["third", "first", "on_demand"]
    assert bench.script.arguments["on_demand"] == {"speed": 3}


def test_an_instance_without_traits_asks_for_none(bench):
    template(bench, "CUSTOM_A", step("first", 0))
    bench.verb(node(bench), "active")
    assert bench.script.calls == ["first", "second", "third"]


def test_the_user_overrides_a_template(bench):
    template(bench, "CUSTOM_A", step("on_demand", 250, speed=3), step("third", 0), step("first", 0))
    asked = [step("on_demand", 10, speed=7), step("third", 900)]
    bench.verb(node(bench, "CUSTOM_A"), "active", deploy_steps=asked)
    assert bench.script.calls == ["third", "second", "on_demand"]
    assert bench.script.arguments["on_demand"] == {"speed": 7}


def test_a_step_that_is_not_allowed_is_left_out(bench, conf):
    conf(api__disallow_deploy_steps=["vendor.on_demand"])
    template(bench, "CUSTOM_A", step("on_demand", 250, speed=3), step("first", 0))
    assert bench.verb(node(bench, "CUSTOM_A"), "active") == (states.ACTIVE, None)
    assert bench.script.calls == ["second", "third"]


def test_two_templates_may_want_the_same_and_the_user_settles_what_differs(bench):
    template(bench, "CUSTOM_A", step("on_demand", 250, speed=3), step("first", 0))
    template(bench, "CUSTOM_B", step("on_demand", 250, speed=4), step("first", 0))
    uuid = node(bench, "CUSTOM_A", "CUSTOM_B")
    with pytest.raises(InvalidParameterValue, match="CUSTOM_A and CUSTOM_B define step vendor.on_demand"):
        bench.verb(uuid, "active")
    assert bench.verb(uuid, "active", deploy_steps=[step("on_demand", 250, speed=5)]) == (states.ACTIVE, None)
    assert bench.script.arguments["on_demand"] == {"speed": 5}


CORE = {"interface": "deploy", "step": "deploy", "args": {}, "priority": 300}


@pytest.mark.parametrize(
    ("steps", "words"),
    [([step("on_demand")], "speed"), ([step("first", odd=1)], "no argument odd"), ([CORE], "not replaced")],
)
def test_what_can_not_be_is_told_while_the_user_waits(bench, steps, words):
    template(bench, "CUSTOM_A", *steps)
    uuid = node(bench, "CUSTOM_A")
    with pytest.raises(InvalidParameterValue, match=words):
        bench.verb(uuid, "active")
    assert bench.state(uuid) == (states.AVAILABLE, None)
    assert bench.script.calls == []


def test_a_template_may_switch_the_core_step_off(bench):
    template(bench, "CUSTOM_A", {**CORE, "priority": 0})
    uuid = node(bench, "CUSTOM_A")
    bench.verb(uuid, "active")
    assert not [event for _severity, _type, event in bench.history(uuid) if "deploy.deploy" in event]


@pytest.mark.parametrize(("verb", "state"), [("active", states.AVAILABLE), ("rebuild", states.ACTIVE)])
def test_a_trait_that_the_node_does_not_have_is_refused_at_the_request(bench, verb, state):
    uuid = node(bench, "CUSTOM_A", "CUSTOM_B", state=state)
    bench.store.traits.remove(bench.store.nodes.get(uuid).id, "CUSTOM_B")
    with pytest.raises(InvalidParameterValue, match="does not have: CUSTOM_B"):
        bench.verb(uuid, verb)
    assert bench.state(uuid) == (state, None)
    assert bench.store.nodes.get(uuid).reservation is None
    assert bench.script.calls == []


@pytest.mark.parametrize("traits", ["CUSTOM_A", {"CUSTOM_A": 1}, [1], 5, [f"CUSTOM_{n}" for n in range(51)]])
def test_traits_that_are_no_list_of_names_or_too_many_are_refused(bench, traits):
    uuid = bench.node("vendor", provision_state=states.AVAILABLE, instance_info={"traits": traits})
    with pytest.raises(InvalidParameterValue, match="traits"):
        bench.verb(uuid, "active")


@pytest.mark.parametrize("judged", [None, [], ["CUSTOM_B"], ["CUSTOM_A", "CUSTOM_B"]])
def test_traits_that_were_changed_since_the_caller_was_judged_are_refused(bench, judged):
    template(bench, "CUSTOM_A", step("first", 0))
    uuid = node(bench, "CUSTOM_A")
    with pytest.raises(Conflict, match="Try again"):
        bench.verb(uuid, "active", judged_instance={"traits": judged})
    assert bench.script.calls == []
    assert bench.verb(uuid, "active", judged_instance={"traits": ["CUSTOM_A"]}) == (states.ACTIVE, None)
