"""What users read after the failure of a power change, of reading the power, of a console and of other work.

The texts are in data/failure-texts.json, see `failures`.
"""

from collections.abc import Callable
from typing import Any

import pytest

from ironic.conductor.consoles import ConsoleRestorer
from ironic.conductor.flows import wait_ends
from ironic.conductor.power_sync import PowerSync
from ironic.core.errors import IronicError
from ironic.core.errors.hardware_errors import ConsoleSubprocessFailed, NoFreePhysicalPorts, VifInvalidForAttach
from ironic.core.flows import states
from ironic.drivers.contract.step_declarations import StepFailed
from ironic.drivers.contract.task import SHUTS_DOWN
from ironic.drivers.modules.agent_power import AgentPower
from ironic.drivers.modules.console.console_servers import ConsoleEnd
from ironic.rpc import message_format
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.unit.conductor.flows.bench import HOST, Bench, Script
from ironic.tests.unit.conductor.flows.failures import (
    KINDS,
    RAISED,
    Expect,
    by_bmc,
    every_error,
    every_kind,
    few_errors,
    not_in_time,
    raising,
)
from ironic.tests.unit.conductor.flows.kinds import begin
from ironic.tests.unit.conductor.managed import Managed, Notes

Made = Callable[[str], Exception]


# Power


def _power(bench: Bench, target: str, **values: Any) -> str:
    uuid = bench.node("power", **{"power_state": states.POWER_ON} | values)
    bench.endpoint.change_node_power_state(bench.context, uuid, target, None)
    return uuid


@every_error
def test_of_a_change_of_power(bench: Bench, expect: Expect, error: str) -> None:
    bench.script.answers["set power off"] = raising(error)
    expect(_power(bench, states.POWER_OFF))


@pytest.mark.parametrize("error", ["Redfish", "no Redfish", "IPMI"])
def test_of_a_change_of_power_at_the_bmc(bench: Bench, expect: Expect, error: str) -> None:
    bench.script.answers["set power off"] = by_bmc(states.POWER_OFF, RAISED[error])
    expect(_power(bench, states.POWER_OFF))


@every_kind
def test_of_a_change_of_power_at_the_bmc_in_a_step(bench: Bench, expect: Expect, flow: str) -> None:
    bench.script.answers["first"] = by_bmc(states.POWER_OFF)
    expect(begin(bench, KINDS[flow], "first"))


def test_of_a_change_of_power_that_does_not_come(bench: Bench, expect: Expect) -> None:
    bench.script.answers["set power off"] = not_in_time(states.POWER_OFF)
    expect(_power(bench, states.POWER_OFF))


@pytest.mark.parametrize("heartbeat", [True, False])
def test_of_a_restart_by_the_agent(bench: Bench, expect: Expect, heartbeat: bool) -> None:
    memory = {"agent_url": "http://127.0.0.1:1", "agent_last_heartbeat": bench.store.clock.now().isoformat()}
    bench.script.answers["set rebooting"] = AgentPower().reboot
    expect(_power(bench, states.REBOOT, driver_internal_info=memory if heartbeat else {}))


def test_of_a_shutdown_that_does_not_come(bench: Bench, expect: Expect) -> None:
    bench.script.answers["set soft power off"] = lambda task: task.notes.put(SHUTS_DOWN, -1)
    uuid = _power(bench, states.SOFT_POWER_OFF)
    bench.look()
    expect(uuid)


def test_of_a_worker_that_is_lost(bench: Bench, expect: Expect) -> None:
    uuid = bench.node("power")
    bench.pool.lost = True
    with pytest.raises(IronicError):
        bench.endpoint.change_node_power_state(bench.context, uuid, states.POWER_ON, None)
    with pytest.raises(IronicError):
        bench.endpoint.change_boot_mode(bench.context, uuid, "uefi")
    expect(uuid)


@few_errors
def test_of_the_power_of_a_child(bench: Bench, expect: Expect, error: str) -> None:
    bench.script.answers["set power off"] = raising(error)
    top = bench.node("power", power_state=states.POWER_ON)
    child = bench.node("power", power_state=states.POWER_ON, parent_node=top)
    bench.endpoint.change_node_power_state(bench.context, top, states.POWER_OFF, None)
    expect(top, child)


def test_of_the_power_of_a_grandchild(bench: Bench, expect: Expect) -> None:
    top = bench.node("power", power_state=states.POWER_ON)
    middle = bench.node("power", power_state=states.POWER_ON, parent_node=top)
    bench.node("power", power_state=states.POWER_ON, parent_node=middle, disable_power_off=True)
    bench.endpoint.change_node_power_state(bench.context, top, states.POWER_OFF, None)
    row = bench.row(top)
    assert row.last_error is not None
    assert row.last_error.count("remove its parent_node") == 1


@pytest.mark.parametrize("error", [error for error in RAISED if error != "nothing"])
def test_of_reading_the_power(bench: Bench, expect: Expect, error: str, conf: Any) -> None:
    conf(conductor__power_state_sync_max_retries=1)
    bench.script.answers["get_power_state"] = raising(error)
    bench.store.conductors.register(HOST, "", ["fake-hardware"], [])
    uuid = bench.node("power", provision_state=states.ACTIVE, power_state=states.POWER_ON)
    sync = PowerSync(bench.tasks, HashRingManager(bench.store, heartbeat_timeout=60))
    sync()
    sync()
    expect(uuid)


@every_error
def test_of_bringing_the_power_back(bench: Bench, expect: Expect, error: str, conf: Any) -> None:
    conf(conductor__sync_power_state_agreeing_readings=1)
    bench.script.answers |= {"get_power_state": states.POWER_OFF, "set power on": raising(error)}
    bench.store.conductors.register(HOST, "", ["fake-hardware"], [])
    uuid = bench.node("power", provision_state=states.ACTIVE, power_state=states.POWER_ON)
    PowerSync(bench.tasks, HashRingManager(bench.store, heartbeat_timeout=60))()
    expect(uuid)


# Other work


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def managed(bench: Bench, notes: Notes) -> Bench:
    bench.store.conductors.register(HOST, "", ["managed"], [])
    composition: Any = Managed(notes)
    return Bench(bench.store, composition, Script())


def _managed(bench: Bench, **values: Any) -> str:
    return bench.store.nodes.create({"driver": "managed", "provision_state": "active", **values}).uuid


def console(uuid: str) -> Exception:
    return ConsoleSubprocessFailed(node=uuid, error=f"socat of node {uuid} can't be started")


MORE: dict[str, Made] = {
    **RAISED,
    "console": console,
    "no port": lambda uuid: NoFreePhysicalPorts(node=uuid, vif="v1"),
    "wrong port": lambda uuid: VifInvalidForAttach(node=uuid, vif="v1", reason=f"port p1 of node {uuid} is down"),
}
all_errors = pytest.mark.parametrize("error", MORE)


@all_errors
def test_of_opening_a_console(managed: Bench, notes: Notes, expect: Expect, error: str) -> None:
    uuid = _managed(managed)
    notes.errors["start_console"] = MORE[error](uuid)
    managed.endpoint.change_console(managed.context, uuid, True)
    expect(uuid, bench=managed)


@all_errors
def test_of_opening_a_console_again(managed: Bench, notes: Notes, expect: Expect, error: str) -> None:
    uuid = _managed(managed, console_enabled=True)
    notes.errors["start_console"] = MORE[error](uuid)
    ConsoleRestorer(managed.tasks, HashRingManager(managed.store, heartbeat_timeout=60))()
    expect(uuid, bench=managed)


def test_of_a_console_that_ends_again(managed: Bench, expect: Expect) -> None:
    uuid = _managed(managed, console_enabled=True)
    reopen = ConsoleRestorer(managed.tasks, HashRingManager(managed.store, heartbeat_timeout=60))
    reopen.ended(ConsoleEnd(uuid, "killed"))
    reopen.ended(ConsoleEnd(uuid, "killed again"))
    expect(uuid, bench=managed)


@few_errors
def test_of_setting_a_boot_mode(managed: Bench, notes: Notes, expect: Expect, error: str) -> None:
    uuid = _managed(managed)
    notes.errors["set_boot_mode"] = RAISED[error](uuid)
    managed.endpoint.change_boot_mode(managed.context, uuid, "uefi")
    expect(uuid, bench=managed)


def test_of_a_setting_that_does_not_take_effect(managed: Bench, expect: Expect) -> None:
    uuid = _managed(managed)
    with managed.tasks.acquire(managed.context, uuid, purpose="test") as task:
        end = StepFailed("the BMC has accepted secure_boot True, but does not report it")
        wait_ends.end_look(task, end)
    expect(uuid, bench=managed)


@all_errors
@pytest.mark.parametrize("call", ["attach", "detach"])
def test_of_virtual_interfaces(managed: Bench, notes: Notes, expect: Expect, call: str, error: str) -> None:
    uuid = _managed(managed)
    notes.errors |= {"vif_attach": MORE[error](uuid), "vif_detach": MORE[error](uuid)}
    try:
        if call == "attach":
            managed.endpoint.attach_vif(managed.context, uuid, {"id": "v1"})
        else:
            managed.endpoint.detach_vif(managed.context, uuid, "v1")
    except IronicError as raised:
        # As the API answers it, after its way over the message bus.
        there = message_format.error_of(message_format.json_copy(message_format.error_message(raised))["error"])
        shown = f"answer ({there.status}): {there}"
    except ValueError as raised:
        shown = f"answer: {raised}"
    expect(uuid, bench=managed, more=(shown,))
