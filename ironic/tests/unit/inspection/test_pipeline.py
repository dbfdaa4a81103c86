"""The whole way of reported data: hooks, rules, storage; and that a failure leaves nothing behind."""

import copy
import json
import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure, InspectionRuleFailure, TakenOver
from ironic.db import Store
from ironic.inspection.hooks.base import InspectionHook, NamedHook, hook_names, load_hooks
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.posted_data import posted_part
from ironic.tests.conftest import Setter
from ironic.tests.databases import counting_statements
from ironic.tests.effort import examples
from ironic.tests.unit.inspection.lab import (
    HOST,
    MAC,
    OTHER_MAC,
    Work,
    inventory,
    new_node,
    new_port,
    post,
    recorded,
    stored_found,
    work_on,
)


class Noting(InspectionHook):
    """Writes down when it is called."""

    def __init__(self, name: str, calls: list[str], fails: str = "", error: Exception | None = None) -> None:
        self.name, self.calls, self.fails = name, calls, fails
        self.error = error or HardwareInspectionFailure(error=f"{name} saw something")

    def preprocess(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        self._call("preprocess")

    def __call__(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        task.node.extra.setdefault("calls", []).append(self.name)
        task.node.save()
        self._call("main")

    def _call(self, phase: str) -> None:
        self.calls.append(f"{phase} {self.name}")
        if self.fails == phase:
            raise self.error


def default_pipeline() -> Pipeline:
    return Pipeline(load_hooks(hook_names(CONF.inspector.hooks)))


def hooks(*made: Noting) -> Pipeline:
    return Pipeline([NamedHook(hook.name, hook) for hook in made])


def split(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    payload = recorded(name)
    return payload.pop("inventory"), payload


@pytest.mark.demand("S116", "S117")
def test_it_goes_through_all_phases_in_their_order(store: Store, task: Work) -> None:
    class Marking(Noting):
        def preprocess(self, task: Any, inventory: Any, plugin_data: Any) -> None:
            super().preprocess(task, inventory, plugin_data)
            plugin_data[f"preprocessed_{self.name}"] = True

    calls: list[str] = []
    for phase in ("main", "preprocess", "early"):
        # What a rule sees of the calls so far shows when it ran; an early rule ran before the hooks.
        seen = ["{node.extra.calls}", "{plugin_data.preprocessed_a}", "{plugin_data.preprocessed_b}"]
        args = [phase, seen if phase != "early" else "ran"]
        post(store, phase=phase, actions=[{"op": "set-plugin-data", "args": args}])
    data: dict[str, Any] = {}
    hooks(Marking("a", calls), Marking("b", calls)).run(task, inventory(MAC), data)
    assert calls == ["preprocess a", "preprocess b", "main a", "main b"]
    assert data["preprocess"] == [None, True, True]
    assert data["main"] == [["a", "b"], True, True]
    assert "early" not in data
    assert store.nodes.get(task.node.uuid).extra == {"calls": ["a", "b"]}


def test_it_collects_what_all_hooks_find_before_it_fails(task: Work) -> None:
    calls: list[str] = []
    made = [Noting(name, calls, "preprocess" if name != "b" else "") for name in "abc"]
    with pytest.raises(HardwareInspectionFailure) as failure:
        hooks(*made).run(task, inventory(MAC))
    assert failure.value.facts["error"] == "hook a: a saw something; hook c: c saw something"
    assert calls == ["preprocess a", "preprocess b", "preprocess c"]


def test_it_stops_at_the_first_hook_that_fails(store: Store, task: Work) -> None:
    calls: list[str] = []
    with pytest.raises(HardwareInspectionFailure, match="hook b: b saw something"):
        hooks(Noting("a", calls), Noting("b", calls, "main"), Noting("c", calls)).run(task, inventory(MAC))
    assert calls[3:] == ["main a", "main b"]
    assert store.nodes.get(task.node.uuid).extra == {}


def test_it_names_a_hook_that_fails_as_it_should_not(task: Work, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "ironic"), pytest.raises(HardwareInspectionFailure) as failure:
        hooks(Noting("a", [], "main", KeyError("cpu"))).run(task, inventory(MAC))
    assert failure.value.facts["error"] == "hook a: unexpected KeyError: 'cpu'"
    assert "raised an unexpected error" in caplog.text


@pytest.mark.demand("S82")
def test_it_lets_no_hook_change_the_inventory(task: Work) -> None:
    class Vandal(Noting):
        def __call__(self, task: Any, inventory: Any, plugin_data: Any) -> None:
            inventory["cpu"]["count"] = 0

    with pytest.raises(HardwareInspectionFailure, match="hook vandal: The inventory is read-only"):
        hooks(Vandal("vandal", [])).run(task, found := inventory(MAC))
    assert found == inventory(MAC)


@pytest.mark.demand("S83", "S85", "S86", "S87", "S101")
def test_it_makes_a_node_of_what_a_machine_reported(store: Store, task: Work) -> None:
    found, data = split("bond-vlan")
    before = copy.deepcopy(found)
    default_pipeline().run(task, found, data)
    node = store.nodes.get(task.node.uuid)
    assert node.properties == {"cpu_arch": "x86_64"}
    assert {port.address: port.pxe_enabled for port in task.ports} == {
        "02:00:5e:10:00:01": True,
        "02:00:5e:10:00:12": False,
        "02:00:5e:10:00:13": False,
        "a4:bf:01:00:00:10": False,
    }
    assert task.ports[-1].extra["client-id"].startswith("ff:00")
    stored = stored_found(store, node)
    assert stored is not None
    assert stored[0] == before
    assert sorted(stored[1]) == [
        "all_interfaces",
        "bmc_address",
        "boot_interface",
        "configuration",
        "error",
        "macs",
        "root_disk",
        "valid_interfaces",
    ]


@pytest.mark.parametrize(
    ("add_ports", "expected"),
    [("pxe", ["02:00:5e:10:00:01"]), ("active", ["02:00:5e:10:00:01"]), ("disabled", [])],
)
def test_it_adds_the_ports_that_are_wanted(conf: Setter, task: Work, add_ports: str, expected: list[str]) -> None:
    conf(inspector__add_ports=add_ports)
    default_pipeline().run(task, *split("bond-vlan"))
    assert [port.address for port in task.ports] == expected


@pytest.mark.demand("S84")
def test_it_fails_with_what_the_ramdisk_reported(store: Store, task: Work) -> None:
    with pytest.raises(
        HardwareInspectionFailure, match="hook ramdisk-error: the ramdisk reported: collector extra-hardware"
    ):
        default_pipeline().run(task, *split("collector-error"))
    assert nothing_stored(store, task)


def test_it_keeps_no_logs_of_the_ramdisk(store: Store, task: Work) -> None:
    hooks().run(task, inventory(MAC), {"logs": "QUJD", "x": 1})
    assert stored_found(store, task.node) == (inventory(MAC), {"x": 1})


def test_it_keeps_the_newest_findings_only(store: Store, task: Work) -> None:
    for count in (1, 2):
        hooks().run(task, inventory(MAC, run=count))
    found = stored_found(store, task.node)
    assert found is not None
    assert found[0]["run"] == 2


def test_it_keeps_nothing_when_told_so(conf: Setter, store: Store, task: Work) -> None:
    conf(inventory__data_backend="none")
    default_pipeline().run(task, inventory(MAC))
    assert stored_found(store, task.node) is None
    assert [port.address for port in task.ports] == [MAC]


def nothing_stored(store: Store, task: Work) -> bool:
    """Return whether the node is as it was, in the store and in memory, so that no later save brings anything back."""
    node = store.nodes.get(task.node.uuid)
    traits = store.traits.of([node.id])[node.id]
    untouched = not (node.properties or node.extra or traits or task.node.changes())
    return untouched and stored_found(store, node) is None and not store.ports.find(node_id=node.id)


@pytest.mark.demand("S144")
def test_it_stores_nothing_when_a_rule_fails(store: Store, task: Work) -> None:
    actions = [
        {"op": "set-attribute", "args": ["/extra/x", 1]},
        {"op": "add-trait", "args": ["CUSTOM_X"]},
        {"op": "set-port-attribute", "args": [MAC, "/extra/x", 1]},
        {"op": "fail", "args": ["not this one"]},
    ]
    post(store, actions=actions)
    with pytest.raises(InspectionRuleFailure, match="not this one"):
        default_pipeline().run(task, inventory(MAC, OTHER_MAC))
    assert nothing_stored(store, task)


@pytest.mark.demand("S119", "S120", "S168")
@pytest.mark.parametrize(("masking", "sensitive"), [("always", False), ("always", True), ("sensitive", True)])
def test_it_leaks_no_secret_to_log_failure_or_node(
    conf: Setter, store: Store, caplog: pytest.LogCaptureFixture, masking: str, sensitive: bool
) -> None:
    conf(inspection_rules__mask_secrets=masking)
    secrets = {key: f"canary-{key}" for key in ("password", "auth_token", "bmc_password", "snmp_auth_key", "secret")}
    snoop = "{node}{inventory}{plugin_data}{ports}"
    actions = [{"op": "log", "args": [snoop, "error"]}, {"op": "fail", "args": [snoop]}]
    post(store, actions=actions, conditions=[{"op": "!is-none", "args": ["{node}"]}], sensitive=sensitive)
    node = new_node(store, driver_info=secrets, extra={"deep": [secrets]})
    new_port(store, node, MAC, extra=secrets)
    task = work_on(store, node)
    with caplog.at_level(logging.DEBUG), pytest.raises(InspectionRuleFailure) as failure:
        default_pipeline().run(task, inventory(MAC, bmc=secrets), {"collected": [secrets]})
    assert "canary" not in caplog.text
    assert "canary" not in str(failure.value)
    assert "canary" not in str(store.nodes.get(node.uuid).last_error)
    assert ("******" in str(failure.value)) is not sensitive


def test_a_card_that_another_node_has_does_not_fail_the_inspection(store: Store, task: Work) -> None:
    new_port(store, new_node(store), OTHER_MAC)
    default_pipeline().run(task, inventory(MAC, OTHER_MAC))
    assert [port.address for port in store.ports.find(node_id=task.node.id)] == [MAC]
    assert not nothing_stored(store, task)


@pytest.mark.demand("S82")
def test_it_keeps_what_the_preprocess_phase_has_stored(store: Store, task: Work) -> None:
    post(store, phase="preprocess", actions=[{"op": "set-attribute", "args": ["/description", "seen"]}])
    with pytest.raises(HardwareInspectionFailure):
        hooks(Noting("a", [], "main")).run(task, inventory(MAC))
    node = store.nodes.get(task.node.uuid)
    assert (node.description, node.extra) == ("seen", {})


def test_it_writes_nothing_once_another_conductor_has_the_node(store: Store, task: Work) -> None:
    store.nodes.release(task.node.id, HOST)
    store.nodes.reserve(task.node.uuid, "conductor-2")
    with pytest.raises(TakenOver):
        default_pipeline().run(task, inventory(MAC))
    assert store.ports.find(node_id=task.node.id) == []


def test_it_shows_new_ports_to_rules(store: Store, task: Work) -> None:
    post(
        store,
        actions=[{"op": "set-port-attribute", "args": ["{item}", "/extra/rule", 1], "loop": "{plugin_data[macs]}"}],
    )
    default_pipeline().run(task, inventory(MAC, OTHER_MAC))
    assert [port.extra for port in task.ports] == [{"rule": 1}, {"rule": 1}]


@pytest.mark.parametrize("number_of_rules", [0, 20])
def test_it_keeps_to_its_budget_of_statements(store: Store, number_of_rules: int) -> None:
    for number in range(number_of_rules):
        post(store, actions=[{"op": "set-attribute", "args": [f"/extra/rule{number}", "{inventory[cpu][count]}"]}])
    node = new_node(store)
    new_port(store, node, MAC)
    task = work_on(store, node)
    pipeline = default_pipeline()
    with counting_statements(store) as seen:
        pipeline.run(task, inventory(MAC, booted=MAC))
    # Rules, ports; with rules to run traits and port groups as well. One transaction: node, inventory, the report that
    # was refused before, and of rules that run for the first time which are new, their counters made and counted, and
    # the record of what they did.
    most = (6, 7, 1) if number_of_rules else (3, 3, 1)
    assert all(one <= limit for one, limit in zip(seen.counts, most, strict=True)), seen.texts


def test_it_loads_all_hooks_that_are_built(store: Store, task: Work) -> None:
    pipeline = Pipeline(load_hooks(["ramdisk-error", "validate-interfaces", "ports", "memory", "cpus", "boot-mode"]))
    pipeline.run(task, inventory(MAC, memory={"physical_mb": 1024}))
    properties = {"memory_mb": 1024, "cpus": 8, "capabilities": "boot_mode:uefi"}
    assert store.nodes.get(task.node.uuid).properties == properties


LEAVES = st.none() | st.booleans() | st.integers(-5, 2**40) | st.text(max_size=5) | st.sampled_from([MAC, "lo", "::1"])
JUNK = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
)


def spoilt(data: Any, draw: Any) -> Any:
    """Return the data with some of their parts replaced, left out or added to."""
    kind = draw(st.integers(0, 19))
    if kind == 0:
        return draw(JUNK)
    if isinstance(data, dict):
        kept = {key: spoilt(value, draw) for key, value in data.items() if draw(st.integers(0, 19))}
        return kept | ({"extra": draw(JUNK)} if kind == 1 else {})
    if isinstance(data, list):
        return [spoilt(value, draw) for value in data] + ([draw(JUNK)] if kind == 1 else [])
    return data


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_it_ends_well_or_with_a_clear_failure_whatever_is_reported(
    store: Store, caplog: pytest.LogCaptureFixture, data: st.DataObject
) -> None:
    payload = spoilt(recorded("ipv6-only-bmc"), data.draw)
    found = payload.get("inventory") if isinstance(payload, dict) else None
    node = new_node(store)
    task = work_on(store, node)
    plugin_data = {key: value for key, value in payload.items() if key != "inventory"} if found else {}
    caplog.clear()
    try:
        default_pipeline().run(task, found if isinstance(found, dict) else {}, plugin_data)
    except HardwareInspectionFailure as failure:
        assert nothing_stored(store, task)
        assert "unexpected" not in str(failure)
    else:
        assert store.nodes.get(node.uuid).properties["cpu_arch"]
    finally:
        store.nodes.delete(node.uuid)
    assert not [record for record in caplog.records if record.exc_info]


FAIL: dict[str, Any] = {"actions": [{"op": "fail", "args": ["no"]}]}


@pytest.mark.parametrize("backend", ["database", "swift", "none"])
def test_it_keeps_the_report_that_was_refused_until_one_succeeds(
    store: Store, task: Work, conf: Setter, backend: str
) -> None:
    """It has a place of its own: hooks compare with the last good one, and users see that one."""
    conf(inventory__data_backend=backend if backend != "swift" else "database")
    default_pipeline().run(task, inventory(MAC), {"seen": 1, "logs": "x"})
    good = stored_found(store, task.node)
    conf(inventory__data_backend=backend)
    rule = post(store, **FAIL)
    with pytest.raises(InspectionRuleFailure):
        default_pipeline().run(task, inventory(MAC, booted=MAC), {"seen": 2, "logs": "x"})
    assert stored_found(store, task.node) == good
    refused = store.refused_reports.texts(task.node.id)
    if backend == "none":
        assert refused is None
        return
    assert refused is not None
    found, data = (json.loads(text) for text in refused)
    assert found == inventory(MAC, booted=MAC)
    assert posted_part(data) == {"seen": 2}
    assert data["macs"] == [MAC]
    store.rules.delete(rule)
    conf(inventory__data_backend="database")
    default_pipeline().run(task, inventory(MAC), {})
    assert store.refused_reports.texts(task.node.id) is None


def test_it_keeps_no_refused_report_that_is_too_large(
    store: Store, task: Work, conf: Setter, caplog: pytest.LogCaptureFixture
) -> None:
    conf(inventory__size_limit=2)
    post(store, **FAIL)
    with caplog.at_level(logging.WARNING, "ironic"), pytest.raises(InspectionRuleFailure):
        default_pipeline().run(task, inventory(MAC), {"dmi": "x" * 4096})
    assert store.refused_reports.texts(task.node.id) is None
    assert "is not kept for dry runs" in caplog.text


def test_a_conductor_that_lost_the_node_keeps_no_report(store: Store, task: Work) -> None:
    with pytest.raises(TakenOver):
        hooks(Noting("a", [], "main", TakenOver(node=task.node.uuid, host=HOST))).run(task, inventory(MAC))
    assert store.refused_reports.texts(task.node.id) is None
