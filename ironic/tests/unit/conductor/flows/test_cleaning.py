"""Cleaning: when it runs, in which order, and where the node goes afterwards."""

import pytest

from ironic.core.errors import (
    ConcurrentActionLimit,
    InvalidParameterValue,
    InvalidStateRequested,
    IronicError,
    NodeInMaintenance,
    NodeIsRetired,
)
from ironic.core.flows import states


def steps_run(bench) -> list[str]:
    return [name for name in bench.script.calls if name in ("first", "second", "third", "on_demand")]


@pytest.mark.demand("S42")
@pytest.mark.parametrize(
    "option, own, cleaned",
    [(True, None, True), (False, None, False), (True, False, False), (False, True, True)],
)
def test_it_cleans_when_option_and_node_want_it(bench, conf, option, own, cleaned):
    conf(conductor__automated_clean=option)
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE, automated_clean=own)
    assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)
    assert bool(steps_run(bench)) is cleaned


@pytest.mark.demand("S43", "S49", "S54")
def test_it_runs_enabled_steps_by_priority_before_a_node_is_offered(bench):
    uuid = bench.node("vendor", "deploy", provision_state=states.MANAGEABLE)
    assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)
    assert bench.script.calls == ["prepare_cleaning", "first", "second", "third", "tear_down_cleaning"]


def test_it_takes_other_priorities_from_the_configuration(bench, conf):
    conf(conductor__clean_step_priority_override=[{"vendor.third": "99", "vendor.first": "0"}, {"bios.no": "1"}])
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    bench.verb(uuid, "provide")
    assert steps_run(bench) == ["third", "second"]


def test_it_leaves_out_forbidden_steps(bench, conf):
    conf(api__disallow_clean_steps=["vendor.second"])
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    bench.verb(uuid, "provide")
    assert steps_run(bench) == ["first", "third"]


@pytest.mark.demand("S62")
def test_it_needs_no_steps_at_all(bench):
    uuid = bench.node(provision_state=states.MANAGEABLE, vendor_interface="no-vendor", bios_interface="no-bios")
    assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)
    assert bench.history(uuid) == []


@pytest.mark.demand("S53")
def test_it_runs_one_step_by_request_and_comes_back(bench):
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    listed = [{"interface": "vendor", "step": "on_demand", "args": {"speed": 3}}]
    assert bench.verb(uuid, "clean", clean_steps=listed) == (states.MANAGEABLE, None)
    assert steps_run(bench) == ["on_demand"]


@pytest.mark.demand("S51")
def test_it_aims_at_available_and_knows_no_state_cleaned(bench):
    targets = []
    bench.script.answers["first"] = lambda task: targets.append(bench.state(task.node.uuid))
    bench.verb(bench.node("vendor", provision_state=states.MANAGEABLE), "provide")
    assert targets == [(states.CLEANING, states.AVAILABLE)]
    assert "cleaned" not in states.ALL


def test_it_refuses_the_ramdisk_to_a_step_that_needs_it(bench):
    uuid = bench.node("vendor", "deploy", provision_state=states.MANAGEABLE)
    listed = [{"interface": "vendor", "step": "second"}]
    assert bench.verb(uuid, "clean", clean_steps=listed, disable_ramdisk=True)[0] == states.CLEANFAIL
    node = bench.row(uuid)
    assert bench.script.calls == []
    assert "ramdisk" in node.last_error
    assert node.maintenance is False


# After a failure


def failed(bench, **values) -> str:
    return bench.node(
        "vendor",
        "deploy",
        provision_state=states.CLEANFAIL,
        target_provision_state=states.AVAILABLE,
        last_error="Clean step vendor.first failed.",
        **values,
    )


@pytest.mark.demand("S52", "S56")
def test_it_cleans_again_after_a_failure(bench):
    uuid = failed(bench, maintenance=True, fault="clean failure")
    assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)
    assert steps_run(bench) == ["first", "second", "third"]
    assert bench.row(uuid).last_error is None


@pytest.mark.demand("S52")
def test_it_cleans_by_request_after_a_failure(bench):
    uuid = failed(bench)
    listed = [{"interface": "vendor", "step": "first"}]
    assert bench.verb(uuid, "clean", clean_steps=listed) == (states.MANAGEABLE, None)


@pytest.mark.demand("S56")
def test_it_skips_cleaning_after_a_failure_and_remembers_that(bench):
    uuid = failed(bench)
    assert bench.verb(uuid, "available") == (states.AVAILABLE, None)
    assert steps_run(bench) == []
    assert bench.history(uuid) == [("WARNING", "cleaning", "cleaning was skipped by request")]


@pytest.mark.demand("S56")
@pytest.mark.parametrize("state", sorted(states.ALL - {states.CLEANFAIL}))
def test_it_skips_cleaning_nowhere_else(bench, state):
    with pytest.raises(InvalidStateRequested):
        bench.verb(bench.node(provision_state=state), "available")


def test_it_can_be_managed_again_and_keeps_the_reason(bench):
    uuid = failed(bench)
    assert bench.verb(uuid, "manage") == (states.MANAGEABLE, None)
    assert bench.row(uuid).last_error == "Clean step vendor.first failed."


def test_it_starts_over_without_the_plan_of_the_run_that_failed(bench):
    bench.script.answers["first"] = IronicError("no")
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    bench.verb(uuid, "clean", clean_steps=[{"interface": "vendor", "step": "first"}])
    bench.store.nodes.update(uuid, {"maintenance": False})
    bench.script.answers.clear()
    bench.script.calls.clear()
    assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)
    assert steps_run(bench) == ["first", "second", "third"]


@pytest.mark.demand("S55")
@pytest.mark.parametrize("option, after", [(False, "power on"), (True, "power off")])
def test_it_powers_a_machine_off_after_a_failure_only_if_configured(bench, conf, option, after):
    conf(conductor__poweroff_in_cleanfail=option)
    bench.script.answers["first"] = IronicError("no")
    uuid = bench.node("vendor", "power", provision_state=states.MANAGEABLE, power_state="power on")
    bench.verb(uuid, "provide")
    node = bench.row(uuid)
    assert (node.provision_state, node.power_state) == (states.CLEANFAIL, after)
    assert (node.maintenance, node.fault) == (True, "clean failure")


def test_it_leaves_a_machine_on_that_must_not_be_switched_off(bench, conf):
    conf(conductor__poweroff_in_cleanfail=True)
    bench.script.answers["first"] = IronicError("no")
    values = {"power_state": "power on", "disable_power_off": True}
    uuid = bench.node("vendor", "power", provision_state=states.MANAGEABLE, **values)
    bench.verb(uuid, "provide")
    assert bench.row(uuid).power_state == "power on"


# What stands in the way


def test_it_does_not_offer_a_retired_node(bench):
    with pytest.raises(NodeIsRetired):
        bench.verb(bench.node(provision_state=states.MANAGEABLE, retired=True), "provide")
    with pytest.raises(NodeIsRetired):
        bench.verb(failed(bench, retired=True), "available")


@pytest.mark.parametrize("allowed", [True, False])
def test_it_provides_nodes_in_maintenance_if_configured(bench, conf, allowed):
    conf(conductor__allow_provisioning_in_maintenance=allowed)
    uuid = bench.node(provision_state=states.MANAGEABLE, maintenance=True)
    if allowed:
        assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)
        return
    with pytest.raises(NodeInMaintenance):
        bench.verb(uuid, "provide")


def test_it_refuses_manual_cleaning_in_maintenance(bench):
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE, maintenance=True)
    with pytest.raises(NodeInMaintenance):
        bench.verb(uuid, "clean", clean_steps=[{"interface": "vendor", "step": "first"}])
    assert bench.state(uuid) == (states.MANAGEABLE, None)


def test_it_refuses_a_node_whose_power_can_not_be_reached(bench):
    bench.script.answers["power.validate"] = InvalidParameterValue(err="no address")
    uuid = bench.node("power", provision_state=states.MANAGEABLE)
    with pytest.raises(InvalidParameterValue, match="no address"):
        bench.verb(uuid, "provide")
    assert bench.state(uuid) == (states.MANAGEABLE, None)
    assert bench.row(uuid).reservation is None


@pytest.mark.parametrize("verb", ["provide", "clean", "deleted"])
@pytest.mark.parametrize("busy", [states.DELETING, states.CLEANING, states.CLEANWAIT])
def test_it_cleans_no_more_machines_at_once_than_allowed(bench, conf, verb, busy):
    conf(conductor__max_concurrent_clean=1)
    bench.node(provision_state=busy)
    uuid = bench.node("vendor", provision_state=states.ACTIVE if verb == "deleted" else states.MANAGEABLE)
    arguments = {"clean_steps": [{"interface": "vendor", "step": "first"}]} if verb == "clean" else {}
    with pytest.raises(ConcurrentActionLimit, match="max_concurrent_clean") as refusal:
        bench.verb(uuid, verb, **arguments)
    assert refusal.value.status == 503
    assert bench.row(uuid).reservation is None


def test_it_counts_conductor_groups_apart_if_configured(bench, conf):
    conf(conductor__max_concurrent_clean=1, conductor__max_concurrent_per_conductor_group=True)
    bench.node(provision_state=states.CLEANING, conductor_group="other")
    uuid = bench.node(provision_state=states.MANAGEABLE)
    assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)


def test_a_machine_is_powered_off_after_a_failure_whose_clean_up_fails_too(bench, conf):
    conf(conductor__poweroff_in_cleanfail=True)
    bench.script.answers |= {"first": IronicError("no"), "tear_down_cleaning": IronicError("no switch")}
    uuid = bench.node("vendor", "deploy", "power", provision_state=states.MANAGEABLE, power_state="power on")
    bench.verb(uuid, "provide")
    node = bench.row(uuid)
    assert (node.provision_state, node.power_state) == (states.CLEANFAIL, "power off")
    assert "no switch" in node.last_error
