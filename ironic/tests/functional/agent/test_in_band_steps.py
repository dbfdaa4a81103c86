"""Steps on a machine, through the engine: a real conductor's task and store, and an agent that is a real server."""

from typing import Any

import pytest

from ironic.core.flows import states
from ironic.tests.agent_double import AgentDouble
from ironic.tests.functional.agent.conftest import NotingPower, beat
from ironic.tests.unit.conductor.flows import bench as benches


def waiting(bench: benches.Bench, agent: AgentDouble, state: str = states.MANAGEABLE, **verb: Any) -> str:
    """Start a flow and bring the agent up; return the node's UUID."""
    uuid = bench.node("deploy", "power", provision_state=state, power_state="power off", vendor_interface="no-vendor")
    name = {states.MANAGEABLE: "clean" if verb else "provide", states.ACTIVE: "service"}.get(state, "active")
    bench.verb(uuid, name, **verb)
    node = bench.row(uuid)
    node.set_driver_internal_info("agent_secret_token", agent.memory()["agent_secret_token"])
    node.save()
    return uuid


SLEEP = {"interface": "deploy", "step": "loopback_sleep", "args": {"seconds": 2}}
FAIL = {"interface": "deploy", "step": "loopback_fail"}
REBOOT = {"interface": "deploy", "step": "loopback_reboot"}
NOOP = {"interface": "deploy", "step": "loopback_noop"}


def executed(agent: AgentDouble) -> list[str]:
    return [params["step"]["step"] for name, params in agent.received if ".execute_" in name]


def test_automated_cleaning_runs_the_agents_steps_as_recorded(bench, secure_agent):
    uuid = waiting(bench, secure_agent)
    assert bench.state(uuid) == (states.CLEANWAIT, states.AVAILABLE)
    assert bench.row(uuid).power_state == "power on"
    for name in ("erase_devices_metadata", "erase_devices", "loopback_noop"):
        assert beat(bench, secure_agent, uuid) == (states.CLEANWAIT, name)
        assert executed(secure_agent)[-1] == name
        secure_agent.end()
    assert beat(bench, secure_agent, uuid) == (states.AVAILABLE, "")
    sent = [params for name, params in secure_agent.received if name == "clean.execute_clean_step"]
    assert {tuple(params["clean_version"].items()) for params in sent} == {(("loopback", "1.0"),)}
    assert sent[0]["node"]["driver_internal_info"]["disk_erasure_concurrency"] == 4
    node = bench.row(uuid)
    assert node.power_state == "power off"
    assert "agent_url" not in node.driver_internal_info
    assert len(executed(secure_agent)) == 3


@pytest.mark.demand("S59", "S61")
def test_the_plan_shows_the_agents_steps_afterwards(bench, agent, conf):
    uuid = waiting(bench, agent)
    beat(bench, agent, uuid)
    conf(deploy__erase_devices_metadata_priority=0, deploy__erase_devices_priority=77)
    shown = bench.endpoint.cleaning_steps(bench.context, uuid)
    assert [(step["step"], step["priority"]) for step in shown["steps"]] == [
        ("erase_devices", 77),
        ("loopback_noop", 5),
    ]
    assert shown["source"]["deploy"]["cached_at"] is not None


def test_priorities_come_from_the_operator(bench, agent, conf):
    conf(deploy__erase_devices_metadata_priority=0, deploy__erase_devices_priority=1)
    uuid = waiting(bench, agent)
    assert beat(bench, agent, uuid)[1] == "loopback_noop"
    agent.end()
    assert beat(bench, agent, uuid)[1] == "erase_devices"


@pytest.mark.parametrize("state, key, wait, done", [
    (states.MANAGEABLE, "clean_steps", states.CLEANWAIT, states.MANAGEABLE),
    (states.ACTIVE, "service_steps", states.SERVICEWAIT, states.ACTIVE),
])  # fmt: skip
def test_a_users_list_runs_in_its_order_with_arguments(bench, agent, state, key, wait, done):
    if state == states.ACTIVE:
        clean = agent.results["clean.get_clean_steps"]
        agent.results["service.get_service_steps"] = {
            "service_steps": clean["clean_steps"],
            "hardware_manager_version": {},
        }
    uuid = waiting(bench, agent, state, **{key: [SLEEP, NOOP, SLEEP]})
    for name in ("loopback_sleep", "loopback_noop", "loopback_sleep"):
        assert beat(bench, agent, uuid) == (wait, name)
        agent.end()
    assert beat(bench, agent, uuid)[0] == done
    assert executed(agent) == ["loopback_sleep", "loopback_noop", "loopback_sleep"]
    assert agent.received[1][1]["step"]["args"] == {"seconds": 2}


def test_a_step_that_the_agent_does_not_have_fails_the_list_with_its_name(bench, agent):
    uuid = waiting(bench, agent, clean_steps=[{"interface": "deploy", "step": "unheard_of"}])
    assert beat(bench, agent, uuid)[0] == states.CLEANFAIL
    node = bench.row(uuid)
    assert "deploy.unheard_of" in node.last_error
    assert node.maintenance is False
    assert executed(agent) == []


@pytest.mark.parametrize("status", [None, 5, ["SUCCEEDED"], {}])
def test_a_step_whose_status_can_not_be_read_goes_on(bench, agent, status):
    uuid = waiting(bench, agent, clean_steps=[NOOP])
    assert beat(bench, agent, uuid)[0] == states.CLEANWAIT
    agent.end(status)
    assert beat(bench, agent, uuid)[0] == states.CLEANWAIT
    agent.commands[-1]["command_status"] = "RUNNING"
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.MANAGEABLE


def test_a_step_with_a_status_that_is_not_known_fails_with_it(bench, agent):
    uuid = waiting(bench, agent, clean_steps=[NOOP])
    beat(bench, agent, uuid)
    agent.end("LOST")
    assert beat(bench, agent, uuid)[0] == states.CLEANFAIL
    assert "ended as LOST" in bench.row(uuid).last_error


def test_an_old_agent_without_service_steps_offers_none(bench, agent):
    agent.refusals["service.get_service_steps"] = (404, "no such extension")
    uuid = waiting(bench, agent, states.ACTIVE, service_steps=[NOOP])
    assert beat(bench, agent, uuid)[0] == states.SERVICEFAIL
    assert "deploy.loopback_noop" in bench.row(uuid).last_error


def test_a_failing_step_fails_the_flow_in_the_agents_words(bench, agent):
    uuid = waiting(bench, agent, clean_steps=[FAIL, NOOP])
    beat(bench, agent, uuid)
    agent.end("FAILED", error={"type": "CleaningError", "message": "this step always fails"})
    assert beat(bench, agent, uuid)[0] == states.CLEANFAIL
    node = bench.row(uuid)
    assert "CleaningError: this step always fails" in node.last_error
    assert "deploy.loopback_fail" in node.last_error
    assert (node.maintenance, node.fault, node.power_state) == (True, "clean failure", "power on")
    assert executed(agent) == ["loopback_fail"]


def test_an_end_that_nobody_knows_is_a_failure(bench, agent):
    uuid = waiting(bench, agent, clean_steps=[NOOP])
    beat(bench, agent, uuid)
    agent.end("EVAPORATED")
    assert beat(bench, agent, uuid)[0] == states.CLEANFAIL
    assert "EVAPORATED" in bench.row(uuid).last_error


def test_heartbeats_while_a_step_runs_change_nothing(bench, agent):
    uuid = waiting(bench, agent)
    beat(bench, agent, uuid)
    assert beat(bench, agent, uuid, times=3) == (states.CLEANWAIT, "erase_devices_metadata")
    assert len(executed(agent)) == 1


def test_late_and_repeated_heartbeats_start_nothing_twice(bench, agent):
    uuid = waiting(bench, agent)
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid, times=4) == (states.CLEANWAIT, "erase_devices")
    assert executed(agent) == ["erase_devices_metadata", "erase_devices"]


def test_the_end_of_another_step_is_no_end(bench, agent):
    uuid = waiting(bench, agent)
    beat(bench, agent, uuid)
    agent.end()
    agent.commands[-1]["command_result"]["clean_step"] = {"interface": "deploy", "step": "another"}
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "erase_devices_metadata")


def test_a_polled_step_is_none_of_the_heartbeats(bench, agent):
    uuid = waiting(bench, agent)
    beat(bench, agent, uuid)
    agent.end()
    node = bench.row(uuid)
    node.set_driver_internal_info("cleaning_polling", True)
    node.save()
    assert beat(bench, agent, uuid, times=2) == (states.CLEANWAIT, "erase_devices_metadata")
    bench.endpoint.continue_flow(bench.context, uuid)
    assert bench.row(uuid).clean_step["step"] == "erase_devices"


def test_a_step_that_wants_it_restarts_the_machine_before_the_next(bench, agent, done):
    uuid = waiting(bench, agent, clean_steps=[REBOOT, NOOP])
    node = bench.row(uuid)
    node.boot_interface = node.power_interface = "scripted"
    node.save()
    beat(bench, agent, uuid)
    agent.end()
    done.clear()
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "loopback_reboot")
    # Else the machine would boot its disk, as the ramdisk was for one boot.
    assert done == ["prepare_ramdisk http://192.0.2.1:6385", "set rebooting"]
    info = bench.row(uuid).driver_internal_info
    assert info["cleaning_reboot"] is True
    assert beat(bench, agent, uuid, times=2) == (states.CLEANWAIT, "loopback_reboot")  # the old agent's last breath
    agent.restart()
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "loopback_noop")
    assert "cleaning_reboot" not in bench.row(uuid).driver_internal_info
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.MANAGEABLE


class Killed(BaseException):
    """The conductor ends here."""


def killed(*args: object, **kwargs: object) -> None:
    raise Killed


def test_a_restart_that_a_killed_conductor_did_not_order_is_ordered_by_the_next(bench, agent, done, monkeypatch):
    uuid = waiting(bench, agent, clean_steps=[REBOOT, NOOP])
    beat(bench, agent, uuid)
    agent.end()
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(NotingPower, "reboot", killed)
        beat(bench, agent, uuid)
    assert bench.row(uuid).driver_internal_info["cleaning_reboot"] is True
    done.clear()
    assert beat(bench, agent, uuid, times=3) == (states.CLEANWAIT, "loopback_reboot")
    assert done == ["set rebooting"]  # once
    agent.restart()
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "loopback_noop")


def test_a_step_in_which_the_machine_restarts_by_itself_has_failed(bench, agent):
    uuid = waiting(bench, agent, clean_steps=[NOOP])
    beat(bench, agent, uuid)
    agent.restart()
    assert beat(bench, agent, uuid)[0] == states.CLEANFAIL
    assert "restarted while the step was running" in bench.row(uuid).last_error


def test_a_busy_agent_gets_the_step_with_a_later_heartbeat(bench, agent):
    uuid = waiting(bench, agent, clean_steps=[NOOP, SLEEP])
    agent.refusals["clean.execute_clean_step"] = (409, "busy")
    assert beat(bench, agent, uuid, times=2) == (states.CLEANWAIT, "loopback_noop")
    agent.refusals.clear()
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "loopback_noop")
    agent.end()
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "loopback_sleep")
    assert executed(agent) == ["loopback_noop", "loopback_sleep"]


@pytest.mark.demand("S60")
@pytest.mark.parametrize("word", ["CLEAN_VERSION_MISMATCH", "VERSION_MISMATCH"])
def test_other_hardware_managers_start_automated_cleaning_again(bench, agent, word):
    uuid = waiting(bench, agent)
    beat(bench, agent, uuid)
    agent.end()
    beat(bench, agent, uuid)
    agent.end(word)
    new = {"Other": [{"step": "polish", "interface": "deploy", "priority": 9}]}
    agent.results["clean.get_clean_steps"] = {"clean_steps": new, "hardware_manager_version": {"other": "2"}}
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "polish")
    assert agent.received[-1][1]["clean_version"] == {"other": "2"}
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.AVAILABLE


@pytest.mark.demand("S60")
def test_other_hardware_managers_get_a_users_step_again(bench, agent):
    uuid = waiting(bench, agent, clean_steps=[NOOP, SLEEP, NOOP])
    beat(bench, agent, uuid)
    agent.end()
    beat(bench, agent, uuid)
    agent.end("CLEAN_VERSION_MISMATCH")
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "loopback_sleep")
    agent.end()
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "loopback_noop")
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.MANAGEABLE
    assert executed(agent) == ["loopback_noop", "loopback_sleep", "loopback_sleep", "loopback_noop"]


def test_an_abort_that_has_to_wait_comes_after_the_step(bench, agent):
    steps = agent.results["clean.get_clean_steps"]["clean_steps"]["LoopbackManager"]
    agent.results["clean.get_clean_steps"] = {
        "clean_steps": {"m": [{**step, "abortable": False} for step in steps]},
        "hardware_manager_version": {},
    }
    uuid = waiting(bench, agent, clean_steps=[NOOP, SLEEP])
    beat(bench, agent, uuid)
    assert bench.verb(uuid, "abort")[0] == states.CLEANWAIT
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.CLEANFAIL
    assert executed(agent) == ["loopback_noop"]
    assert "aborted" in bench.row(uuid).last_error


def test_a_deployment_takes_the_agents_steps_in_when_it_has_come(bench, agent):
    asked = [{**NOOP, "args": {}, "priority": 50}, {**SLEEP, "priority": 5}]
    uuid = waiting(bench, agent, states.AVAILABLE, deploy_steps=asked)
    assert bench.row(uuid).deploy_step["step"] == "deploy"
    assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, "loopback_noop")
    assert "own_step" not in bench.row(uuid).properties
    agent.end()
    assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, "loopback_sleep")
    assert bench.row(uuid).properties["own_step"] == "ran"
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert executed(agent) == ["loopback_noop", "loopback_sleep"]


def test_a_deployment_with_a_step_that_nobody_has_fails_with_its_name(bench, agent):
    asked = [{"interface": "deploy", "step": "unheard_of", "args": {}, "priority": 50}]
    uuid = waiting(bench, agent, states.AVAILABLE, deploy_steps=asked)
    assert beat(bench, agent, uuid)[0] == states.DEPLOYFAIL
    assert "deploy.unheard_of" in bench.row(uuid).last_error


def test_an_agent_that_can_not_be_reached_is_waited_for(bench, agent):
    uuid = waiting(bench, agent)
    beat(bench, agent, uuid)
    agent.end()
    gone = {**agent.beat(), "callback_url": "http://127.0.0.1:1"}
    bench.beat(uuid, **gone)
    assert bench.row(uuid).clean_step["step"] == "erase_devices_metadata"
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "erase_devices")


def test_a_machine_that_is_powered_off_after_a_failure_is_off_before_its_ramdisk_is_cleaned_up(
    bench, agent, conf, done
):
    conf(conductor__poweroff_in_cleanfail=True)
    uuid = waiting(bench, agent, clean_steps=[FAIL])
    bench.store.nodes.update(uuid, {"boot_interface": "scripted", "network_interface": "scripted"})
    beat(bench, agent, uuid)
    done.clear()
    agent.end("FAILED", error="no")
    assert beat(bench, agent, uuid)[0] == states.CLEANFAIL
    assert done == ["set power off", "clean_up_ramdisk", "disconnect cleaning"]
