"""The real agent in trouble: the service dies under it, a step fails, and a restarted agent is another than before."""

import pytest

from ironic.tests.live_service import Options
from ironic.tests.scenario.agent.machine import Machine
from ironic.tests.scenario.agent.provisioning import Provisioning, step
from ironic.tests.scenario.agent.traffic import LOOK, RECORDED, asked_of_agent, order_of, said_by_agent

OPTIONS: Options = {
    "conductor": {"clean_step_priority_override": "deploy.loopback_reboot:50,deploy.loopback_noop:0"},
    "deploy": {"erase_devices_metadata_priority": 0, "erase_devices_priority": 10},
}


def fail(provisioning: Provisioning, machine: Machine, node: str) -> None:
    """Have a step fail behind one with arguments; the machine stays on for people to look at.

    The service is killed while the first one runs, and knows when it is started again what it is waiting for.
    """
    steps = [step("loopback_sleep", seconds=6), step("loopback_fail")]
    provisioning.begin(node, "clean", clean_steps=steps)
    provisioning.await_true(lambda: machine.steps == ["loopback_sleep"])
    provisioning.follow(node, "clean wait")
    provisioning.service.kill()
    provisioning.service.start()
    failed = provisioning.follow(node, "clean failed")[-1]
    assert "loopback_fail" in failed["last_error"] and "this step always fails" in failed["last_error"]
    assert (failed["maintenance"], failed["fault"], machine.is_on) == (True, "clean failure", True)
    assert machine.steps == ["loopback_sleep", "loopback_fail"]
    order, recorded = order_of(machine.wire), RECORDED["manual-clean-failing"]
    assert said_by_agent(order) == said_by_agent(recorded)
    # The recorded agent could read no logs in its sandbox.
    assert asked_of_agent(order) == [line.replace("500", "200") for line in asked_of_agent(recorded)]
    ((name, files),) = provisioning.logs_of(node).items()
    assert "_cleaning_" in name and "The ramdisk has started." in files["var/log/messages"]
    assert provisioning.ask("DELETE", f"/v1/nodes/{node}/maintenance").status_code == 202


def clean_with_another_agent(provisioning: Provisioning, machine: Machine, node: str) -> None:
    """Have the machine cleaned by an agent that changes at its restart: the plan is made anew, with its steps."""
    before, boots = len(machine.wire), machine.boots
    provisioning.begin(node, "provide")
    provisioning.await_true(lambda: machine.boots > boots)
    machine.version = "2.0"
    provisioning.follow(node, "available")
    assert machine.steps[2:] == ["loopback_reboot", "loopback_reboot", "erase_devices"]
    answers = [each["answer"] for each in machine.wire[before:] if order_of([each]) == [LOOK]]
    ends = [command["command_status"] for answer in answers for command in answer["commands"]]
    assert any("VERSION_MISMATCH" in end for end in ends)
    shown = provisioning.node(node)["driver_internal_info"]
    assert shown["hardware_manager_version"] == {"loopback": "2.0"}
    assert len(provisioning.logs_of(node)) == 1


@pytest.mark.demand("S55", "S60", "S64")
def test_steps_fail_and_agents_change(provisioning: Provisioning, booted: Machine, node: str) -> None:
    fail(provisioning, booted, node)
    clean_with_another_agent(provisioning, booted, node)
