"""What drivers of third parties call in a conductor beside power and flows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.conductor import utils
from ironic.core.errors import InvalidParameterValue, PowerStateFailure
from ironic.core.flows import states
from ironic.core.memory.agent_memory import AgentMemory, KnownAgent
from ironic.db import Store
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.agent import ramdisk_boot
from ironic.rpc.hash_ring import HashRingManager
from ironic.services import process_store
from ironic.tests.conftest import Setter
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.conductor.managed import NotedManagement, Notes
from ironic.tests.unit.drivers.machine import Work, work_on


class Management(NotedManagement):
    def set_boot_device(self, task: Any, device: str, persistent: bool = False) -> None:
        self.notes.note("set_boot_device", device, persistent)


class Machine:
    """Power and network of a machine whose network needs it on."""

    def __init__(self, state: str, *, needed: bool) -> None:
        self.state, self.needed, self.orders = state, needed, list[str]()

    def need_power_on(self, task: object) -> bool:
        return self.needed

    def get_power_state(self, task: object) -> str:
        return self.state

    def supports_power_sync(self, task: object) -> bool:
        return True

    def set_power_state(self, task: object, power_state: str, timeout: int | None = None) -> None:
        self.state = power_state
        self.orders.append(power_state)


def with_machine(state: str, *, needed: bool) -> tuple[Any, Machine]:
    task, machine = work_on(), Machine(state, needed=needed)
    task.driver = BareDriver({"power": machine, "network": machine})
    # A task of a conductor has more than its store.
    task.validated = lambda interface: interface  # type: ignore[attr-defined]
    return task, machine


@pytest.mark.parametrize(
    ("state", "info", "expected"),
    [
        ("available", {}, [("set_boot_device", "pxe", True)]),
        ("available", {"force_persistent_boot_device": "Never"}, [("set_boot_device", "pxe", False)]),
        ("adopting", {}, []),
    ],
)
def test_a_boot_device_is_set_as_the_node_requires(state: str, info: dict[str, Any], expected: list[Any]) -> None:
    notes = Notes()
    task: Any = work_on(provision_state=state, driver_info=info)
    task.driver = BareDriver({"management": Management(notes)})
    task.validated = lambda interface: interface
    utils.node_set_boot_device(task, "pxe", persistent=True)
    assert notes.calls == expected


def test_secure_boot_is_changed_and_kept() -> None:
    notes = Notes()
    task: Any = work_on()
    task.driver = BareDriver({"management": NotedManagement(notes)})
    utils.node_change_secure_boot(task, True)
    assert (notes.calls, task.node.saved["secure_boot"]) == ([("set_secure_boot_state", True)], True)


@pytest.mark.parametrize(
    ("state", "needed", "before", "orders"),
    [
        ("power off", True, "power off", ["power on", "power off"]),
        ("power on", True, "power on", []),
        ("power off", False, None, []),
    ],
)
def test_a_machine_whose_network_needs_power_gets_it_for_a_while(
    state: str, needed: bool, before: str | None, orders: list[str]
) -> None:
    task, machine = with_machine(state, needed=needed)
    assert utils.power_on_node_if_needed(task) == before
    utils.restore_power_state_if_needed(task, before)
    assert (machine.orders, machine.state) == (orders, state)


@pytest.mark.parametrize("state", ["error", None])
def test_a_machine_whose_power_is_not_known_gets_no_order_for_its_network(state: Any) -> None:
    task, machine = with_machine(state, needed=True)
    with pytest.raises(PowerStateFailure, match="nothing was ordered of node"):
        utils.power_on_node_if_needed(task)
    with pytest.raises(PowerStateFailure), ramdisk_boot.powered_for_network(task):
        pass
    assert not machine.orders


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    made = sqlite_store(tmp_path)
    found = process_store.Database(made, HashRingManager(made, heartbeat_timeout=60))
    monkeypatch.setattr(process_store, "_OF_PROCESS", [found])
    yield made
    made.close()


def test_a_line_of_history(store: Store, conf: Setter) -> None:
    node = store.nodes.create({"driver": "fake-hardware", "provision_state": "cleaning"})
    utils.node_history_record(node, event="it broke", event_type="cleaning", user="kim", error=True)
    conf(conductor__node_history=False)
    utils.node_history_record(node, event="unseen")
    columns = ("event", "event_type", "severity", "user")
    assert store.history.rows(columns, filters={"node_id": node.id}) == [("it broke", "cleaning", "ERROR", "kim")]
    assert node.last_error == "it broke"


def test_the_token_of_an_agent() -> None:
    task: Any = work_on()
    utils.add_secret_token(task.node)
    first = KnownAgent(task.node.driver_internal_info).token
    utils.add_secret_token(task.node, pregenerated=True)
    info = task.node.driver_internal_info
    assert first != KnownAgent(info).token and info["agent_secret_token_pregenerated"] is True
    AgentMemory(task.node).record({"callback_url": "http://192.0.2.7:9999"})
    utils.wipe_token_and_url(task)
    assert task.node.driver_internal_info.keys() & {"agent_secret_token", "agent_url"} == set()


def test_fast_track(conf: Setter) -> None:
    task: Any = work_on()
    assert not utils.is_fast_track(task) and not utils.fast_track_able(task)
    conf(deploy__fast_track=True)
    assert not utils.is_fast_track(task) and utils.fast_track_able(task)
    beaten: Work = work_on()
    AgentMemory(beaten.node).record({"callback_url": "http://192.0.2.7:9999"})
    assert utils.is_fast_track(beaten)  # type: ignore[arg-type]
    task.node.last_error = "it broke"
    assert not utils.fast_track_able(task)


def test_only_a_flow_with_steps_is_resumed() -> None:
    task: Any = work_on(provision_state=states.CLEANWAIT)
    with pytest.raises(InvalidParameterValue, match="waits in no operation inspect"):
        utils.notify_conductor_resume_operation(task, "inspect")
