"""Whatever moves a node out of a state in which it waits ends what it waits for: no wait of an earlier run is left."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ironic.conductor import transitions
from ironic.conductor.transitions import Recorder
from ironic.core.context import RequestContext
from ironic.core.flows import node_waits, states
from ironic.core.flows.node_waits import Follows
from ironic.drivers.contract import waits
from ironic.tests.unit.conductor.flows.bench import Bench

EVENTS = sorted({event for _, event, _ in states.MOVES})


@pytest.mark.demand("S60")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(states.WORKING)), st.lists(st.sampled_from(EVENTS), max_size=12), st.data())
def test_after_any_move(bench: Bench, begin: str, events: list[str], data: st.DataObject) -> None:
    uuid = bench.node(provision_state=begin)
    recorder = Recorder(bench.store, bench.tasks.host)
    with bench.tasks.acquire(bench.context, uuid, purpose="a test") as task:
        for event in events:
            node = task.node
            for number in range(data.draw(st.integers(0, 2))):
                waits.begin(
                    task, f"kind {number}", "it", None, interface=None, seconds=60, follows=Follows.FLOW
                )  # fmt: skip
            if data.draw(st.booleans()):
                node.save()
            if not states.allows(node.provision_state, event):
                continue
            move = transitions.decide(node, event, target=None, last_error="No.", clear_error=False)
            recorder.perform(RequestContext(), node, move)
            left = [wait.kind for wait in bench.store.node_waits.of(node.id)]
            assert left == node_waits.open_kinds(node)
            assert not node.pending_waits
            assert left == [] or node.provision_state in states.WAITING
            assert (node_waits.text_of(node) is None) or node.provision_state in states.WAITING
