"""Removing an instance: what goes with it, and where the machine goes then."""

import pytest

from ironic.conductor.flows import wait_ends
from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.tests.unit.conductor.flows.kinds import CLEAN

INSTANCE = {
    "instance_uuid": "6f1b3e6a-0a44-4b41-8d1c-6b9a3f0e7f11",
    "instance_name": "web-1",
    "instance_info": {"image_source": "x", "configdrive": "y"},
    "driver_internal_info": {"agent_url": "http://192.0.2.7:9999", "deploy_steps": [], "kept": 1},
}


@pytest.mark.demand("S49")
def test_it_removes_the_instance_then_cleans_the_machine(bench):
    uuid = bench.node("vendor", "deploy", provision_state=states.ACTIVE, **INSTANCE)
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)
    assert bench.script.calls == [
        "tear_down",
        "clean_up",
        "prepare_cleaning",
        "first",
        "second",
        "third",
        "tear_down_cleaning",
    ]
    node = bench.row(uuid)
    assert (node.instance_uuid, node.instance_name, node.instance_info) == (None, None, {})
    assert node.driver_internal_info == {"kept": 1}


@pytest.mark.demand("S65")
def test_it_is_rid_of_the_instance_when_cleaning_begins(bench):
    seen = []
    bench.script.answers["prepare_cleaning"] = lambda task: seen.append(bench.row(task.node.uuid))
    uuid = bench.node("deploy", provision_state=states.ACTIVE, **INSTANCE)
    bench.verb(uuid, "undeploy")
    assert (seen[0].provision_state, seen[0].instance_uuid) == (states.CLEANING, None)


INTERFACES = {"vendor_interface": "no-vendor", "deploy_interface": "fake"}


def test_an_instance_with_other_interfaces_is_cleaned_up_by_those_of_the_node(bench):
    # Its user would leave on the machine what the next one gets.
    uuid = bench.node("vendor", "deploy", provision_state=states.ACTIVE, instance_info=INTERFACES)
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)
    assert bench.script.calls == ["prepare_cleaning", "first", "second", "third", "tear_down_cleaning"]


@pytest.mark.parametrize("verb, more", [("provide", {}), ("clean", CLEAN.steps("first", "second", "third"))])
def test_what_instance_info_names_cleans_no_machine(bench, verb, more):
    uuid = bench.node("vendor", "deploy", provision_state=states.MANAGEABLE, instance_info=INTERFACES)
    bench.script.answers["second"] = states.CLEANWAIT
    bench.verb(uuid, verb, **more)
    with bench.tasks.acquire(bench.context, uuid, purpose="poll") as task:
        wait_ends.continue_flow(task)
    assert bench.script.calls == ["prepare_cleaning", "first", "second", "third", "tear_down_cleaning"]


@pytest.mark.demand("S65")
def test_a_failure_of_cleaning_is_not_the_users_error(bench):
    bench.script.answers["first"] = IronicError("no")
    uuid = bench.node("vendor", provision_state=states.ACTIVE, **INSTANCE)
    assert bench.verb(uuid, "deleted") == (states.CLEANFAIL, states.AVAILABLE)
    assert bench.row(uuid).instance_uuid is None


def test_it_keeps_the_instance_when_it_can_not_be_removed(bench):
    bench.script.answers["tear_down"] = IronicError("the switch is gone")
    uuid = bench.node("deploy", provision_state=states.ACTIVE, **INSTANCE)
    assert bench.verb(uuid, "deleted")[0] == states.ERROR
    node = bench.row(uuid)
    assert "the switch is gone" in node.last_error
    assert node.instance_uuid == INSTANCE["instance_uuid"]
    assert bench.history(uuid) == [("ERROR", "unprovision", node.last_error)]


@pytest.mark.demand("S42")
def test_it_passes_over_cleaning_that_is_switched_off(bench):
    uuid = bench.node("vendor", provision_state=states.ACTIVE, automated_clean=False)
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)
    assert "first" not in bench.script.calls


@pytest.mark.parametrize("automated", [True, False])
def test_it_does_not_offer_a_retired_machine_again(bench, automated):
    uuid = bench.node(provision_state=states.ACTIVE, retired=True, automated_clean=automated)
    assert bench.verb(uuid, "deleted") == (states.MANAGEABLE, None)


@pytest.mark.parametrize("state", [states.RESCUE, states.RESCUEWAIT, states.RESCUEFAIL, states.UNRESCUEFAIL])
def test_it_clears_a_rescue_up_first(bench, state):
    uuid = bench.node("rescue", "deploy", provision_state=state)
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)
    assert bench.script.calls[:2] == ["rescue.clean_up", "tear_down"]


@pytest.mark.parametrize("state", [states.DEPLOYWAIT, states.DEPLOYFAIL, states.ERROR, states.SERVICEWAIT])
def test_it_removes_what_was_never_finished(bench, state):
    step = {"interface": "vendor", "step": "second"}
    values = {"service_step": step} if state == states.SERVICEWAIT else {"deploy_step": step}
    uuid = bench.node(provision_state=state, **values)
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)
    assert (bench.row(uuid).deploy_step, bench.row(uuid).service_step) == ({}, {})


@pytest.mark.parametrize("fails", [False, True])
def test_the_allocation_ends_with_the_instance(bench, store, fails):
    uuid = bench.node("deploy", provision_state=states.ACTIVE, instance_info={"traits": ["CUSTOM_A"]})
    node = store.nodes.get(uuid)
    made = store.allocations.create({"state": "active", "node_id": node.id})
    store.nodes.update(uuid, {"allocation_id": made.id, "instance_uuid": made.uuid})
    if fails:
        bench.script.answers["tear_down"] = IronicError("the switch is gone")
    bench.verb(uuid, "deleted")
    left = store.allocations.find()
    assert [one.uuid for one in left] == ([made.uuid] if fails else [])
    assert store.nodes.row(["instance_uuid", "allocation_uuid"], uuid) == (
        (made.uuid, made.uuid) if fails else (None, None)
    )


def test_deleting_a_node_ends_its_allocation(bench, store):
    uuid = bench.node(provision_state=states.ACTIVE, maintenance=True)
    made = store.allocations.create({"state": "active", "node_id": store.nodes.get(uuid).id})
    store.nodes.update(uuid, {"allocation_id": made.id, "instance_uuid": made.uuid})
    bench.endpoint.destroy_node(bench.context, uuid)
    assert (store.nodes.count(), store.allocations.count()) == (0, 0)
