"""Power that changes in the course of a flow: notified, shown as the target, and never off where it must not be."""

from collections.abc import Iterator
from typing import Any

import pytest

from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.tests.agent_double import AgentDouble
from ironic.tests.functional.agent.conftest import NotingBoot, NotingNetwork, NotingPower, beat
from ironic.tests.functional.agent.test_direct import deploying
from ironic.tests.functional.agent.test_fast_track import INVENTORY
from ironic.tests.listening import Listener, listening
from ironic.tests.unit.conductor.flows.bench import Bench

ON, OFF, RESTART = states.POWER_ON, states.POWER_OFF, states.REBOOT


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as made:
        yield made


@pytest.fixture
def managed(monkeypatch: Any) -> None:
    """Have boot and network interfaces boot the ramdisk of an inspection."""
    for cls in (NotingBoot, NotingNetwork):
        monkeypatch.setattr(cls, "validate_inspection", lambda self, task: None)
    monkeypatch.setattr(NotingBoot, "prepare_ramdisk", lambda self, task, parameters: None)


def deployment(bench: Bench, agent: AgentDouble, **values: Any) -> str:
    uuid = deploying(bench, agent, **values)
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    return uuid


def cleaning(bench: Bench, agent: AgentDouble, **values: Any) -> str:
    uuid = bench.node(
        "deploy", "boot", "power", provision_state=states.MANAGEABLE, vendor_interface="no-vendor", **values
    )
    bench.verb(uuid, "provide")
    for _ in range(3):
        beat(bench, agent, uuid)
        agent.end()
    assert beat(bench, agent, uuid)[0] == states.AVAILABLE
    return uuid


def servicing(bench: Bench, agent: AgentDouble, **values: Any) -> str:
    offered = agent.results["clean.get_clean_steps"]
    agent.results["service.get_service_steps"] = {
        "service_steps": offered["clean_steps"],
        "hardware_manager_version": offered["hardware_manager_version"],
    }
    uuid = bench.node("deploy", "boot", "power", provision_state=states.ACTIVE, **values)
    bench.verb(uuid, "service", service_steps=[{"interface": "deploy", "step": "loopback_noop"}])
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    return uuid


def rescue_and_back(bench: Bench, agent: AgentDouble, **values: Any) -> str:
    uuid = bench.node("boot", "power", provision_state=states.ACTIVE, rescue_interface="agent", **values)
    bench.verb(uuid, "rescue", rescue_password="open sesame")
    beat(bench, agent, uuid)
    assert bench.verb(uuid, "unrescue")[0] == states.ACTIVE
    return uuid


def inspection(bench: Bench, agent: AgentDouble, **values: Any) -> str:
    uuid = bench.node(
        "boot", "power", "network", provision_state=states.MANAGEABLE, inspect_interface="agent", **values
    )
    bench.verb(uuid, "inspect")
    bench.endpoint.continue_inspection(bench.context, uuid, INVENTORY, {})
    assert bench.state(uuid)[0] == states.MANAGEABLE
    return uuid


FLOWS = [
    # Which power changes are asked for, of a machine that may be switched off and of one that may not.
    (deployment, [OFF, ON, OFF, ON], [RESTART]),
    (cleaning, [OFF, ON, OFF], [RESTART]),
    (servicing, [OFF, OFF, ON, OFF, ON], [RESTART, RESTART]),
    (rescue_and_back, [OFF, OFF, ON, OFF, ON], [RESTART, RESTART]),
    (inspection, [OFF, ON, OFF], [RESTART]),
]


@pytest.mark.usefixtures("managed")
@pytest.mark.parametrize("flow, expected", [(flow, free) for flow, free, _ in FLOWS])
def test_every_change_is_notified(bench, agent, done, listener, flow, expected):
    uuid = flow(bench, agent, **({} if flow is deployment else {"power_state": ON}))
    told = [each for each in listener.heard if "power_set" in each.event_type]
    assert [each.event_type.rpartition(".")[2] for each in told] == ["start", "end"] * len(expected)
    assert [each.payload["ironic_object.data"]["to_power"] for each in told[::2]] == expected
    node = bench.row(uuid)
    assert (node.power_state, node.target_power_state) == (expected[-1], None)


@pytest.mark.usefixtures("managed")
@pytest.mark.parametrize("flow, expected", [(flow, kept) for flow, _, kept in FLOWS])
def test_a_machine_that_must_stay_on_is_only_restarted(bench, agent, done, flow, expected):
    agent.ends_at_once |= {"standby.sync"}
    uuid = flow(bench, agent, disable_power_off=True, **({} if flow is deployment else {"power_state": ON}))
    asked = [call.removeprefix("set ") for call in done if call.startswith("set ")]
    assert states.POWER_OFF not in asked
    assert [call for call in asked if call != ON] == expected
    assert bench.row(uuid).power_state == ON


@pytest.mark.parametrize("stays_on", [True, False])
@pytest.mark.parametrize("flow", [deployment, cleaning, servicing])
def test_the_ramdisk_of_a_machine_that_must_stay_on_is_locked_down(bench, agent, done, flow, stays_on):
    flow(bench, agent, disable_power_off=stays_on, **({} if flow is deployment else {"power_state": ON}))
    assert ("system.lockdown" in agent.names) is stays_on


@pytest.mark.usefixtures("managed")
@pytest.mark.parametrize(
    "flow, values, expected", [(deployment, {}, [ON, OFF, ON]), (inspection, {"power_state": ON}, [OFF, ON, OFF])]
)
def test_the_target_is_seen_while_the_machine_takes_its_time(bench, agent, done, monkeypatch, flow, values, expected):
    seen = []
    order = NotingPower.set_power_state

    def slowly(self: Any, task: Any, power_state: str, timeout: int | None = None) -> None:
        seen.append((power_state, bench.row(task.node.uuid).target_power_state))
        order(self, task, power_state, timeout)

    monkeypatch.setattr(NotingPower, "set_power_state", slowly)
    uuid = flow(bench, agent, **values)
    assert seen == [(target, target) for target in expected]
    assert bench.row(uuid).target_power_state is None


@pytest.mark.usefixtures("managed")
def test_a_change_that_is_only_announced_leaves_no_target_behind(bench, agent, done, monkeypatch):
    seen = []

    def fail(self: Any, task: Any, parameters: Any) -> None:
        seen.append(bench.row(task.node.uuid).target_power_state)
        raise IronicError("the boot server is gone")

    monkeypatch.setattr(NotingBoot, "prepare_ramdisk", fail)
    uuid = bench.node("boot", "power", provision_state=states.MANAGEABLE, inspect_interface="agent", power_state=OFF)
    assert bench.verb(uuid, "inspect")[0] == states.INSPECTFAIL
    assert seen == [ON]
    assert bench.row(uuid).target_power_state is None


def test_a_change_that_fails_is_notified_and_noted(bench, agent, done, listener, monkeypatch):
    def fail(self: Any, task: Any, power_state: str, timeout: int | None = None) -> None:
        raise IronicError("the BMC is gone")

    monkeypatch.setattr(NotingPower, "set_power_state", fail)
    uuid = deploying(bench, agent)
    assert bench.state(uuid)[0] == states.DEPLOYFAIL
    assert "node.power_set.error" in listener.events
    node = bench.row(uuid)
    assert node.target_power_state is None
    assert "the BMC is gone" in node.last_error
    history = bench.history(uuid)
    assert ("ERROR", "power", "the BMC is gone. Changing the power state to 'power on' failed.") in history
