"""Waits that the release before table node_waits has begun go on after the upgrade of its database."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ironic.conductor import former_waits
from ironic.conductor.flows import engine
from ironic.core.flows import node_waits, states
from ironic.core.flows.node_waits import Follows, decoded
from ironic.core.values.value_types import utc_now
from ironic.db import Store, connect, schema
from ironic.drivers.contract import awaited_setting
from ironic.drivers.contract.awaited_setting import AwaitedSetting
from ironic.drivers.modules.redfish.bios import BiosChange
from ironic.drivers.modules.redfish.orders.raid_volumes import RaidChange
from ironic.drivers.modules.redfish.orders.update_progress import UpdatesLeft
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.unit.conductor.flows.bench import HOST, Bench

MOMENT = datetime(2026, 11, 23, 4, 5, 18)
BEGAN = "2026-11-23T04:05:18.002631"
STEP = {"interface": "bios", "priority": 0, "step": "apply_configuration"}
IN_STEP = {
    "clean_steps": [STEP], "clean_step_index": 0, "clean_step_started_at": BEGAN, "steps_validated": True,
    "declarative_cleaning": True, "cleaning_polling": True,
}  # fmt: skip
RESTARTED = {"restarted_at": "2026-11-23T04:05:19.000000", "with_agent": False, "step_began": BEGAN}
WORDS = {"waiting_for": "the BMC to do it, until 2026-11-23 05:05:18 UTC"}
SOON, OVER = (utc_now() + timedelta(minutes=5)).isoformat(), "2026-11-23T04:06:00"


def setting(flow: str | None, **more: Any) -> dict[str, Any]:
    awaited = {"column": "secure_boot", "wanted": True, "until": SOON, "flow": flow, "power": "power on"}
    return {"awaited_setting": {**awaited, "in_step": False, **more}}


# What that release has stored: state, driver_internal_info, other columns.
FORMER: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "raid": (
        states.CLEANWAIT,
        {**IN_STEP, **WORDS, "raid_configs": {
            **RESTARTED, "operation": "create", "delete": [], "create": [], "made": 1, "kept": ["/v/1"],
            "controllers": ["A"], "tasks": ["/redfish/v1/TaskService/Tasks/1"],
        }},
        {"clean_step": STEP},
    ),
    "bios": (
        states.CLEANWAIT,
        {**IN_STEP, **WORDS, "redfish_bios_state": {
            **RESTARTED, "requested_bios_attrs": {"Turbo": "Off"}, "former_values_shown": True,
        }},
        {"clean_step": STEP},
    ),
    "firmware": (
        states.CLEANWAIT,
        {**IN_STEP, **WORDS, "redfish_fw_updates": {
            **RESTARTED, "updates": [{"component": "bios", "url": "http://a/b"}], "began_at": BEGAN, "phase": "task",
            "task": "/redfish/v1/TaskService/Tasks/1", "sent_at": BEGAN, "versions": {"bios": "1"},
        }},
        {"clean_step": STEP},
    ),
    "a nested setting": (
        states.CLEANWAIT,
        {
            **IN_STEP, **WORDS, **setting("clean", in_step=True),
            "redfish_bios_state": {**RESTARTED, "agent_later": True},
        },
        {"clean_step": STEP},
    ),
    "a setting": (states.DEPLOYWAIT, {**WORDS, **setting("deploy")}, {}),
    "a setting without a waiting state": (states.UNRESCUING, {**WORDS, **setting("unrescue")}, {}),
    "a request": (states.ACTIVE, {**WORDS, **setting(None)}, {}),
    "a shutdown": (
        states.ACTIVE,
        {"awaited_shutdown": {"target": "soft power off", "until": SOON}},
        {"power_state": "power on", "target_power_state": "power off"},
    ),
    "a pause": (
        states.CLEANWAIT,
        {
            "clean_steps": [{"interface": "deploy", "step": "wait", "args": {"seconds": 30}, "priority": 0}],
            "clean_step_index": 0, "clean_step_started_at": BEGAN, "steps_validated": True,
            "clean_step_waits_until": OVER,
        },
        {"clean_step": {"interface": "deploy", "step": "wait", "priority": 0}},
    ),
    "an inspection": (
        states.INSPECTWAIT, {"standalone_inspection": True}, {"inspection_started_at": MOMENT},
    ),
    "what an aborted step has left": (states.MANAGEABLE, {"raid_configs": {**RESTARTED, "operation": "delete"}}, {}),
    "what another run has left": (
        states.CLEANWAIT, {**IN_STEP, "raid_configs": {**RESTARTED, "step_began": OVER, "operation": "delete"}},
        {"clean_step": STEP},
    ),
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give the database of that release, upgraded."""
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    schema.upgrade(url, "r0005")
    before = connect(url)
    for number, (state, memory, more) in enumerate(FORMER.values()):
        columns = {
            "uuid": f"0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b{number:02}", "driver": "fake-hardware",
            "provision_state": state, "provision_updated_at": MOMENT,
            "driver_internal_info": memory, **more,
        }  # fmt: skip
        before.nodes.create(columns)
    before.close()
    schema.upgrade(url)
    store = connect(url)
    yield store
    store.close()


@pytest.fixture
def upgraded(bench: Bench) -> Bench:
    bench.store.conductors.register(HOST, "", ["fake-hardware"], [])
    (job,) = former_waits.jobs(bench.tasks, HashRingManager(bench.store, heartbeat_timeout=60))
    job.act()
    return bench


def rows_of(bench: Bench, name: str) -> list[node_waits.NodeWait]:
    (node,) = bench.store.nodes.find(uuid=f"0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b{list(FORMER).index(name):02}")
    found = bench.store.node_waits.of(node.id)
    assert node.reservation is None
    assert [wait.kind for wait in found] == node_waits.open_kinds(node)
    assert node.driver_internal_info.keys().isdisjoint(former_waits.KEYS)
    return found


@pytest.mark.parametrize(
    ("name", "interface", "memory"),
    [
        ("raid", "raid", RaidChange(
            operation="create", delete=[], create=[], made=1, kept=["/v/1"], controllers=["A"],
            tasks=["/redfish/v1/TaskService/Tasks/1"],
        )),
        ("bios", "bios", BiosChange(requested_bios_attrs={"Turbo": "Off"}, former_values_shown=True)),
        ("firmware", "firmware", UpdatesLeft(
            updates=[{"component": "bios", "url": "http://a/b"}], phase="task",
            task="/redfish/v1/TaskService/Tasks/1", versions={"bios": "1"},
        )),
    ],
)  # fmt: skip
def test_steps_at_the_bmc_go_on(upgraded: Bench, name: str, interface: str, memory: Any) -> None:
    (wait,) = rows_of(upgraded, name)
    assert (wait.interface, wait.follows, wait.run) == (interface, Follows.FLOW, f"clean {BEGAN}")
    assert (wait.words, f"{wait.until:%H:%M:%S}") == ("the BMC to do it", "05:05:18")
    found = decoded(type(memory), wait.memory)
    assert found.restarted_at is not None
    ignored = ("restarted_at", "began_at", "sent_at")
    assert {each: getattr(found, each) for each in memory.__slots__ if each not in ignored} == {
        each: getattr(memory, each) for each in memory.__slots__ if each not in ignored
    }


@pytest.mark.parametrize(
    ("name", "follows"),
    [
        ("a setting", Follows.WORK),
        ("a setting without a waiting state", Follows.WORK),
        ("a request", Follows.REQUEST),
    ],
)
def test_settings_go_on(upgraded: Bench, name: str, follows: Follows) -> None:
    (wait,) = rows_of(upgraded, name)
    assert (wait.kind, wait.interface, wait.follows) == (awaited_setting.KIND, "management", follows)
    assert decoded(AwaitedSetting, wait.memory) == AwaitedSetting(column="secure_boot", wanted=True, power="power on")
    assert wait.until is not None and wait.until.isoformat() == SOON


def test_a_nested_setting_is_the_inner_wait(upgraded: Bench) -> None:
    outer, inner = rows_of(upgraded, "a nested setting")
    assert (outer.kind, inner.kind, inner.follows) == ("redfish_bios_state", awaited_setting.KIND, Follows.STEP)


def test_a_shutdown_goes_on_and_ends(upgraded: Bench) -> None:
    (wait,) = rows_of(upgraded, "a shutdown")
    assert (wait.memory, wait.run) == ({"target": "soft power off"}, None)
    (node,) = upgraded.store.nodes.find(target_power_state="power off")
    upgraded.store.nodes.update(node.uuid, {"power_interface": "scripted"})
    upgraded.script.answers["get_power_state"] = "power off"
    upgraded.look()
    assert upgraded.row(node.uuid).power_state == "power off"
    assert rows_of(upgraded, "a shutdown") == []


def test_a_pause_ends(upgraded: Bench) -> None:
    (wait,) = rows_of(upgraded, "a pause")
    assert (wait.kind, wait.next_look.isoformat()) == (engine.PAUSE, OVER)
    upgraded.look()
    assert rows_of(upgraded, "a pause") == []


def test_an_inspection_by_the_standalone_inspector_goes_on(upgraded: Bench) -> None:
    (wait,) = rows_of(upgraded, "an inspection")
    assert (wait.kind, wait.interface, wait.run) == ("standalone_inspection", "inspect", "inspect")


@pytest.mark.parametrize("name", ["what an aborted step has left", "what another run has left"])
def test_what_is_over_is_forgotten(upgraded: Bench, name: str) -> None:
    assert rows_of(upgraded, name) == []


def test_what_is_odd_is_left_out_and_the_rest_goes_on(bench: Bench) -> None:
    node = bench.store.nodes.find(uuid=bench.node("power", provision_state=states.ACTIVE))[0]
    node.driver_internal_info = {
        "awaited_setting": "odd", "awaited_shutdown": {"target": "soft power off", "until": SOON}
    }  # fmt: skip
    node.target_power_state = "power off"
    former_waits.convert(node)
    assert node_waits.open_kinds(node) == ["awaited_shutdown"]


def test_a_second_look_finds_nothing(upgraded: Bench) -> None:
    assert upgraded.store.nodes.find(remembers_any=former_waits.KEYS) == []
