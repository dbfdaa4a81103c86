"""Fast track: one boot of a ramdisk for inspection, cleaning and deployment; and power by the agent alone."""

import hashlib
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, PowerStateFailure
from ironic.core.flows import states
from ironic.tests.agent_double import TOKEN, AgentDouble
from ironic.tests.unit.conductor.flows import bench as benches

IMAGE = {
    "image_source": "http://images/tiny.raw",
    "image_os_hash_algo": "sha256",
    "image_os_hash_value": hashlib.sha256(b"image").hexdigest(),
    "image_disk_format": "raw",
}
INVENTORY: dict[str, Any] = {
    "interfaces": [{"name": "eth0", "mac_address": "52:54:00:00:00:01", "ipv4_address": "192.0.2.9"}],
    "cpu": {"architecture": "x86_64", "count": 1},
    "memory": {"physical_mb": 1},
    "disks": [],
    "boot": {"pxe_interface": "52:54:00:00:00:01"},
}
OLD = "2001-01-01T00:00:00"


@pytest.fixture(autouse=True)
def options(conf: Any) -> None:
    conf(deploy__fast_track=True, inspector__require_managed_boot=False, inspector__pre_create_ports=False)


def new_node(bench: benches.Bench, *scripted: str, **values: Any) -> str:
    defaults = {
        "provision_state": states.MANAGEABLE, "deploy_interface": "direct", "inspect_interface": "agent",
        "management_interface": "noop", "power_state": states.POWER_ON, "instance_info": IMAGE,
    }  # fmt: skip
    return bench.node("boot", "network", *scripted, **{**defaults, **values})


def looked_up(bench: benches.Bench, uuid: str) -> None:
    """Have the agent look its node up, once."""
    node = bench.row(uuid)
    node.set_driver_internal_info("agent_secret_token", TOKEN)
    node.save()


def beat(bench: benches.Bench, agent: AgentDouble, uuid: str) -> str:
    bench.beat(uuid, **agent.beat())
    return bench.row(uuid).provision_state


def running(bench: benches.Bench, agent: AgentDouble, *scripted: str, **values: Any) -> str:
    """Return a node whose ramdisk runs and is heard of."""
    agent.ends_at_once |= {"image.install_bootloader", "standby.power_off", "standby.run_image"}
    uuid = new_node(bench, *scripted, **values)
    looked_up(bench, uuid)
    beat(bench, agent, uuid)
    return uuid


def cleaned(bench: benches.Bench, agent: AgentDouble, uuid: str) -> None:
    """Clean the node to its end."""
    bench.verb(uuid, "provide")
    while bench.row(uuid).provision_state == states.CLEANWAIT:
        agent.end()
        beat(bench, agent, uuid)
    assert bench.state(uuid) == (states.AVAILABLE, None)


def grow_old(bench: benches.Bench, uuid: str) -> None:
    node = bench.row(uuid)
    node.set_driver_internal_info("agent_last_heartbeat", OLD)
    node.save()


def test_one_boot_is_enough_for_inspection_cleaning_and_deployment(bench, agent, done):
    uuid = new_node(bench, "power")
    assert bench.verb(uuid, "inspect")[0] == states.INSPECTWAIT
    assert done == ["set power off", "set power on"]
    looked_up(bench, uuid)  # as the answer to its data has it
    bench.endpoint.continue_inspection(bench.context, uuid, INVENTORY, {})
    assert bench.state(uuid) == (states.MANAGEABLE, None)
    assert "agent_secret_token" not in bench.row(uuid).driver_internal_info
    looked_up(bench, uuid)
    agent.ends_at_once |= {"image.install_bootloader", "standby.power_off"}
    done.clear()
    beat(bench, agent, uuid)
    cleaned(bench, agent, uuid)
    assert done == ["connect cleaning", "clean_up_ramdisk", "disconnect cleaning"]
    done.clear()
    bench.verb(uuid, "active")
    assert bench.row(uuid).deploy_step["step"] == "write_image"
    assert done == ["disconnect tenant", "connect provisioning"]
    agent.end()
    assert beat(bench, agent, uuid) == states.ACTIVE
    assert done[-4:] == ["set power off", "disconnect provisioning", "connect tenant", "set power on"]
    assert not {"agent_url", "agent_secret_token"} & bench.row(uuid).driver_internal_info.keys()


@pytest.mark.parametrize("why", ["silent", "gone", "off for all", "off for this node"])
@pytest.mark.parametrize("verb, state", [("provide", states.MANAGEABLE), ("active", states.AVAILABLE)])
def test_else_the_ramdisk_is_booted(conf, bench, agent, done, why, verb, state):
    uuid = running(bench, agent, "power", provision_state=state)
    if why == "silent":
        grow_old(bench, uuid)
    elif why == "gone":
        node = bench.row(uuid)
        node.set_driver_internal_info("agent_url", "http://127.0.0.1:1")
        node.save()
    elif why == "off for all":
        conf(deploy__fast_track=False)
    else:
        node = bench.row(uuid)
        node.driver_info["fast_track"] = "false"
        node.save()
    assert bench.verb(uuid, verb)[0] in (states.CLEANWAIT, states.DEPLOYWAIT)
    added = ["connect cleaning"] if verb == "provide" else ["disconnect tenant", "connect provisioning"]
    assert done == ["set power off", *added, "prepare_ramdisk http://192.0.2.1:6385", "set power on"]
    assert "agent_secret_token" not in bench.row(uuid).driver_internal_info


def test_a_node_may_want_it_for_itself(conf, bench, agent, done):
    conf(deploy__fast_track=False)
    uuid = running(bench, agent, "power", driver_info={"fast_track": True})
    cleaned(bench, agent, uuid)
    assert "set power off" not in done


@pytest.mark.parametrize("state", [states.ENROLL, states.MANAGEABLE, states.AVAILABLE])
def test_heartbeats_of_idle_nodes_are_remembered_only_with_it(conf, bench, agent, state):
    uuid = running(bench, agent, provision_state=state)
    assert bench.row(uuid).driver_internal_info["agent_url"] == agent.url
    conf(deploy__fast_track=False)
    other = running(bench, agent, provision_state=state)
    assert "agent_url" not in bench.row(other).driver_internal_info


def test_a_heartbeat_that_the_end_of_an_inspection_overtakes_leaves_no_agent_without_a_token(bench, agent):
    """The API has compared the token, the inspection has ended and dropped it, and now the conductor gets the call."""
    uuid = new_node(bench)
    beat(bench, agent, uuid)
    assert not {"agent_url", "agent_last_heartbeat"} & bench.row(uuid).driver_internal_info.keys()
    # It looks its node up again.
    looked_up(bench, uuid)
    beat(bench, agent, uuid)
    assert bench.row(uuid).driver_internal_info["agent_url"] == agent.url


@pytest.mark.parametrize("fast", [True, False])
def test_an_aborted_cleaning_switches_the_machine_off(conf, bench, agent, done, fast):
    conf(deploy__fast_track=fast)
    uuid = running(bench, agent, "power")
    bench.verb(uuid, "provide")
    done.clear()
    bench.verb(uuid, "abort")
    node = bench.row(uuid)
    assert (node.provision_state, node.power_state, node.maintenance) == (states.CLEANFAIL, states.POWER_OFF, False)
    assert done == ["set power off", "clean_up_ramdisk", "disconnect cleaning"]
    assert "agent_secret_token" not in node.driver_internal_info


@pytest.mark.demand("S55")
def test_a_failed_cleaning_leaves_it_on(bench, agent, done):
    uuid = running(bench, agent, "power")
    bench.verb(uuid, "provide")
    agent.end("FAILED", error="no")
    assert beat(bench, agent, uuid) == states.CLEANFAIL
    assert bench.row(uuid).power_state == states.POWER_ON
    assert "set power off" not in done


# Power interface `agent`


def with_agent_power(bench: benches.Bench, agent: AgentDouble, **values: Any) -> str:
    return running(bench, agent, power_interface="agent", **values)


def test_a_machine_that_people_switch_on_is_cleaned_and_deployed(bench, agent):
    uuid = with_agent_power(bench, agent)
    cleaned(bench, agent, uuid)
    bench.verb(uuid, "active")
    agent.end()
    assert beat(bench, agent, uuid) == states.ACTIVE
    assert agent.names[-2:] == ["standby.sync", "standby.run_image"]
    assert "standby.power_off" not in agent.names
    node = bench.row(uuid)
    assert node.power_state == states.POWER_ON
    assert not {"agent_url", "agent_secret_token"} & node.driver_internal_info.keys()
    bench.verb(uuid, "deleted")
    assert bench.row(uuid).provision_state == states.CLEANFAIL  # the ramdisk can only be booted by hand now
    assert "Boot the ramdisk on the machine by hand" in bench.row(uuid).last_error


def test_inspection_restarts_it_into_the_ramdisk(bench, agent):
    uuid = with_agent_power(bench, agent)
    assert bench.verb(uuid, "inspect")[0] == states.INSPECTWAIT
    assert agent.names == ["standby.sync", "standby.run_image"]
    assert "agent_url" not in bench.row(uuid).driver_internal_info


def test_a_user_may_restart_it(bench, agent):
    uuid = with_agent_power(bench, agent)
    bench.endpoint.change_node_power_state(bench.context, uuid, "rebooting", None)
    assert agent.names == ["standby.sync", "standby.run_image"]
    node = bench.row(uuid)
    assert (node.power_state, node.last_error) == (states.POWER_ON, None)
    assert not {"agent_url", "agent_secret_token"} & node.driver_internal_info.keys()


@pytest.mark.parametrize("target", ["power off", "soft power off", "power on"])
def test_it_can_do_nothing_but_restart(bench, agent, target):
    uuid = with_agent_power(bench, agent)
    with pytest.raises(InvalidParameterValue, match="can't do"):
        bench.endpoint.change_node_power_state(bench.context, uuid, target, None)


@pytest.mark.parametrize(
    "state, wanted, heard, accepted",
    [
        (states.MANAGEABLE, True, True, True),
        (states.MANAGEABLE, True, False, False),
        (states.MANAGEABLE, False, True, False),
        (states.ENROLL, True, False, False),
        (states.AVAILABLE, True, False, False),
        (states.ACTIVE, True, False, True),
    ],
)
def test_it_needs_a_ramdisk_that_runs(conf, bench, agent, state, wanted, heard, accepted):
    uuid = with_agent_power(bench, agent)
    node = bench.row(uuid)
    node.provision_state = state
    node.save()
    conf(deploy__fast_track=wanted)
    if not heard:
        grow_old(bench, uuid)
    answer = bench.endpoint.validate_interfaces(bench.context, uuid)["power"]
    assert answer["result"] is accepted
    if not accepted:
        assert ("fast track" if not wanted else "by hand") in answer["reason"]


def test_an_agent_that_can_not_be_called_is_told_as_a_power_failure(bench, agent):
    uuid = with_agent_power(bench, agent)
    agent.refusals["standby.sync"] = (500, "disk on fire")
    with bench.tasks.acquire(bench.context, uuid, purpose="test") as task:
        power = task.power
        with pytest.raises(PowerStateFailure, match="disk on fire"):
            power.reboot(task)
        assert power.get_power_state(task) == states.POWER_ON
        power.set_power_state(task, states.POWER_ON)
        assert not power.supports_power_sync(task)
        task.node.set_driver_internal_info("agent_last_heartbeat", OLD)
        task.node.power_state = None
        assert power.get_power_state(task) is None
        with pytest.raises(PowerStateFailure, match="by hand"):
            power.set_power_state(task, states.POWER_ON)
        with pytest.raises(InvalidParameterValue, match="switched on again by hand"):
            power.set_power_state(task, states.POWER_OFF)
