"""A user ends what a node waits for: at once where that is possible, else when the step ends."""

import pytest

from ironic.conductor.flows import wait_ends
from ironic.core.errors import InvalidStateRequested, IronicError, NodeInMaintenance
from ironic.core.flows import states

CLEAR_UP = {"clean": "tear_down_cleaning", "deploy": "clean_up", "service": "tear_down_service"}
WAITING = {"clean": states.CLEANWAIT, "deploy": states.DEPLOYWAIT, "service": states.SERVICEWAIT}

# Where an abort leads; what a serviced machine runs stays in use.
ENDS = {
    "clean": (states.CLEANFAIL, states.MANAGEABLE),
    "deploy": (states.DEPLOYFAIL, states.ACTIVE),
    "service": (states.ACTIVE, None),
}

every_flow = pytest.mark.parametrize("flow", ["clean", "deploy", "service"])


def waiting_in(bench, flow: str, step: str) -> str:
    """Return a node that waits in a step of the scripted vendor interface."""
    bench.script.answers[step] = WAITING[flow]
    return started(bench, flow, [{"interface": "vendor", "step": step}, {"interface": "vendor", "step": "first"}])


def started(bench, flow: str, listed: list[dict]) -> str:
    begins_in = {"clean": states.MANAGEABLE, "deploy": states.AVAILABLE, "service": states.ACTIVE}[flow]
    verb = {"deploy": "active"}.get(flow, flow)
    if flow == "deploy":
        listed = [{"args": {}, **step, "priority": 900 - index} for index, step in enumerate(listed)]
    uuid = bench.node("vendor", "deploy", provision_state=begins_in)
    bench.verb(uuid, verb, **{f"{flow}_steps": listed})
    return uuid


@every_flow
def test_it_aborts_at_once_in_a_step_that_can_be_interrupted(bench, flow):
    uuid = waiting_in(bench, flow, "second")
    assert bench.verb(uuid, "abort") == ENDS[flow]
    node = bench.row(uuid)
    assert CLEAR_UP[flow] in bench.script.calls
    assert "vendor.second" in node.last_error
    assert getattr(node, f"{flow}_step") == {}
    assert node.reservation is None


@pytest.mark.demand("S55")
@every_flow
def test_it_leaves_maintenance_as_it_is(bench, flow):
    uuid = waiting_in(bench, flow, "second")
    bench.verb(uuid, "abort")
    node = bench.row(uuid)
    assert (node.maintenance, node.maintenance_reason, node.fault) == (False, None, None)


@every_flow
def test_it_aborts_when_the_step_ends_if_that_can_not_be_interrupted(bench, flow):
    uuid = waiting_in(bench, flow, "third")
    state = bench.state(uuid)
    assert bench.verb(uuid, "abort") == state
    assert getattr(bench.row(uuid), f"{flow}_step")["abort_after"] is True
    assert CLEAR_UP[flow] not in bench.script.calls
    with bench.tasks.acquire(bench.context, uuid, purpose="poll") as task:
        wait_ends.continue_flow(task)
    assert bench.state(uuid) == ENDS[flow]
    assert "first" not in bench.script.calls
    assert CLEAR_UP[flow] in bench.script.calls


@every_flow
def test_it_aborts_while_the_machine_is_held(bench, flow):
    uuid = started(bench, flow, [{"interface": "deploy", "step": "hold"}])
    assert bench.verb(uuid, "abort") == ENDS[flow]
    assert ("tear_down" in bench.script.calls) is (flow == "deploy")


@pytest.mark.parametrize("flow", ["clean", "service"])
def test_it_aborts_while_the_ramdisk_is_on_its_way(bench, flow):
    bench.script.answers[{"clean": "prepare_cleaning", "service": "prepare_service"}[flow]] = WAITING[flow]
    uuid = started(bench, flow, [{"interface": "vendor", "step": "second"}])
    assert bench.state(uuid)[0] == WAITING[flow]
    assert bench.verb(uuid, "abort") == ENDS[flow]


@every_flow
def test_it_says_when_clearing_up_fails(bench, flow):
    bench.script.answers[CLEAR_UP[flow]] = IronicError("the switch is gone")
    uuid = waiting_in(bench, flow, "second")
    assert bench.verb(uuid, "abort") == ENDS[flow]
    assert "the switch is gone" in bench.row(uuid).last_error


def test_it_gives_back_a_machine_whose_servicing_failed(bench):
    uuid = bench.node(provision_state=states.SERVICEFAIL, target_provision_state=states.ACTIVE, last_error="no")
    assert bench.verb(uuid, "abort") == (states.ACTIVE, None)
    assert bench.row(uuid).last_error is None


def test_it_does_so_only_after_an_operator_has_looked_at_it(bench):
    uuid = bench.node(provision_state=states.SERVICEFAIL, target_provision_state=states.ACTIVE, maintenance=True)
    with pytest.raises(NodeInMaintenance):
        bench.verb(uuid, "abort")
    assert bench.state(uuid) == (states.SERVICEFAIL, states.ACTIVE)


@pytest.mark.parametrize("state", [states.CLEANING, states.CLEANFAIL, states.ACTIVE, states.INSPECTING, states.ENROLL])
def test_it_refuses_to_abort_where_nothing_waits(bench, state):
    uuid = bench.node(provision_state=state)
    with pytest.raises(InvalidStateRequested):
        bench.verb(uuid, "abort")
