"""RAID interface `agent`: who makes the logical disks, and what the node knows of them afterwards."""

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.flows import states
from ironic.drivers.modules.agent import AgentRAID
from ironic.tests.agent_double import AgentDouble
from ironic.tests.functional.agent.conftest import beat
from ironic.tests.unit.conductor.flows import bench as benches
from ironic.tests.unit.drivers.machine import work_on

MIRROR = {"raid_level": "1", "size_gb": 100, "is_root_volume": True}
WISH = {"logical_disks": [MIRROR]}
MADE = {"logical_disks": [{**MIRROR, "root_device_hint": {"wwn": "0x5000c500"}}]}
CREATE = {"interface": "raid", "step": "create_configuration"}
DELETE = {"interface": "raid", "step": "delete_configuration"}


def machine(bench: benches.Bench, state: str = states.MANAGEABLE, **values) -> str:
    return bench.node(
        "deploy", "boot", "power", "network", provision_state=state, raid_interface="agent", power_state="power off",
        management_interface="noop", **values,
    )  # fmt: skip


def cleaned(bench: benches.Bench, agent: AgentDouble, step, result, **values) -> benches.NodeRecord:
    """Clean a machine by one step whose result is given; return the node."""
    uuid = machine(bench, **values)
    bench.verb(uuid, "clean", clean_steps=[step])
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, step["step"])
    agent.end(result=result)
    assert beat(bench, agent, uuid)[0] == states.MANAGEABLE
    return bench.row(uuid)


def test_the_agent_makes_the_disks_of_the_target(bench, secure_agent):
    node = cleaned(bench, secure_agent, CREATE, MADE, target_raid_config=WISH)
    name, params = secure_agent.received[-1]
    assert (name, params["node"]["target_raid_config"]) == ("clean.execute_clean_step", WISH)
    assert node.raid_config["logical_disks"] == MADE["logical_disks"]
    assert node.raid_config["last_updated"]
    assert node.properties == {"root_device": {"wwn": "0x5000c500"}, "local_gb": 100, "capabilities": "raid_level:1"}


@pytest.mark.parametrize("result", [None, {}, "nothing to do", {"logical_disks": []}, {"logical_disks": 3}, [1]])
def test_what_was_not_made_is_not_noted(bench, agent, result):
    node = cleaned(bench, agent, CREATE, result, raid_config={"logical_disks": [{"raid_level": "0"}]})
    assert node.raid_config == {"logical_disks": [{"raid_level": "0"}]}


@pytest.mark.parametrize("odd", [1, None, "x", [], {"is_root_volume": "no"}, {"is_root_volume": {}}])
def test_disks_of_which_one_can_not_be_read_are_not_noted(bench, agent, odd):
    node = cleaned(bench, agent, CREATE, {"logical_disks": [*MADE["logical_disks"], odd]})
    assert (node.raid_config, node.properties) == ({}, {})


@pytest.mark.parametrize("disk", [
    {}, {"is_root_volume": False},
    {"is_root_volume": True, "root_device_hint": "x", "size_gb": "MAX", "raid_level": 1},
    {"is_root_volume": True, "root_device_hint": {}, "size_gb": -1, "raid_level": "N/A"},
    {"is_root_volume": True, "root_device_hint": {"wwn": None}, "size_gb": 0, "raid_level": ""},
    {"is_root_volume": True, "root_device_hint": {"own": "x"}, "size_gb": True},
])  # fmt: skip
def test_a_root_volume_that_says_nothing_changes_nothing(bench, agent, disk):
    node = cleaned(bench, agent, CREATE, {"logical_disks": [disk]})
    assert (node.raid_config["logical_disks"], node.properties) == ([disk], {})


def test_the_agent_removes_the_disks(bench, agent):
    node = cleaned(bench, agent, DELETE, "gone", raid_config=MADE, target_raid_config=WISH)
    assert (node.raid_config, node.target_raid_config) == ({}, WISH)


def test_disks_that_can_not_be_made_fail_the_cleaning(bench, agent):
    uuid = machine(bench, raid_config=MADE)
    bench.verb(uuid, "clean", clean_steps=[DELETE])
    beat(bench, agent, uuid)
    agent.end("FAILED", error="a disk is missing")
    assert beat(bench, agent, uuid)[0] == states.CLEANFAIL
    node = bench.row(uuid)
    assert "a disk is missing" in node.last_error
    assert node.raid_config == MADE


@pytest.mark.parametrize("delete", [True, False])
def test_a_deployment_may_begin_with_disks(bench, agent, delete):
    uuid = machine(bench, states.AVAILABLE)
    args = {"raid_config": WISH, "delete_existing": delete}
    step = {"interface": "raid", "step": "apply_configuration", "args": args, "priority": 90}
    bench.verb(uuid, "active", deploy_steps=[step])
    assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, "apply_configuration")
    assert agent.received[-1][1]["step"] == {"interface": "raid", "step": "apply_configuration", "args": args}
    assert bench.row(uuid).target_raid_config == WISH
    agent.end(result=MADE)
    beat(bench, agent, uuid)
    node = bench.row(uuid)
    assert node.raid_config["logical_disks"] == MADE["logical_disks"]
    assert node.properties["root_device"] == {"wwn": "0x5000c500"}


def test_servicing_makes_disks_as_well(bench, agent):
    agent.results["service.get_service_steps"] = {
        "service_steps": agent.results["deploy.get_deploy_steps"]["deploy_steps"],
        "hardware_manager_version": {},
    }
    uuid = machine(bench, states.ACTIVE)
    step = {"interface": "raid", "step": "apply_configuration", "args": {"raid_config": WISH}}
    bench.verb(uuid, "service", service_steps=[step])
    assert beat(bench, agent, uuid) == (states.SERVICEWAIT, "apply_configuration")
    agent.end(result=MADE)
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert bench.row(uuid).raid_config["logical_disks"] == MADE["logical_disks"]


@pytest.mark.parametrize("priority, runs", [(None, []), (0, []), (200, ["delete_configuration"])])
def test_an_option_puts_it_into_automated_cleaning(bench, agent, conf, priority, runs):
    conf(deploy__delete_configuration_priority=priority)
    uuid = machine(bench)
    bench.verb(uuid, "provide")
    seen = []
    for _ in range(6):
        state, step = beat(bench, agent, uuid)
        if state != states.CLEANWAIT:
            break
        seen.append(step)
        agent.end()
    assert state == states.AVAILABLE
    assert seen == [*runs, "erase_devices_metadata", "erase_devices", "loopback_noop"]


def test_the_priority_that_the_agent_says_counts_where_no_option_does(bench, agent):
    offered = agent.results["clean.get_clean_steps"]
    manager, steps = next(iter(offered["clean_steps"].items()))
    changed = [{**step, "priority": 150} if step["step"] == "delete_configuration" else step for step in steps]
    agent.results["clean.get_clean_steps"] = {**offered, "clean_steps": {manager: changed}}
    uuid = machine(bench)
    bench.verb(uuid, "provide")
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "delete_configuration")


SOFT = {"raid_level": "1", "size_gb": 10, "controller": "software"}


@pytest.mark.parametrize("disks, fault", [
    ([{"raid_level": "9", "size_gb": 1}], "raid_level"),
    ([SOFT, SOFT, SOFT], "at most 2"),
    ([SOFT, {"raid_level": "1", "size_gb": 10}], "all of them"),
    ([MIRROR, MIRROR], "root volume"),
    ([], "empty"),
])  # fmt: skip
def test_a_wish_that_can_not_be_is_refused(disks, fault):
    with pytest.raises(InvalidParameterValue, match=fault):
        AgentRAID().validate_raid_config(work_on(), {"logical_disks": disks})


@pytest.mark.parametrize("disks", [[SOFT], [SOFT, {**SOFT, "size_gb": "MAX", "raid_level": "0"}], [MIRROR]])
def test_a_wish_that_can_be_is_taken(disks):
    AgentRAID().validate_raid_config(work_on(), {"logical_disks": disks})


@pytest.mark.parametrize("before", [{}, {"root_device": {"serial": "a"}, "local_gb": 7, "capabilities": "a:b"}])
def test_what_a_root_volume_has_set_goes_with_it(bench, agent, before):
    uuid = cleaned(bench, agent, CREATE, MADE, target_raid_config=WISH, properties=before).uuid
    assert bench.row(uuid).properties["root_device"] == {"wwn": "0x5000c500"}
    bench.verb(uuid, "clean", clean_steps=[DELETE])
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.MANAGEABLE
    assert bench.row(uuid).properties == before


def test_the_hint_goes_of_a_root_volume_that_a_former_release_has_made(bench, agent):
    hint = MADE["logical_disks"][0]["root_device_hint"]
    node = cleaned(bench, agent, DELETE, None, raid_config=MADE, properties={"root_device": hint, "local_gb": 100})
    assert node.properties == {"local_gb": 100}


def test_a_hint_that_no_deployment_would_take_is_left_out(bench, agent):
    odd = {"logical_disks": [{**MIRROR, "root_device_hint": {"colour": "red"}}]}
    assert cleaned(bench, agent, CREATE, odd).properties == {"local_gb": 100, "capabilities": "raid_level:1"}
