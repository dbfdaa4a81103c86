"""Every heartbeat comes several times, in every flow that has an agent: the agent gets each command once."""

import pytest

from ironic.core.flows import states
from ironic.tests.agent_double import AgentDouble
from ironic.tests.functional.agent.conftest import beat
from ironic.tests.functional.agent.test_direct import deploying
from ironic.tests.functional.agent.test_in_band_steps import NOOP, REBOOT, SLEEP, executed, waiting
from ironic.tests.unit.conductor.flows import bench as benches

TIMES = 4


def offer_service_steps(agent: AgentDouble) -> None:
    """Have the agent offer for servicing what it offers for cleaning."""
    offered = agent.results["clean.get_clean_steps"]["clean_steps"]
    agent.results["service.get_service_steps"] = {"service_steps": offered, "hardware_manager_version": {}}


@pytest.mark.parametrize(
    "state, key, done",
    [(states.MANAGEABLE, "clean_steps", states.MANAGEABLE), (states.ACTIVE, "service_steps", states.ACTIVE)],
)
def test_steps_that_look_alike_run_once_each(
    bench: benches.Bench, agent: AgentDouble, state: str, key: str, done: str
) -> None:
    offer_service_steps(agent)
    uuid = waiting(bench, agent, state, **{key: [NOOP, NOOP, SLEEP, NOOP]})
    for number in range(1, 5):
        beat(bench, agent, uuid, times=TIMES)
        assert len(executed(agent)) == number
        agent.end()
    assert beat(bench, agent, uuid, times=TIMES)[0] == done
    assert executed(agent) == ["loopback_noop", "loopback_noop", "loopback_sleep", "loopback_noop"]


def test_a_restart_between_steps_is_done_once(bench: benches.Bench, agent: AgentDouble) -> None:
    uuid = waiting(bench, agent, clean_steps=[REBOOT, REBOOT, NOOP])
    for _ in range(2):
        beat(bench, agent, uuid, times=TIMES)
        agent.end()
        beat(bench, agent, uuid, times=TIMES)
        agent.restart()
    beat(bench, agent, uuid, times=TIMES)
    agent.end()
    assert beat(bench, agent, uuid, times=TIMES)[0] == states.MANAGEABLE
    assert executed(agent) == ["loopback_reboot", "loopback_reboot", "loopback_noop"]


def test_a_machine_is_deployed_once(bench: benches.Bench, secure_agent: AgentDouble, done: list[str]) -> None:
    uuid = deploying(bench, secure_agent)
    assert beat(bench, secure_agent, uuid, times=TIMES) == (states.DEPLOYWAIT, "write_image")
    secure_agent.end()
    assert beat(bench, secure_agent, uuid, times=TIMES) == (states.ACTIVE, "")
    assert secure_agent.names == [
        "deploy.get_deploy_steps",
        "deploy.execute_deploy_step",
        "standby.get_partition_uuids",
        "image.install_bootloader",
        "standby.power_off",
    ]
    assert (done.count("set power on"), done.count("prepare_instance")) == (2, 1)


def test_a_machine_is_rescued_once(bench: benches.Bench, secure_agent: AgentDouble, done: list[str]) -> None:
    uuid = bench.node(
        "boot", "network", provision_state=states.ACTIVE, power_state="power on", rescue_interface="agent"
    )
    bench.verb(uuid, "rescue", rescue_password="four words for rescue")
    assert beat(bench, secure_agent, uuid, times=TIMES)[0] == states.RESCUE
    assert secure_agent.names == ["rescue.finalize_rescue"]
    assert done.count("disconnect rescuing") == 1
