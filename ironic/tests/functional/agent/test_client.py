"""The command client, against an agent that is a real server."""

import logging

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import (
    AgentAPIError,
    AgentCommandFailed,
    AgentCommandTimeout,
    AgentConnectionFailed,
    AgentInProgress,
    AgentNotCalled,
)
from ironic.core.readings import Known
from ironic.drivers.modules.agent import agent_client
from ironic.drivers.modules.agent.agent_client import Agent, Command
from ironic.tests.agent_double import RECORDED, TOKEN, agent_double, make_certificate
from ironic.tests.functional.inspection.call_catcher import call_catcher
from ironic.tests.unit.drivers.machine import work_on


@pytest.fixture(autouse=True)
def at_once(conf, monkeypatch):
    conf(agent__command_timeout=5)
    monkeypatch.setattr(agent_client, "_SECONDS_BETWEEN", 0)


def node_of(agent, **memory):
    return work_on(driver_internal_info={**agent.memory(), **memory}).node


def test_it_asks_for_steps_as_recorded(agent):
    task = work_on(driver_internal_info=agent.memory(), driver_info={"ipmi_password": "hunter2", "address": "bmc"})
    offered, versions = Agent(task.node).steps("clean", task)
    recorded = RECORDED["clean.get_clean_steps"]["response"]["command_result"]
    assert (offered, versions) == (recorded["clean_steps"], {"loopback": "1.0"})
    name, params = agent.received[0]
    assert name == "clean.get_clean_steps"
    assert params["node"]["uuid"] == task.node.uuid
    assert params["node"]["driver_info"] == {"ipmi_password": "******", "address": "bmc"}
    assert params["node"]["driver_internal_info"]["agent_secret_token"] == "******"
    assert params["ports"] == []


@pytest.mark.parametrize("flow, seen", [("clean", "******"), ("deploy", "the drive")])
def test_a_config_drive_is_for_deployments_only(agent, flow, seen):
    task = work_on(driver_internal_info=agent.memory(), instance_info={"configdrive": "the drive"})
    Agent(task.node).start_step(flow, task, {"step": "s", "interface": "deploy"}, {"m": "1"})
    name, params = agent.received[0]
    assert name == f"{flow}.execute_{flow}_step"
    assert params["node"]["instance_info"]["configdrive"] == seen
    assert params[f"{flow}_version"] == {"m": "1"}
    assert task.node.instance_info == {"configdrive": "the drive"}


@pytest.mark.parametrize("name, last", [
    ("commands after automated-cleaning", ("execute_clean_step", "SUCCEEDED")),
    ("commands after direct-deploy", ("install_bootloader", "SUCCEEDED")),
    ("commands after manual-clean-failing", ("execute_clean_step", "FAILED")),
])  # fmt: skip
def test_it_reads_recorded_lists_of_commands(agent, name, last):
    agent.commands = RECORDED[name]["response"]["commands"]
    found = Agent(node_of(agent)).commands()[-1]
    assert (found.name, found.status.shown(None)) == last


def test_a_failure_is_told_in_the_agents_words():
    failed = Command.parse(RECORDED["commands after manual-clean-failing"]["response"]["commands"][-1])
    assert failed.reason == "CleaningError: TEXT-SCRUBBED: TEXT-SCRUBBED loopback_fail"


def test_a_busy_agent_takes_no_other_order(agent):
    client = Agent(node_of(agent))
    client.start("standby.prepare_image")
    with pytest.raises(AgentInProgress, match="busy"):
        client.start("standby.prepare_image")


def test_a_command_that_failed_is_an_error(agent):
    client = Agent(node_of(agent))
    command = client.start("standby.prepare_image")
    agent.end("FAILED", error={"type": "ImageError", "message": "too large"})
    with pytest.raises(AgentCommandFailed, match="ImageError: too large"):
        client.result(client.commands()[-1])
    assert command.status == Known("RUNNING")


@pytest.mark.parametrize("status, text", [(400, "bad parameter"), (404, "no such extension"), (500, "oops")])
def test_a_refusal_says_status_and_reason(agent, status, text):
    agent.refusals["standby.sync"] = (status, text)
    with pytest.raises(AgentAPIError, match=f"status {status}: {text}"):
        Agent(node_of(agent)).execute("standby.sync")
    assert agent.calls == 1


def test_another_token_is_refused_and_no_token_is_told(agent, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(AgentAPIError, match="status 401") as refusal:
        Agent(node_of(agent, agent_secret_token="another-secret-word")).commands()
    Agent(node_of(agent)).commands()
    assert "another-secret-word" not in str(refusal.value) + caplog.text
    assert TOKEN not in caplog.text


# Connections that fail


def test_a_question_whose_answer_got_lost_is_asked_again(agent):
    agent.lost_answers = 2
    assert Agent(node_of(agent)).execute("standby.sync") is None
    assert agent.names == ["standby.sync"] * 3


def test_a_question_is_not_asked_for_ever(agent):
    agent.lost_answers = 9
    with pytest.raises(AgentCommandTimeout):
        Agent(node_of(agent)).execute("standby.sync")
    assert agent.names == ["standby.sync"] * 3


def test_an_order_is_given_once_whatever_happens(agent):
    agent.lost_answers = 1
    with pytest.raises(AgentCommandTimeout):
        Agent(node_of(agent)).start("standby.prepare_image")
    assert agent.names == ["standby.prepare_image"]


def test_an_agent_that_is_gone_is_tried_as_often_as_configured(conf, caplog):
    conf(agent__max_command_attempts=4)
    caplog.set_level(logging.INFO)
    with agent_double() as agent:
        node = node_of(agent)
    with pytest.raises(AgentConnectionFailed):
        Agent(node).start("standby.prepare_image")
    assert caplog.text.count("trying again") == 3


@pytest.mark.parametrize("url", ["http://169.254.169.254:9999", "http://[::]:9999", "http://[::ffff:a9fe:a9fe]", "{}"])
def test_no_agent_is_where_none_can_be(conf, url):
    """A ramdisk names its own address: the conductor goes nowhere for it where it would not go for an image."""
    with agent_double() as other:
        conf(api__host_ip="0.0.0.0", api__port=int(other.url.rpartition(":")[2]), agent__max_command_attempts=1)
        node = node_of(other, agent_url=url.format(other.url))
        with pytest.raises(AgentNotCalled, match="its address is"):
            Agent(node).commands()
        assert other.calls == 0


def test_an_agents_redirect_is_not_followed(agent):
    with call_catcher() as other:
        other.statuses, other.location = [302], agent.url
        with pytest.raises(AgentAPIError):
            Agent(node_of(agent, agent_url=other.url)).commands()
    assert agent.calls == 0


def test_an_agent_that_never_called_can_not_be_reached():
    with pytest.raises(AgentConnectionFailed, match="no agent has sent a heartbeat"):
        Agent(work_on().node).commands()


@pytest.mark.parametrize("answer", [b"<html>", b"[]", b"{}", b'{"commands": {}}', b'{"commands": [1]}'])
def test_an_answer_that_makes_no_sense_is_an_error(agent, answer):
    agent.raw = answer
    client = Agent(node_of(agent))
    with pytest.raises(AgentAPIError):
        client.commands()
    with pytest.raises(AgentAPIError):
        client.execute("standby.sync")


@pytest.mark.parametrize("result", [None, [], {"clean_steps": []}, {"clean_steps": {"m": [{"step": "x"}]}},
                                    {"clean_steps": {"m": []}, "hardware_manager_version": 1},
                                    {"clean_steps": {"m": []}, "hardware_manager_version": None}])  # fmt: skip
def test_steps_that_are_none_are_an_error(agent, result):
    agent.results["clean.get_clean_steps"] = result
    task = work_on(driver_internal_info=agent.memory())
    with pytest.raises(AgentAPIError):
        Agent(task.node).steps("clean", task)


@pytest.mark.parametrize("odd", [
    {"priority": None}, {"priority": "10"}, {"priority": True}, {"priority": []}, {"step": 5}, {"interface": ["x"]},
])  # fmt: skip
def test_a_step_that_would_not_be_run_is_an_error(agent, odd):
    step = {"step": "erase_devices", "interface": "deploy", "priority": 10}
    task = work_on(driver_internal_info=agent.memory())
    for one, is_whole in ((step, True), ({**step, **odd}, False)):
        agent.results["clean.get_clean_steps"] = {"clean_steps": {"m": [one]}, "hardware_manager_version": {"m": "1"}}
        if is_whole:
            assert Agent(task.node).steps("clean", task)[0] == {"m": [step]}
        else:
            with pytest.raises(AgentAPIError, match="holds no steps"):
                Agent(task.node).steps("clean", task)


# TLS


def test_it_believes_the_certificate_the_agent_has_shown(secure_agent):
    assert Agent(node_of(secure_agent)).commands() == []


@pytest.mark.parametrize("certificate", [None, make_certificate()[0]])
def test_it_believes_no_other_certificate(secure_agent, certificate, conf):
    conf(agent__max_command_attempts=1)
    with pytest.raises(AgentConnectionFailed, match="not trusted"):
        Agent(node_of(secure_agent, agent_verify_ca=certificate)).commands()
    assert secure_agent.calls == 0


def test_driver_info_or_an_option_may_say_whom_to_believe(secure_agent, conf, tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text(secure_agent.certificate)
    memory = {**secure_agent.memory(), "agent_verify_ca": None}
    for info in ({"agent_verify_ca": str(file)}, {"agent_verify_ca": "false"}):
        assert Agent(work_on(driver_internal_info=memory, driver_info=info).node).commands() == []
    conf(agent__verify_ca=str(file))
    assert Agent(work_on(driver_internal_info=memory).node).commands() == []
    with pytest.raises(InvalidParameterValue, match="agent_verify_ca"):
        info = {"agent_verify_ca": "/no/such/file"}
        Agent(work_on(driver_internal_info=memory, driver_info=info).node).commands()
