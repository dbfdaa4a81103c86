"""Deploying, rebuilding, verifying, adopting, rescuing: what becomes of a node, and what is refused."""

import pytest

from ironic.core.errors import (
    ConcurrentActionLimit,
    InvalidParameterValue,
    InvalidStateRequested,
    IronicError,
    MissingParameterValue,
    NodeInMaintenance,
    NodeProtected,
    UnsupportedDriverExtension,
)
from ironic.core.flows import states


def step(name: str, priority: int = 500, **args) -> dict:
    return {"interface": "vendor", "step": name, "args": args, "priority": priority}


# Deploying


def test_it_deploys_with_the_drivers_steps(bench):
    uuid = bench.node("vendor", "deploy", provision_state=states.AVAILABLE)
    assert bench.verb(uuid, "active") == (states.ACTIVE, None)
    assert bench.script.calls == ["prepare", "first", "second", "third"]
    assert bench.history(uuid)[-1][2] == "deploy step deploy.deploy ended"


@pytest.mark.parametrize("drive", ["http://192.0.2.1/drive", {"meta_data": {"hostname": "h"}}])
@pytest.mark.parametrize("verb, state", [("active", states.AVAILABLE), ("deploy", states.DEPLOYFAIL)])
def test_it_keeps_the_configuration_drive_with_the_instance(bench, drive, verb, state):
    uuid = bench.node(provision_state=state, instance_info={"image_source": "x"})
    bench.verb(uuid, verb, configdrive=drive)
    assert bench.row(uuid).instance_info == {"image_source": "x", "configdrive": drive}


def test_it_switches_steps_off_and_on_as_the_user_wants(bench):
    uuid = bench.node("vendor", provision_state=states.AVAILABLE)
    asked = [step("first", 0), step("on_demand", 400, speed=3), step("third", 10)]
    assert bench.verb(uuid, "active", deploy_steps=asked) == (states.ACTIVE, None)
    assert bench.script.calls == ["on_demand", "second", "third"]


@pytest.mark.parametrize(
    "asked, words",
    [
        ([step("first"), step("first")], "2 times"),
        ([{"interface": "deploy", "step": "deploy", "args": {}, "priority": 3}], "not replaced"),
        ([step("on_demand")], "speed"),
    ],
)
def test_it_refuses_steps_that_can_not_be_while_the_user_waits(bench, asked, words):
    uuid = bench.node("vendor", provision_state=states.AVAILABLE)
    with pytest.raises(InvalidParameterValue, match=words):
        bench.verb(uuid, "active", deploy_steps=asked)
    assert bench.state(uuid) == (states.AVAILABLE, None)


def test_it_fails_on_a_step_that_nobody_has(bench):
    uuid = bench.node("vendor", "deploy", provision_state=states.AVAILABLE)
    assert bench.verb(uuid, "active", deploy_steps=[step("of_some_agent")])[0] == states.DEPLOYFAIL
    assert "vendor.of_some_agent" in bench.row(uuid).last_error
    assert bench.script.calls == ["prepare", "clean_up"]


def test_it_forgets_the_steps_of_an_earlier_request(bench):
    bench.script.answers["on_demand"] = IronicError("no")
    uuid = bench.node("vendor", provision_state=states.AVAILABLE)
    bench.verb(uuid, "active", deploy_steps=[step("on_demand", speed=3)])
    assert bench.verb(uuid, "active") == (states.ACTIVE, None)
    assert bench.script.calls == ["on_demand", "first", "second", "third"]


@pytest.mark.parametrize("interface, call", [("power", "power.validate")])
def test_it_refuses_a_node_that_is_not_fit_for_deployment(bench, interface, call):
    bench.script.answers[call] = MissingParameterValue(err="no address")
    uuid = bench.node(interface, provision_state=states.AVAILABLE)
    with pytest.raises(MissingParameterValue):
        bench.verb(uuid, "active")
    assert bench.state(uuid) == (states.AVAILABLE, None)


@pytest.mark.parametrize("verb, state", [("active", states.AVAILABLE), ("rebuild", states.ACTIVE)])
def test_it_deploys_nothing_in_maintenance(bench, verb, state):
    uuid = bench.node(provision_state=state, maintenance=True)
    with pytest.raises(NodeInMaintenance):
        bench.verb(uuid, verb)


@pytest.mark.parametrize("busy", [states.DEPLOYING, states.DEPLOYWAIT])
def test_it_deploys_no_more_nodes_at_once_than_allowed(bench, conf, busy):
    conf(conductor__max_concurrent_deploy=1)
    bench.node(provision_state=busy)
    with pytest.raises(ConcurrentActionLimit, match="max_concurrent_deploy"):
        bench.verb(bench.node(provision_state=states.AVAILABLE), "active")


@pytest.mark.demand("S58")
@pytest.mark.parametrize("state", [states.ACTIVE, states.ERROR, states.DEPLOYFAIL])
def test_it_rebuilds_without_cleaning(bench, state):
    uuid = bench.node("vendor", "deploy", provision_state=state, instance_info={"image_source": "x"})
    assert bench.verb(uuid, "rebuild") == (states.ACTIVE, None)
    assert "prepare_cleaning" not in bench.script.calls
    assert bench.row(uuid).instance_info == {"image_source": "x"}


@pytest.mark.parametrize("verb", ["rebuild", "deleted", "undeploy"])
def test_it_leaves_a_protected_node_alone(bench, verb):
    with pytest.raises(NodeProtected):
        bench.verb(bench.node(provision_state=states.ACTIVE, protected=True), verb)


# Verifying


def test_it_takes_the_power_state_over_at_the_first_contact(bench):
    bench.script.answers["get_power_state"] = "power off"
    uuid = bench.node("power")
    assert bench.verb(uuid, "manage") == (states.MANAGEABLE, None)
    assert bench.row(uuid).power_state == "power off"


@pytest.mark.parametrize("call", ["power.validate", "get_power_state"])
def test_it_goes_back_to_enroll_when_the_machine_can_not_be_reached(bench, call):
    bench.script.answers[call] = MissingParameterValue(err="no address")
    uuid = bench.node("power")
    assert bench.verb(uuid, "manage") == (states.ENROLL, None)
    node = bench.row(uuid)
    assert "no address" in node.last_error
    assert node.maintenance is False
    assert bench.history(uuid) == [("ERROR", "verify", node.last_error)]


def test_it_goes_back_to_enroll_when_the_power_state_is_an_error(bench):
    bench.script.answers["get_power_state"] = "error"
    uuid = bench.node("power")
    assert bench.verb(uuid, "manage") == (states.ENROLL, None)


def test_it_runs_all_verify_steps_even_if_one_fails(bench):
    bench.script.answers = {"first": IronicError("clock is wrong"), "third": IronicError("fan is loud")}
    uuid = bench.node("vendor")
    assert bench.verb(uuid, "manage") == (states.ENROLL, None)
    assert bench.script.calls == ["first", "second", "third"]
    error = bench.row(uuid).last_error
    assert "clock is wrong" in error
    assert "fan is loud" in error


def test_it_orders_verify_steps_as_configured(bench, conf):
    conf(conductor__verify_step_priority_override=[{"vendor.first": "0", "vendor.third": "40"}])
    assert bench.verb(bench.node("vendor"), "manage") == (states.MANAGEABLE, None)
    assert bench.script.calls == ["third", "second"]


@pytest.mark.parametrize("state", [states.AVAILABLE, states.CLEANFAIL, states.INSPECTFAIL, states.ADOPTFAIL])
def test_it_manages_a_known_node_without_a_look_at_it(bench, state):
    uuid = bench.node("power", provision_state=state)
    assert bench.verb(uuid, "manage") == (states.MANAGEABLE, None)
    assert bench.script.calls == []


# Adopting


@pytest.mark.parametrize("state", [states.MANAGEABLE, states.ADOPTFAIL])
def test_it_adopts_a_machine_as_it_is(bench, state):
    uuid = bench.node("deploy", provision_state=state, maintenance=True)
    assert bench.verb(uuid, "adopt") == (states.ACTIVE, None)
    assert bench.script.calls == ["take_over"]


def test_it_says_why_a_machine_can_not_be_adopted(bench):
    bench.script.answers["take_over"] = IronicError("no kernel")
    uuid = bench.node("deploy", provision_state=states.MANAGEABLE)
    assert bench.verb(uuid, "adopt") == (states.ADOPTFAIL, states.ACTIVE)
    assert "no kernel" in bench.row(uuid).last_error


# Rescuing


def test_it_rescues_a_machine_and_brings_it_back(bench):
    uuid = bench.node(provision_state=states.ACTIVE)
    assert bench.verb(uuid, "rescue", rescue_password="let me in") == (states.RESCUE, None)
    info = bench.row(uuid).instance_info
    assert info["rescue_password"] == "let me in"
    assert info["hashed_rescue_password"].startswith("$5$")
    assert bench.verb(uuid, "rescue", rescue_password="other") == (states.RESCUE, None)
    assert bench.verb(uuid, "unrescue") == (states.ACTIVE, None)


def test_it_waits_for_the_rescue_ramdisk(bench):
    bench.script.answers["rescue"] = states.RESCUEWAIT
    uuid = bench.node("rescue", provision_state=states.ACTIVE)
    assert bench.verb(uuid, "rescue", rescue_password="x") == (states.RESCUEWAIT, states.RESCUE)
    bench.beat(uuid)
    assert bench.state(uuid) == (states.RESCUE, None)


def test_it_gives_a_rescue_up_by_request(bench):
    bench.script.answers = {"rescue": states.RESCUEWAIT, "rescue.clean_up": IronicError("no switch")}
    uuid = bench.node("rescue", provision_state=states.ACTIVE)
    bench.verb(uuid, "rescue", rescue_password="x")
    assert bench.verb(uuid, "abort") == (states.RESCUEFAIL, states.RESCUE)
    assert "no switch" in bench.row(uuid).last_error


@pytest.mark.parametrize(
    "verb, state, arguments, failed",
    [
        ("rescue", states.ACTIVE, {"rescue_password": "x"}, states.RESCUEFAIL),
        ("unrescue", states.RESCUE, {}, states.UNRESCUEFAIL),
    ],
)
@pytest.mark.parametrize("answer", [IronicError("no ramdisk"), "no ramdisk"], ids=["error", "strange answer"])
def test_it_says_why_a_rescue_failed(bench, verb, state, arguments, failed, answer):
    bench.script.answers[verb] = answer
    uuid = bench.node("rescue", provision_state=state)
    assert bench.verb(uuid, verb, **arguments)[0] == failed
    assert "no ramdisk" in bench.row(uuid).last_error
    assert bench.script.calls[-1] == "rescue.clean_up"


def test_it_refuses_what_the_driver_can_not_do(bench):
    uuid = bench.node(provision_state=states.ACTIVE, rescue_interface="no-rescue")
    with pytest.raises(UnsupportedDriverExtension):
        bench.verb(uuid, "rescue", rescue_password="x")
    assert bench.row(uuid).instance_info == {}


def test_it_needs_a_password(bench):
    with pytest.raises(MissingParameterValue):
        bench.verb(bench.node(provision_state=states.ACTIVE), "rescue")


def test_it_refuses_verbs_it_does_not_know(bench):
    with pytest.raises(InvalidParameterValue):
        bench.verb(bench.node(), "nonsense")
    with pytest.raises(InvalidParameterValue, match="configdrive"):
        bench.verb(bench.node(), "manage", configdrive="x")
    assert bench.verb(bench.node(), "manage", clean_steps=[], configdrive=None) == (states.MANAGEABLE, None)


@pytest.mark.demand("S57")
@pytest.mark.parametrize("state", sorted(states.WORKING))
@pytest.mark.parametrize("verb", sorted(states.VERBS))
def test_it_takes_no_verb_while_a_conductor_is_at_work(bench, state, verb):
    """Internal events have the names of verbs (clean, manage): that must not open a door."""
    with pytest.raises(InvalidStateRequested):
        bench.verb(bench.node(provision_state=state), verb)
