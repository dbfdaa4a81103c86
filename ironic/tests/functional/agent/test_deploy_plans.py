"""The plan of a deployment before and after its agent has come: nothing is lost, and nothing runs too early."""

from typing import Any

import pytest

from ironic.core.flows import states
from ironic.tests.functional.agent.conftest import beat
from ironic.tests.functional.agent.test_in_band_steps import NOOP, SLEEP, executed, waiting

EARLY = {**SLEEP, "priority": 150}
LATE = {**NOOP, "args": {}, "priority": 50}


def planned(bench: Any, uuid: str) -> list[tuple[str, float]]:
    steps = bench.row(uuid).driver_internal_info["deploy_steps"]
    return [(step["step"], step["priority"]) for step in steps]


def test_a_step_of_the_agents_waits_for_the_agent_however_high_its_priority(bench, agent):
    uuid = waiting(bench, agent, states.AVAILABLE, deploy_steps=[LATE, EARLY])
    assert planned(bench, uuid) == [
        ("deploy", 100), ("loopback_sleep", 150), ("loopback_noop", 50), ("own_step", 10)
    ]  # fmt: skip
    assert bench.row(uuid).deploy_step["step"] == "deploy"
    for name in ("loopback_sleep", "loopback_noop"):
        assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, name)
        agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert executed(agent) == ["loopback_sleep", "loopback_noop"]


def test_what_the_agent_of_an_earlier_deployment_had_makes_no_difference(bench, agent):
    uuid = waiting(bench, agent, states.AVAILABLE, deploy_steps=[EARLY])
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert "agent_cached_deploy_steps" in bench.row(uuid).driver_internal_info
    agent.restart()
    bench.verb(uuid, "rebuild", deploy_steps=[EARLY])
    assert bench.row(uuid).deploy_step["step"] == "deploy"
    assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, "loopback_sleep")
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE


def test_steps_that_the_agent_enables_itself_take_their_places(bench, agent):
    own = {name: {"step": name, "interface": "deploy", "priority": priority}
           for name, priority in (("first_of_all", 200), ("before_own", 20), ("never", 0))}  # fmt: skip
    agent.results["deploy.get_deploy_steps"] = {
        "deploy_steps": {"Manager": list(own.values())},
        "hardware_manager_version": {"Manager": "1"},
    }
    uuid = waiting(bench, agent, states.AVAILABLE)
    for name in ("first_of_all", "before_own"):
        assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, name)
        agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert executed(agent) == ["first_of_all", "before_own"]


WRONG = {
    "unknown": ({"interface": "deploy", "step": "unheard_of", "args": {}, "priority": 150}, "deploy.unheard_of"),
    "an argument too many": ({**NOOP, "args": {"odd": 1}, "priority": 150}, "deploy.loopback_noop takes no argument"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_step_that_turns_out_wrong_fails_the_deployment_with_its_name(bench, agent, what):
    step, words = WRONG[what]
    uuid = waiting(bench, agent, states.AVAILABLE, deploy_steps=[step, {**SLEEP, "priority": 50}])
    assert bench.state(uuid)[0] == states.DEPLOYWAIT
    assert beat(bench, agent, uuid)[0] == states.DEPLOYFAIL
    node = bench.row(uuid)
    assert words in node.last_error
    assert (node.maintenance, executed(agent)) == (False, [])


def test_a_step_of_the_agents_without_an_agent_fails_and_is_not_passed_over(bench, agent):
    switched_off = {"interface": "deploy", "step": "deploy", "args": {}, "priority": 0}
    uuid = waiting(bench, agent, states.AVAILABLE, deploy_steps=[switched_off, LATE])
    assert bench.state(uuid)[0] == states.DEPLOYFAIL
    assert "loopback_noop" in bench.row(uuid).last_error


def test_steps_of_a_template_and_of_the_user_meet_those_of_the_agent(bench, agent):
    bench.store.deploy_templates.create_with({"name": "CUSTOM_FAST"}, [
        {"interface": "deploy", "step": "loopback_sleep", "args": {"seconds": 9}, "priority": 150},
        {"interface": "deploy", "step": "loopback_noop", "args": {}, "priority": 140},
        {"interface": "deploy", "step": "own_step", "args": {}, "priority": 0},
    ])  # fmt: skip
    uuid = bench.node(
        "deploy", provision_state=states.AVAILABLE, vendor_interface="no-vendor",
        instance_info={"traits": ["CUSTOM_FAST"]},
    )  # fmt: skip
    bench.store.traits.add(bench.store.nodes.get(uuid).id, "CUSTOM_FAST")
    bench.verb(uuid, "active", deploy_steps=[{**SLEEP, "priority": 30}])
    for name in ("loopback_noop", "loopback_sleep"):
        assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, name)
        agent.end()
    assert agent.received[-1][1]["step"]["args"] == {"seconds": 2}
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert "own_step" not in bench.row(uuid).properties
