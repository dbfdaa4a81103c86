"""The agent of a node as deploy interfaces of third parties call it."""

from collections import defaultdict
from typing import Any

import pytest

from ironic.core.errors import (
    InstanceDeployFailure,
    InvalidParameterValue,
    IronicError,
    NodeCleaningFailure,
    NodeServicingFailure,
)
from ironic.core.flows import states
from ironic.drivers.contract.step_declarations import StepDone, StepFailed
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules import agent_base, agent_client
from ironic.drivers.modules.agent import AgentBase, CustomAgentDeploy, in_band_steps, step_hooks
from ironic.tests.agent_double import RECORDED, AgentDouble
from ironic.tests.unit.drivers.machine import Work, work_on

STEPS = {"deploy": [{"interface": "deploy", "step": "erase_devices", "priority": 5}]}


def on(agent: AgentDouble, **columns: Any) -> Work:
    memory = {**agent.memory(), "agent_cached_clean_steps": STEPS}
    return work_on(driver_internal_info=memory, provision_state=states.CLEANING, **columns)


def test_commands_are_sent_and_listed(agent: AgentDouble) -> None:
    task = on(agent)
    client = agent_client.get_client(task)
    assert client.get_commands_status(task.node) == []
    client.sync(task.node)
    client.lockdown(task.node)
    assert client.power_off(task.node)["command_status"] == "SUCCEEDED"
    assert agent.names == ["standby.sync", "system.lockdown", "standby.power_off"]
    last = client.get_last_command_status(task.node, "sync")
    assert last is not None and (last["command_name"], last["command_error"]) == ("sync", None)
    assert client.get_last_command_status(task.node, "fly") is None
    agent.results["log.collect_system_logs"] = {"system_logs": "H4sI"}
    assert client.collect_system_logs(task.node) == {"system_logs": "H4sI"}


@pytest.mark.parametrize("flow", ["clean", "deploy"])
def test_steps_are_asked_for_and_started_for_a_node_and_its_ports(agent: AgentDouble, flow: str) -> None:
    task = on(agent)
    client = agent_client.AgentClient()
    offered = getattr(client, f"get_{flow}_steps")(task.node, [])
    assert offered == RECORDED[f"{flow}.get_{flow}_steps"]["response"]["command_result"]
    command = getattr(client, f"execute_{flow}_step")({"interface": "deploy", "step": "s"}, task.node, [])
    assert command["command_status"] == "RUNNING"
    name, params = agent.received[-1]
    assert (name, params["step"]["step"], params["ports"]) == (f"{flow}.execute_{flow}_step", "s", [])


def test_a_step_of_the_agent_is_found_and_executed(agent: AgentDouble) -> None:
    task = on(agent, clean_step=STEPS["deploy"][0])
    assert agent_base.get_steps(task, "clean") == agent_base.get_steps(task, "clean", "deploy") == STEPS["deploy"]
    assert agent_base.get_steps(task, "clean", "raid") == []
    assert agent_base.find_step(task, "clean", "deploy", "erase_devices") == STEPS["deploy"][0]
    assert agent_base.find_step(task, "clean", "deploy", "fly") is None
    assert agent_base.execute_step(task, STEPS["deploy"][0], "clean") == states.CLEANWAIT
    assert agent.names == ["clean.execute_clean_step"]


class Client:
    """A client of a plug-in, which answers what it is given."""

    def __init__(self, answer: object) -> None:
        self.answer, self.sent = answer, list[Any]()

    def execute_clean_step(self, step: Any, node: Any, ports: Any) -> object:
        self.sent.append((step["step"], node.uuid, list(ports)))
        return self.answer

    execute_deploy_step = execute_service_step = execute_clean_step


@pytest.mark.parametrize(
    ("flow", "state", "failure"),
    [
        ("clean", states.CLEANWAIT, NodeCleaningFailure),
        ("deploy", states.DEPLOYWAIT, InstanceDeployFailure),
        ("service", states.SERVICEWAIT, NodeServicingFailure),
    ],
)
def test_a_step_is_sent_by_the_client_of_a_plug_in(flow: str, state: str, failure: type[IronicError]) -> None:
    task, client = work_on(), Client({"command_status": "RUNNING"})
    task.ports = ["a port"]
    step = {"interface": "deploy", "step": "s"}
    assert agent_base.execute_step(task, step, flow, client) == state
    assert client.sent == [("s", task.node.uuid, ["a port"])]
    nonsense: tuple[object, ...] = ({}, None, "RUNNING")
    for without in nonsense:
        with pytest.raises(failure, match="no status for step 's'"):
            agent_base.execute_step(task, step, flow, Client(without))


def test_an_answer_of_the_agent_without_a_status(agent: AgentDouble) -> None:
    task = on(agent)
    agent.raw = b"{}"
    with pytest.raises(NodeCleaningFailure, match="erase_devices"):
        agent_base.execute_step(task, STEPS["deploy"][0], "clean")


def test_a_busy_agent_gets_the_step_after_its_next_heartbeat(agent: AgentDouble) -> None:
    task = on(agent, clean_step=STEPS["deploy"][0])
    client = agent_client.get_client(task)
    assert client is agent_client.get_client(task)
    client.execute_clean_step(STEPS["deploy"][0], task.node, [])
    assert agent_base.execute_step(task, STEPS["deploy"][0], "clean") == states.CLEANWAIT
    assert task.node.driver_internal_info["skip_current_clean_step"] is False


def test_functions_run_after_the_step_that_they_name(agent: AgentDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_hooks, "_HOOKS", defaultdict(list))
    seen: list[Any] = []

    @agent_base.post_clean_step_hook(interface="deploy", step="erase_devices")
    @agent_base.post_clean_step_hook(interface="deploy", step="erase_devices")
    def note(task: Any, command: dict[str, Any]) -> None:
        seen.append((task.node.uuid, command["command_status"], command["command_result"]["clean_result"]))

    @agent_base.post_deploy_step_hook(interface="deploy", step="erase_devices")
    def never(task: Any, command: Any) -> None:
        raise AssertionError("the step was one of cleaning")

    task = on(agent, clean_step=STEPS["deploy"][0])
    task.driver = BareDriver({"deploy": CustomAgentDeploy()})
    agent_base.execute_step(task, STEPS["deploy"][0], "clean")
    task.node.provision_state = states.CLEANWAIT
    assert CustomAgentDeploy().heartbeat(task, "", "") is None and seen == []
    agent.end(result=7)
    assert isinstance(CustomAgentDeploy().heartbeat(task, "", ""), StepDone)
    assert seen == [(task.node.uuid, "SUCCEEDED", 7)]


def test_a_step_that_the_agent_does_not_offer_is_not_done_by_its_restart(agent: AgentDouble) -> None:
    step = {"interface": "deploy", "step": "of_the_plug_in"}
    task = on(agent, clean_step=step)
    task.driver = BareDriver({"deploy": CustomAgentDeploy()})
    agent_base.execute_step(task, step, "clean")
    task.node.provision_state = states.CLEANWAIT
    agent.commands.clear()
    end = CustomAgentDeploy().heartbeat(task, "", "")
    assert end == StepFailed("the agent has restarted while the step was running")


def test_the_end_of_a_step_without_a_command_is_no_reason_for_functions(
    agent: AgentDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_hooks, "_HOOKS", defaultdict(list))
    agent_base.post_clean_step_hook(interface="deploy", step="erase_devices")(lambda task, command: command["id"])
    task = on(agent, clean_step=STEPS["deploy"][0])
    task.driver = BareDriver({"deploy": CustomAgentDeploy()})
    task.node.provision_state = states.CLEANWAIT
    done = StepDone(has_result=True, result=1)
    monkeypatch.setattr(in_band_steps, "check_progress", lambda task, kind, step: done)
    assert CustomAgentDeploy().heartbeat(task, "", "") == done


def test_an_agent_verifies_nothing(agent: AgentDouble) -> None:
    with pytest.raises(InvalidParameterValue, match="'verify' is none of the types: clean, deploy, service"):
        agent_base.execute_step(on(agent), STEPS["deploy"][0], "verify")


def test_where_heartbeats_count() -> None:
    assert {states.CLEANWAIT, states.DEPLOYHOLD, states.RESCUEWAIT} < agent_base.HEARTBEAT_ALLOWED
    assert not agent_base.HEARTBEAT_ALLOWED & {states.ACTIVE, states.INSPECTWAIT}


def test_a_failure_in_the_words_of_a_plug_in() -> None:
    cause = ValueError("no")
    with pytest.raises(InstanceDeployFailure, match="It does not boot") as raised:
        agent_base.log_and_raise_deployment_error(work_on(), "It does not boot", exc=cause)
    assert raised.value.__cause__ is cause
    assert agent_base.HeartbeatMixin is agent_base.AgentBaseMixin is AgentBase
    failed = RECORDED["commands after manual-clean-failing"]["response"]["commands"][-1]
    assert "loopback_fail" in str(agent_client.get_command_error(failed))
    assert agent_client.get_command_error({**failed, "command_error": None}) is None
