"""The plan that people may look at, and how a driver that polls brings a flow back."""

import pytest

from ironic.core.errors import InvalidState, NodeLocked
from ironic.core.flows import states
from ironic.core.memory.agent_memory import AgentMemory


@pytest.mark.demand("S59")
def test_it_shows_what_cleaning_runs_in_the_order_it_runs(bench, conf):
    conf(conductor__clean_step_priority_override=[{"vendor.third": "99", "vendor.first": "0"}])
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    shown = bench.endpoint.cleaning_steps(bench.context, uuid)
    assert [list(step)[:3] for step in shown["steps"]] == [["step", "priority", "interface"]] * 2
    assert [(step["step"], step["priority"]) for step in shown["steps"]] == [("third", 99), ("second", 20)]
    assert shown["source"] == {"vendor": {"cached_at": None}}
    bench.verb(uuid, "provide")
    assert [name for name in bench.script.calls if name in ("first", "second", "third")] == ["third", "second"]


@pytest.mark.demand("S59")
def test_it_says_how_old_the_steps_of_an_agent_are(bench):
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    node = bench.row(uuid)
    offered = {"Manager": [{"step": "polish", "interface": "vendor", "priority": 5}]}
    agent = AgentMemory(node)
    agent.store_steps("clean", offered, {"Manager": "1"})
    node.save()
    shown = bench.endpoint.cleaning_steps(bench.context, uuid)
    assert shown["source"] == {"vendor": {"cached_at": agent.steps_refreshed_at("clean")}}


def test_it_shows_the_plan_of_a_node_that_is_locked(bench):
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    with bench.tasks.acquire(bench.context, uuid, purpose="something else"):
        assert len(bench.endpoint.cleaning_steps(bench.context, uuid)["steps"]) == 3


def test_a_driver_that_polls_lets_the_flow_go_on(bench):
    bench.script.answers["second"] = states.CLEANWAIT
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    assert bench.verb(uuid, "provide")[0] == states.CLEANWAIT
    bench.endpoint.continue_flow(bench.context, uuid)
    assert bench.state(uuid) == (states.AVAILABLE, None)


def test_nothing_goes_on_that_does_not_wait(bench):
    uuid = bench.node(provision_state=states.MANAGEABLE)
    with pytest.raises(InvalidState):
        bench.endpoint.continue_flow(bench.context, uuid)
    with bench.tasks.acquire(bench.context, uuid, purpose="other work"), pytest.raises(NodeLocked):
        bench.endpoint.continue_flow(bench.context, uuid)
