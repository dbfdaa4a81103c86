"""What users read after the failure of a flow, word by word: in a step, outside of one, by an abort or a time-out.

The texts are in data/failure-texts.json, see `failures`.
"""

from collections.abc import Callable
from typing import Any

import pytest

from ironic.conductor.flows import wait_ends
from ironic.conductor.flows.wait_ends import ON_TIMEOUT
from ironic.conductor.locking import LockMode
from ironic.conductor.takeover import RESTARTED, TakeOver
from ironic.conductor.timeouts import WAITS, reason
from ironic.core.flows import states
from ironic.drivers.contract.step_declarations import StepDone, StepFailed
from ironic.drivers.modules.agent.agent_rescue import AgentRescue
from ironic.drivers.modules.fake import FakeManagement
from ironic.drivers.modules.netboot import firmware_boot
from ironic.inspection.hooks.base import InspectionHook, NamedHook
from ironic.inspection.pipeline import Pipeline
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.unit.conductor.flows.bench import HOST, Bench
from ironic.tests.unit.conductor.flows.failures import (
    FEW,
    KINDS,
    RAISED,
    Expect,
    every_error,
    every_kind,
    few_errors,
    raising,
)
from ironic.tests.unit.conductor.flows.kinds import SERVICE, Kind, begin
from ironic.tests.unit.inspection.lab import MAC, inventory, post

PREPARED = {"cleaning": "prepare_cleaning", "deployment": "prepare", "servicing": "prepare_service"}
CLEARED = {"cleaning": "tear_down_cleaning", "deployment": "clean_up", "servicing": "tear_down_service"}


def waiting(bench: Bench, kind: Kind, *steps: str) -> str:
    bench.script.answers[steps[0]] = kind.waiting
    return begin(bench, kind, *steps)


# Flows with steps


@every_error
@every_kind
def test_in_a_step(bench: Bench, expect: Expect, flow: str, error: str) -> None:
    bench.script.answers["first"] = raising(error)
    expect(begin(bench, KINDS[flow], "first"))


@few_errors
@every_kind
def test_while_it_is_prepared(bench: Bench, expect: Expect, flow: str, error: str) -> None:
    bench.script.answers[PREPARED[flow]] = raising(error)
    expect(begin(bench, KINDS[flow], "second"))


@few_errors
@every_kind
def test_in_a_step_and_while_it_is_cleared_up(bench: Bench, expect: Expect, flow: str, error: str) -> None:
    bench.script.answers |= {"second": raising("image"), CLEARED[flow]: raising(error)}
    expect(begin(bench, KINDS[flow], "second"))


@few_errors
@pytest.mark.parametrize("flow", ["cleaning", "servicing"])
def test_after_the_last_step(bench: Bench, expect: Expect, flow: str, error: str) -> None:
    bench.script.answers[CLEARED[flow]] = raising(error)
    expect(begin(bench, KINDS[flow], "second"))


@few_errors
@every_kind
def test_at_a_heartbeat(bench: Bench, expect: Expect, flow: str, error: str) -> None:
    uuid = waiting(bench, KINDS[flow], "second")
    bench.script.answers["heartbeat"] = raising(error)
    bench.beat(uuid)
    expect(uuid)


@every_kind
def test_as_the_agent_reports(bench: Bench, expect: Expect, flow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    uuid = waiting(bench, KINDS[flow], "second")
    _agent_reports(bench, uuid, monkeypatch, StepFailed("the disk is worn out"))
    expect(uuid)


@few_errors
@every_kind
def test_at_the_restart_after_a_step(
    bench: Bench, expect: Expect, flow: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = waiting(bench, KINDS[flow], "second")
    bench.store.nodes.update(uuid, {"power_interface": "scripted"})
    bench.script.answers["set rebooting"] = raising(error)
    _agent_reports(bench, uuid, monkeypatch, StepDone(reboot=True))
    expect(uuid)


def _agent_reports(bench: Bench, uuid: str, monkeypatch: pytest.MonkeyPatch, end: object) -> None:
    scripted = bench.composition.implementation("fake-hardware", "deploy", "scripted")
    monkeypatch.setattr(type(scripted), "heartbeat", lambda *_args, **_more: end)
    bench.beat(uuid)


@every_kind
def test_as_a_poll_of_its_driver_reports(bench: Bench, expect: Expect, flow: str) -> None:
    uuid = waiting(bench, KINDS[flow], "second")
    _ends(bench, uuid, StepFailed(f"the BIOS of node {uuid} was not updated"))
    expect(uuid)


def _ends(bench: Bench, uuid: str, end: StepFailed) -> None:
    with bench.tasks.acquire(bench.context, uuid, LockMode.PERIODIC_SHARED, purpose="looking") as task:
        task.upgrade_lock("ending it", retry=False)
        wait_ends.end_look(task, end)


@every_kind
def test_with_an_answer_that_means_nothing(bench: Bench, expect: Expect, flow: str) -> None:
    bench.script.answers["first"] = "perhaps"
    expect(begin(bench, KINDS[flow], "first"))


@every_error
@pytest.mark.parametrize("flow", ["cleaning", "servicing"])
def test_on_a_child_node(bench: Bench, expect: Expect, flow: str, error: str) -> None:
    kind = KINDS[flow]
    bench.script.answers["first"] = raising(error)
    uuid = bench.node("vendor", "deploy", provision_state=kind.begins_in)
    child = bench.node("vendor", "deploy", parent_node=uuid, provision_state=states.MANAGEABLE)
    step = {"interface": "vendor", "step": "first", "execute_on_child_nodes": True}
    bench.verb(uuid, kind.verb, **{kind.asks: [step]})
    expect(uuid, child)


@every_kind
def test_of_a_reserved_step(bench: Bench, expect: Expect, flow: str) -> None:
    kind = KINDS[flow]
    uuid = bench.node("power", power_state="power on", disable_power_off=True, provision_state=kind.begins_in)
    step = {
        "interface": "power",
        "step": "power_off",
        **({"args": {}, "priority": 900} if flow == "deployment" else {}),
    }
    bench.verb(uuid, kind.verb, **{kind.asks: [step]})
    expect(uuid)


@every_kind
def test_with_steps_that_are_not_there(bench: Bench, expect: Expect, flow: str) -> None:
    expect(begin(bench, KINDS[flow], "of_an_agent"))


@every_kind
def test_by_an_abort(bench: Bench, expect: Expect, flow: str) -> None:
    uuid = waiting(bench, KINDS[flow], "second", "third")
    bench.script.answers[CLEARED[flow]] = raising("Redfish")
    bench.verb(uuid, "abort")
    expect(uuid)


@pytest.mark.parametrize("state", sorted(states.WAITING))
def test_by_a_wait_that_lasts_too_long(bench: Bench, expect: Expect, state: str) -> None:
    uuid = bench.node("inspect", "deploy", "rescue", provision_state=state)
    with bench.tasks.acquire(bench.context, uuid, purpose="overdue") as task:
        task.spawn_after(ON_TIMEOUT[state], task, reason(task.node, WAITS[state]))
    expect(uuid)


def test_of_a_conductor_that_ended(bench: Bench, expect: Expect) -> None:
    uuid = bench.node("vendor", "deploy", provision_state=states.DEPLOYING, reservation=HOST)
    bench.store.conductors.register(HOST, "", ["fake-hardware"], [])
    TakeOver(bench.tasks, HashRingManager(bench.store, heartbeat_timeout=60)).own(RESTARTED)
    expect(uuid)


# Flows with one step


@every_error
def test_of_a_first_contact(bench: Bench, expect: Expect, error: str) -> None:
    bench.script.answers["get_power_state"] = raising(error)
    uuid = bench.node("power")
    bench.verb(uuid, "manage")
    expect(uuid)


def test_of_a_first_contact_in_an_odd_state(bench: Bench, expect: Expect) -> None:
    bench.script.answers["get_power_state"] = "error"
    uuid = bench.node("power")
    bench.verb(uuid, "manage")
    expect(uuid)


def test_of_two_steps_of_verifying(bench: Bench, expect: Expect) -> None:
    bench.script.answers |= {"first": raising("verifying"), "third": raising("Redfish")}
    uuid = bench.node("vendor")
    bench.verb(uuid, "manage")
    expect(uuid)


@every_error
def test_of_an_inspection(bench: Bench, expect: Expect, error: str) -> None:
    bench.script.answers["inspect_hardware"] = raising(error)
    uuid = bench.node("inspect", provision_state=states.MANAGEABLE)
    bench.verb(uuid, "inspect")
    expect(uuid)


def _inspected(bench: Bench, answer: Callable[[Any], None], **values: Any) -> str:
    """Have a ramdisk post its report; return its node."""
    uuid = bench.node("inspect", **{"provision_state": states.INSPECTWAIT} | values)
    bench.script.answers["continue_inspection"] = answer
    bench.endpoint.continue_inspection(bench.context, uuid, inventory(MAC), {})
    return uuid


class Odd(InspectionHook):
    """A hook that raises an error about the node."""

    def __init__(self, error: str, phase: str) -> None:
        self._error, self._phase = error, phase

    def preprocess(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        if self._phase == "preprocess":
            raise RAISED[self._error](task.node.uuid)

    def __call__(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        raise RAISED[self._error](task.node.uuid)


@pytest.mark.parametrize("phase", ["preprocess", "main"])
@pytest.mark.parametrize("error", [*FEW, "inspection", "rule"])
def test_of_inspection_hooks(bench: Bench, expect: Expect, phase: str, error: str) -> None:
    pipeline = Pipeline([NamedHook(name, Odd(error, phase)) for name in ("first", "second")])
    expect(_inspected(bench, lambda task: pipeline.run(task, inventory(MAC), {})))


@pytest.mark.parametrize("phase", ["preprocess", "main"])
@pytest.mark.parametrize("sensitive", [False, True])
def test_of_a_rule(bench: Bench, expect: Expect, phase: str, sensitive: bool) -> None:
    action = {"op": "fail", "args": ["it is too old"]}
    rule = post(bench.store, phase=phase, sensitive=sensitive, description="age", actions=[action])

    def process(task: Any) -> None:
        task.node.inspect_interface = "agent"  # one that has rules
        Pipeline([]).run(task, inventory(MAC), {})

    uuid = _inspected(bench, process)
    expect(uuid, names={rule: "RULE"})


@pytest.mark.parametrize("error", [*FEW, "inspection"])
def test_of_a_discovered_node(bench: Bench, expect: Expect, error: str, conf: Any) -> None:
    conf(auto_discovery__enabled=True, auto_discovery__driver="fake-hardware")
    expect(_inspected(bench, raising(error), provision_state=states.ENROLL, auto_discovered=True))


@few_errors
def test_of_an_inspection_that_is_aborted(bench: Bench, expect: Expect, error: str) -> None:
    bench.script.answers["inspect.abort"] = raising(error)
    uuid = bench.node("inspect", provision_state=states.INSPECTWAIT)
    bench.verb(uuid, "abort")
    expect(uuid)


def test_of_an_inspection_by_another_service(bench: Bench, expect: Expect) -> None:
    uuid = bench.node("inspect", provision_state=states.INSPECTWAIT)
    _ends(bench, uuid, StepFailed("the standalone inspector says: no disk"))
    expect(uuid)


@every_error
def test_of_a_rescue(bench: Bench, expect: Expect, error: str) -> None:
    bench.script.answers["rescue"] = raising(error)
    uuid = bench.node("rescue", provision_state=states.ACTIVE)
    bench.verb(uuid, "rescue", rescue_password="hunter2hunter2")
    expect(uuid)


def test_of_a_rescue_by_its_agent(bench: Bench, expect: Expect) -> None:
    bench.script.answers["rescue"] = AgentRescue().finish_rescue
    uuid = bench.node("rescue", provision_state=states.ACTIVE)
    bench.verb(uuid, "rescue", rescue_password="hunter2hunter2")
    expect(uuid)


@few_errors
@pytest.mark.parametrize("clears", [True, False])
def test_of_leaving_rescue(bench: Bench, expect: Expect, error: str, clears: bool) -> None:
    bench.script.answers |= {"unrescue": raising(error), "rescue.clean_up": None if clears else raising(error)}
    uuid = bench.node("rescue", provision_state=states.RESCUE)
    bench.verb(uuid, "unrescue")
    expect(uuid)


@few_errors
def test_of_an_adoption(bench: Bench, expect: Expect, error: str) -> None:
    bench.script.answers["take_over"] = raising(error)
    uuid = bench.node("deploy", provision_state=states.MANAGEABLE)
    bench.verb(uuid, "adopt")
    expect(uuid)


@few_errors
def test_of_removing_an_instance(bench: Bench, expect: Expect, error: str) -> None:
    bench.script.answers["tear_down"] = raising(error)
    uuid = bench.node("deploy", provision_state=states.ACTIVE)
    bench.verb(uuid, "deleted")
    expect(uuid)


@pytest.mark.parametrize("error", ["Redfish", "not supported", "not valid"])
def test_of_a_boot_mode_that_is_not_known(
    bench: Bench, expect: Expect, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeManagement, "get_boot_mode", lambda *_args: None)
    monkeypatch.setattr(FakeManagement, "set_boot_mode", lambda _own, task, _mode: raising(error)(task))
    bench.script.answers["first"] = firmware_boot.set_wanted_boot_mode
    info = {"capabilities": {"boot_mode": "uefi"}}
    expect(begin(bench, SERVICE, "first", node={"instance_info": info}))
