"""Deploy interface `direct` and rescue by an agent, from the verb to the end, with an agent that is a real server."""

import hashlib

import pytest

from ironic.conductor.flows import wait_ends
from ironic.conductor.locking import LockMode
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.flows import states
from ironic.drivers.contract import awaited_setting
from ironic.tests.agent_double import AgentDouble
from ironic.tests.functional.agent.conftest import NotingBoot, beat
from ironic.tests.unit.conductor.flows import bench as benches

SUM = hashlib.sha256(b"image").hexdigest()
IMAGE = {
    "image_source": "http://images/tiny.raw",
    "image_os_hash_algo": "sha256",
    "image_os_hash_value": SUM,
    "image_checksum": SUM,
    "image_disk_format": "raw",
    "image_type": "whole-disk",
}


def deploying(
    bench: benches.Bench, agent: AgentDouble, info=None, verb="active", state=states.AVAILABLE, **values
) -> str:
    agent.results.pop("standby.power_off", None)
    agent.ends_at_once |= {"image.install_bootloader", "standby.power_off"}
    uuid = bench.node(
        "boot", "power", "network", provision_state=state, deploy_interface="direct", power_state="power off",
        management_interface="noop", instance_info={**IMAGE, **(info or {})}, **values,
    )  # fmt: skip
    bench.verb(uuid, verb)
    return uuid


def test_it_deploys_as_recorded(bench, secure_agent, done):
    uuid = deploying(bench, secure_agent)
    assert bench.state(uuid) == (states.DEPLOYWAIT, states.ACTIVE)
    assert done == [
        "disconnect tenant",
        "connect provisioning",
        "prepare_ramdisk http://192.0.2.1:6385",
        "set power on",
    ]
    done.clear()
    assert beat(bench, secure_agent, uuid) == (states.DEPLOYWAIT, "write_image")
    step = secure_agent.received[-1][1]["step"]
    assert step["args"] == {
        "image_info": {
            "id": "tiny.raw", "urls": ["http://images/tiny.raw"], "disk_format": "raw", "container_format": None,
            "stream_raw_images": True, "checksum": SUM, "os_hash_algo": "sha256", "os_hash_value": SUM,
            "node_uuid": uuid,
        },
        "configdrive": None,
    }  # fmt: skip
    secure_agent.end()
    assert beat(bench, secure_agent, uuid) == (states.ACTIVE, "")
    assert secure_agent.names == [
        "deploy.get_deploy_steps", "deploy.execute_deploy_step", "standby.get_partition_uuids",
        "image.install_bootloader", "standby.power_off",
    ]  # fmt: skip
    assert secure_agent.received[3][1] == {
        "root_uuid": "0x1badb002", "efi_system_part_uuid": None, "prep_boot_part_uuid": None,
        "target_boot_mode": "uefi",
    }  # fmt: skip
    assert done == ["prepare_instance", "set power off", "disconnect provisioning", "connect tenant", "set power on"]
    node = bench.row(uuid)
    assert node.power_state == "power on"
    assert not {"agent_url", "agent_secret_token", "agent_image_info"} & node.driver_internal_info.keys()


def test_a_machine_that_starts_through_a_bios_needs_no_boot_loader(bench, agent):
    uuid = deploying(bench, agent, properties={"capabilities": "boot_mode:bios"})
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert "image.install_bootloader" not in agent.names


@pytest.mark.parametrize("given", [{"disable_power_off": True}, {"driver_info": {"deploy_forces_oob_reboot": "true"}}])
def test_the_agent_is_not_told_to_power_off_where_it_must_not(bench, agent, given, done):
    uuid = deploying(bench, agent, **given)
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    # A ramdisk that keeps running is locked down before its machine gets other networks.
    assert agent.names[-2:] == (
        ["standby.sync", "system.lockdown"]
        if "disable_power_off" in given
        else ["image.install_bootloader", "standby.sync"]
    )
    assert ("set power off" in done) is ("driver_info" in given)


def test_an_agent_that_can_not_be_locked_down_does_not_stop_the_deployment(bench, agent):
    agent.refusals["system.lockdown"] = (404, "unknown")
    uuid = deploying(bench, agent, disable_power_off=True)
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE


def test_an_image_that_can_not_be_written_fails_the_deployment(bench, agent, done):
    uuid = deploying(bench, agent)
    beat(bench, agent, uuid)
    agent.end("FAILED", error={"type": "ImageChecksumError", "message": "wrong sum"})
    assert beat(bench, agent, uuid)[0] == states.DEPLOYFAIL
    node = bench.row(uuid)
    assert "ImageChecksumError: wrong sum" in node.last_error
    assert (node.maintenance, node.power_state) == (False, "power off")
    assert done[-3:] == ["set power off", "clean_up_ramdisk", "clean_up_instance"]


def test_a_machine_stays_on_after_a_failure_if_configured(bench, agent, conf):
    conf(deploy__power_off_after_deploy_failure=False)
    uuid = deploying(bench, agent)
    beat(bench, agent, uuid)
    agent.end("FAILED", error="no")
    assert beat(bench, agent, uuid)[0] == states.DEPLOYFAIL
    assert bench.row(uuid).power_state == "power on"


def test_a_boot_loader_that_can_not_be_installed_fails_the_deployment(bench, agent):
    uuid = deploying(bench, agent)
    agent.refusals["image.install_bootloader"] = (500, "no ESP")
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.DEPLOYFAIL
    assert "no ESP" in bench.row(uuid).last_error


def installing(bench: benches.Bench, agent: AgentDouble) -> str:
    """Deploy until the agent has begun to install the boot loader."""
    uuid = deploying(bench, agent)
    agent.ends_at_once.remove("image.install_bootloader")
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, "prepare_instance_boot")
    return uuid


def test_no_worker_waits_for_the_boot_loader(bench, agent):
    uuid = installing(bench, agent)
    # A heartbeat that comes before the end changes nothing.
    assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, "prepare_instance_boot")
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert agent.names.count("image.install_bootloader") == 1
    assert "boot_loader_began_at" not in bench.row(uuid).driver_internal_info


def test_a_boot_loader_whose_installation_fails_fails_the_deployment(bench, agent):
    uuid = installing(bench, agent)
    agent.end("FAILED", error={"type": "CommandExecutionError", "message": "no space in the firmware"})
    assert beat(bench, agent, uuid)[0] == states.DEPLOYFAIL
    assert "no space in the firmware" in bench.row(uuid).last_error


def test_a_boot_loader_that_is_never_installed_fails_the_deployment(bench, agent, conf):
    uuid = installing(bench, agent)
    conf(agent__command_wait_interval=0)
    assert beat(bench, agent, uuid)[0] == states.DEPLOYFAIL
    assert "install_bootloader" in bench.row(uuid).last_error


def test_an_agent_that_restarts_installs_the_boot_loader_again(bench, agent):
    uuid = installing(bench, agent)
    agent.restart()
    agent.ends_at_once.add("image.install_bootloader")
    assert beat(bench, agent, uuid)[0] == states.ACTIVE


@pytest.mark.parametrize("answer", [None, [], "none", 3])
def test_an_agent_that_knows_no_partitions_is_told_none(bench, agent, answer):
    agent.results["standby.get_partition_uuids"] = answer
    uuid = deploying(bench, agent)
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert dict(agent.received)["image.install_bootloader"]["root_uuid"] is None


def test_a_config_drive_goes_with_the_image(bench, agent):
    uuid = deploying(bench, agent, info={"configdrive": "http://drives/1"})
    beat(bench, agent, uuid)
    assert agent.received[-1][1]["step"]["args"]["configdrive"] == "http://drives/1"
    assert agent.received[-1][1]["node"]["instance_info"]["configdrive"] == "http://drives/1"


def test_tearing_down_takes_the_machine_out_of_all_networks(bench, agent, done, conf):
    conf(conductor__automated_clean=False)
    uuid = deploying(bench, agent, verb="deleted", state=states.ACTIVE)
    assert bench.state(uuid) == (states.AVAILABLE, None)
    assert done == ["disconnect tenant", "disconnect provisioning", "clean_up_ramdisk", "clean_up_instance"]


@pytest.mark.parametrize("info, error", [
    ({"image_source": None}, MissingParameterValue),
    ({"image_source": "5f7cd7a5-glance"}, InvalidParameterValue),
    ({"image_source": "http://[bad"}, InvalidParameterValue),
    ({"image_source": "file:///etc/passwd"}, InvalidParameterValue),
    ({"image_type": "kernel"}, InvalidParameterValue),
    ({"capabilities": {"boot_option": "ramdisk"}}, InvalidParameterValue),
    ({"capabilities": {"boot_mode": "open firmware"}}, InvalidParameterValue),
    ({"capabilities": "boot_mode"}, InvalidParameterValue),
    ({"image_server_auth_strategy": "magic"}, InvalidParameterValue),
    ({"image_server_auth_strategy": "http_basic", "image_server_user": "u"}, MissingParameterValue),
    ({"configdrive": {"meta_data": "text"}}, InvalidParameterValue),
    ({"image_os_hash_value": None}, MissingParameterValue),
    ({"image_os_hash_algo": "crc32"}, InvalidParameterValue),
    ({"image_os_hash_value": "nonsense"}, InvalidParameterValue),
    ({"image_os_hash_algo": "sha512"}, InvalidParameterValue),
    ({"image_os_hash_algo": ["md5"]}, InvalidParameterValue),
    ({"image_os_hash_algo": None, "image_os_hash_value": None, "image_checksum": "e" * 40}, InvalidParameterValue),
    ({"image_os_hash_algo": None, "image_os_hash_value": None, "image_checksum": None}, MissingParameterValue),
    ({"root_device": {"colour": "red"}}, InvalidParameterValue),
])  # fmt: skip
def test_what_is_certainly_wrong_is_told_at_once(bench, agent, info, error):
    with pytest.raises(error):
        deploying(bench, agent, info=info)


def test_servicing_takes_the_machine_out_and_back(bench, agent, done):
    agent.refusals["service.get_service_steps"] = (404, "old")
    uuid = deploying(bench, agent, verb="manage", state=states.AVAILABLE)
    bench.store.nodes.update(uuid, {"provision_state": states.ACTIVE, "power_state": "power on"})
    clean = agent.results["clean.get_clean_steps"]
    agent.refusals.clear()
    agent.results["service.get_service_steps"] = {"service_steps": clean["clean_steps"], "hardware_manager_version": {}}
    bench.verb(uuid, "service", service_steps=[{"interface": "deploy", "step": "loopback_noop"}])
    assert done == ["set power off", "disconnect tenant", "clean_up_instance", "connect servicing",
                    "prepare_ramdisk http://192.0.2.1:6385", "set power on"]  # fmt: skip
    done.clear()
    assert beat(bench, agent, uuid)[0] == states.SERVICEWAIT
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert done == ["set power off", "clean_up_ramdisk", "disconnect servicing", "connect tenant", "prepare_instance",
                    "set power on"]  # fmt: skip


def test_a_restart_for_the_firmware_ends_the_agent_but_not_the_deployment(bench, secure_agent, conf, monkeypatch):
    """The step is repeated without the agent, which has installed the boot loader before."""
    conf(conductor__record_step_flows_in_history=True)
    agent, restarts = secure_agent, iter([True, False])

    def prepare_instance(boot, task):
        if next(restarts):
            awaited_setting.suspend(task, "secure_boot", True, 60)

    monkeypatch.setattr(NotingBoot, "prepare_instance", prepare_instance)
    uuid = deploying(bench, agent)
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, "prepare_instance_boot")
    for name in ("standby.get_partition_uuids", "image.install_bootloader", "standby.power_off"):
        agent.refusals[name] = (500, "gone")
    agent.commands.clear()
    with bench.tasks.acquire(bench.context, uuid, LockMode.PERIODIC, purpose="looking") as task:
        wait_ends.continue_flow(task)
    assert bench.state(uuid)[0] == states.ACTIVE, bench.row(uuid).last_error
    assert agent.names.count("image.install_bootloader") == 1
    assert "boot_loader_installed" not in bench.row(uuid).driver_internal_info
    begun = [event for _severity, _kind, event in bench.history(uuid) if "prepare_instance_boot begins" in event]
    assert len(begun) == 1


def test_what_the_agent_runs_from_is_taken_away_when_the_machine_is_off(bench, secure_agent, done, monkeypatch):
    monkeypatch.setattr(NotingBoot, "holds_ramdisk", True)
    uuid = deploying(bench, secure_agent)
    beat(bench, secure_agent, uuid)
    secure_agent.end()
    done.clear()
    assert beat(bench, secure_agent, uuid) == (states.ACTIVE, "")
    assert done[:3] == ["prepare_instance", "set power off", "clean_up_ramdisk"]
