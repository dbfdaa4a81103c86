"""Inspecting: the states, the times and the answers; what is found is the inspect interface's business."""

import pytest

from ironic.conductor.flows.wait_ends import ON_TIMEOUT
from ironic.core.errors import HardwareInspectionFailure, IronicError, MissingParameterValue, NodeLocked, NotFound
from ironic.core.flows import states

INVENTORY = {"interfaces": [{"mac_address": "52:54:00:00:00:01"}]}


def waiting(bench) -> str:
    bench.script.answers["inspect_hardware"] = states.INSPECTWAIT
    uuid = bench.node("inspect", provision_state=states.MANAGEABLE)
    assert bench.verb(uuid, "inspect") == (states.INSPECTWAIT, states.MANAGEABLE)
    return uuid


def post(bench, uuid: str) -> None:
    bench.endpoint.continue_inspection(bench.context, uuid, INVENTORY, {"root_disk": None})


def test_it_inspects_at_once(bench):
    uuid = bench.node(provision_state=states.MANAGEABLE)
    assert bench.verb(uuid, "inspect") == (states.MANAGEABLE, None)
    node = bench.row(uuid)
    assert node.inspection_finished_at is not None
    assert node.inspection_started_at is None


def test_it_waits_without_holding_the_node(bench):
    node = bench.row(waiting(bench))
    assert node.inspection_started_at is not None
    assert node.inspection_finished_at is None
    assert node.reservation is None


@pytest.mark.demand("S70", "S80")
def test_it_goes_on_when_data_arrive(bench):
    uuid = waiting(bench)
    seen = []
    bench.script.answers["continue_inspection"] = lambda task: seen.append(bench.state(task.node.uuid)[0])
    post(bench, uuid)
    assert seen == [states.INSPECTING]
    assert bench.script.arguments["continue_inspection"] == {"inventory": INVENTORY, "plugin_data": {"root_disk": None}}
    assert bench.state(uuid) == (states.MANAGEABLE, None)
    assert bench.row(uuid).inspection_finished_at is not None


@pytest.mark.demand("S80")
@pytest.mark.parametrize("state", sorted(states.ALL - {states.INSPECTWAIT}))
def test_it_answers_data_nobody_waits_for_as_if_there_were_no_node(bench, state):
    uuid = bench.node("inspect", provision_state=state)
    with pytest.raises(NotFound):
        post(bench, uuid)
    assert bench.state(uuid) == (state, None)
    assert bench.row(uuid).reservation is None


@pytest.mark.demand("S80")
def test_a_second_post_of_the_same_data_does_no_harm(bench):
    uuid = waiting(bench)
    post(bench, uuid)
    with pytest.raises(NotFound):
        post(bench, uuid)
    assert bench.script.calls.count("continue_inspection") == 1


@pytest.mark.demand("S80")
def test_it_refuses_data_while_the_node_is_locked(bench):
    uuid = waiting(bench)
    bench.store.nodes.update(uuid, {"reservation": "elsewhere"})
    with pytest.raises(NodeLocked):
        post(bench, uuid)


@pytest.mark.parametrize("phase", ["inspect_hardware", "continue_inspection"])
@pytest.mark.parametrize(
    "answer",
    [IronicError("no disk"), "no disk", HardwareInspectionFailure(error="no disk")],
    ids=["error", "strange answer", "error of a hook"],
)
def test_it_fails_with_a_reason(bench, phase, answer):
    if phase == "continue_inspection":
        uuid = waiting(bench)
        bench.script.answers[phase] = answer
        post(bench, uuid)
    else:
        bench.script.answers[phase] = answer
        uuid = bench.node("inspect", provision_state=states.MANAGEABLE)
        bench.verb(uuid, "inspect")
    node = bench.row(uuid)
    assert bench.state(uuid) == (states.INSPECTFAIL, states.MANAGEABLE)
    assert "no disk" in node.last_error
    assert node.last_error.count("Inspection failed") == 1
    assert bench.history(uuid) == [("ERROR", "introspection", node.last_error)]
    assert node.maintenance is False


def test_it_inspects_again_after_a_failure(bench):
    uuid = bench.node(provision_state=states.INSPECTFAIL, last_error="no disk")
    assert bench.verb(uuid, "inspect") == (states.MANAGEABLE, None)
    assert bench.row(uuid).last_error is None


@pytest.mark.parametrize("interface, call", [("power", "power.validate"), ("inspect", "inspect.validate")])
def test_it_refuses_a_node_that_can_not_be_inspected_while_the_user_waits(bench, interface, call):
    bench.script.answers[call] = MissingParameterValue(err="no address")
    uuid = bench.node(interface, provision_state=states.MANAGEABLE)
    with pytest.raises(MissingParameterValue):
        bench.verb(uuid, "inspect")
    assert bench.state(uuid) == (states.MANAGEABLE, None)
    assert bench.row(uuid).inspection_started_at is None


@pytest.mark.parametrize("fault", [None, IronicError("the BMC is gone")])
def test_it_is_aborted_by_request(bench, fault):
    uuid = waiting(bench)
    bench.script.answers["inspect.abort"] = fault
    assert bench.verb(uuid, "abort") == (states.INSPECTFAIL, states.MANAGEABLE)
    node = bench.row(uuid)
    assert "by request" in node.last_error
    assert ("the BMC is gone" in node.last_error) is (fault is not None)
    assert node.inspection_started_at is None


def test_it_forgets_the_agent_of_an_earlier_operation(bench):
    info = {"agent_url": "http://192.0.2.7:9999", "agent_secret_token": "s", "other": 1}
    uuid = bench.node(provision_state=states.MANAGEABLE, driver_internal_info=info)
    bench.verb(uuid, "inspect")
    assert bench.row(uuid).driver_internal_info.keys() == {"other", "introspection"}


# Waits that last too long


@pytest.mark.parametrize(
    "state, failed, fault",
    [
        (states.CLEANWAIT, states.CLEANFAIL, "clean failure"),
        (states.DEPLOYWAIT, states.DEPLOYFAIL, None),
        (states.SERVICEWAIT, states.SERVICEFAIL, "service failure"),
        (states.INSPECTWAIT, states.INSPECTFAIL, None),
        (states.RESCUEWAIT, states.RESCUEFAIL, None),
    ],
)
@pytest.mark.demand("S55")
def test_it_ends_every_wait_that_lasts_too_long(bench, state, failed, fault):
    uuid = bench.node("inspect", "deploy", "rescue", provision_state=state)
    with bench.tasks.acquire(bench.context, uuid, purpose="overdue") as task:
        task.spawn_after(ON_TIMEOUT[state], task, "Nothing came in time.")
    node = bench.row(uuid)
    assert node.provision_state == failed
    assert "Nothing came in time." in node.last_error
    assert (node.maintenance, node.fault) == (fault is not None, fault)
    assert node.reservation is None
    assert len(bench.script.calls) == 1


def test_it_ends_every_state_that_waits():
    assert set(ON_TIMEOUT) == states.WAITING


def discovered(bench, **values) -> str:
    return bench.node("inspect", provision_state=states.ENROLL, auto_discovered=True, **values)


@pytest.fixture
def discovery(conf):
    conf(auto_discovery__enabled=True, auto_discovery__driver="fake-hardware")


@pytest.mark.demand("S79")
@pytest.mark.usefixtures("discovery")
def test_it_processes_the_data_of_a_discovered_node_where_it_stands(bench):
    uuid = discovered(bench)
    seen = []
    bench.script.answers["continue_inspection"] = lambda task: seen.append(bench.state(task.node.uuid)[0])
    post(bench, uuid)
    node = bench.row(uuid)
    assert seen == [node.provision_state] == [states.ENROLL]
    assert (node.last_error, node.reservation) == (None, None)
    assert node.inspection_finished_at is not None


@pytest.mark.demand("S79")
@pytest.mark.usefixtures("discovery")
def test_a_discovered_node_stays_enrolled_when_its_inspection_fails(bench):
    uuid = discovered(bench)
    bench.script.answers["continue_inspection"] = HardwareInspectionFailure(error="no disk")
    post(bench, uuid)
    node = bench.row(uuid)
    assert (node.provision_state, node.reservation, node.last_error) == (
        states.ENROLL,
        None,
        "no disk. Inspection failed.",
    )
    assert bench.history(uuid) == [("ERROR", "introspection", node.last_error)]


@pytest.mark.usefixtures("discovery")
def test_it_says_when_the_inspect_interface_takes_no_data(bench):
    uuid = bench.node("power", auto_discovered=True, inspect_interface="fake")
    bench.endpoint.continue_inspection(bench.context, uuid, {}, {})
    row = bench.row(uuid)
    assert row.provision_state == states.ENROLL
    assert "inspect interface fake takes no data of a ramdisk" in row.last_error
    assert "default_inspect_interface" in row.last_error


@pytest.mark.demand("S79", "S80")
@pytest.mark.usefixtures("discovery")
def test_a_discovered_node_is_looked_at_once(bench):
    uuid = discovered(bench)
    post(bench, uuid)
    with pytest.raises(NotFound):
        post(bench, uuid)
    assert bench.script.calls.count("continue_inspection") == 1


@pytest.mark.usefixtures("discovery")
def test_a_node_that_somebody_enrolled_is_not_taken_for_a_discovered_one(bench):
    with pytest.raises(NotFound):
        post(bench, bench.node("inspect", provision_state=states.ENROLL))


def test_no_node_is_taken_for_a_discovered_one_while_discovery_is_off(bench):
    with pytest.raises(NotFound):
        post(bench, discovered(bench))
