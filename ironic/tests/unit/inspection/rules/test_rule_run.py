"""Rules at work on a stored node: chosen, applied, logged, refused."""

import logging
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import HardwareInspectionFailure, InspectionRuleFailure
from ironic.db import Store
from ironic.inspection.phases import PHASES
from ironic.inspection.rules import Inspection, RuleBook, rule_book, run_early
from ironic.inspection.staged_task import StagedTask
from ironic.tests.conftest import Setter
from ironic.tests.databases import counting_statements
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, Work, inventory, new_node, new_port, post, serve, work_on

FOUND = inventory(MAC, bmc_address="192.0.2.7")
INSTANCE = "9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10"


def act(op: str, *args: Any, **more: Any) -> dict[str, Any]:
    return {"op": op, "args": list(args), **more}


def run(
    task: Work, data: dict[str, Any] | None = None, *, book: RuleBook | None = None, phase: str = "main"
) -> StagedTask:
    """Run the stored rules on the task's node, and store what they did."""
    staged = StagedTask(task)
    Inspection(book or RuleBook(), staged).run(PHASES[phase], FOUND, {} if data is None else data)
    staged.commit()
    return staged


def test_it_changes_node_ports_traits_and_plugin_data(store: Store) -> None:
    node = new_node(store, extra={"a": 1}, properties={"capabilities": "x:1"})
    port = new_port(store, node)
    store.traits.replace(node.id, ["CUSTOM_OLD", "CUSTOM_STAYS"])
    actions = [
        act("set-attribute", "/extra/b", "{inventory[cpu][count]}"),
        act("set-attribute", "/description", "has {ports[0][address]}"),
        act("set-capability", "y", "{node.name}2"),
        act("add-trait", "CUSTOM_NEW"),
        act("remove-trait", "CUSTOM_OLD"),
        act("set-port-attribute", MAC, "/extra/seen", True),
        act("set-port-attribute", port.uuid, "/physical_network", "net"),
        act("set-plugin-data", "done", ["{port_groups}"]),
    ]
    post(store, actions=actions)
    data: dict[str, Any] = {}
    task = work_on(store, node)
    run(task, data)
    changed = store.nodes.get(node.uuid)
    assert changed.extra == {"a": 1, "b": 8}
    assert changed.description == f"has {MAC}"
    assert changed.properties == {"capabilities": "x:1,y:2"}
    assert store.traits.of([node.id])[node.id] == ["CUSTOM_NEW", "CUSTOM_STAYS"]
    assert (task.ports[0].extra, task.ports[0].physical_network) == ({"seen": True}, "net")
    assert data == {"done": [[]]}


@pytest.mark.demand("S149")
def test_it_leaves_masked_secrets_as_they_are(store: Store) -> None:
    node = new_node(store, driver_info={"redfish_password": "hunter2", "redfish_address": "old"})
    post(store, actions=[act("set-attribute", "/driver_info/redfish_address", "https://192.0.2.8")])
    run(work_on(store, node))
    expected = {"redfish_password": "hunter2", "redfish_address": "https://192.0.2.8"}
    assert store.nodes.get(node.uuid).driver_info == expected


@pytest.mark.demand("S168")
@pytest.mark.parametrize(
    ("masking", "sensitive", "seen"),
    [
        ("always", True, "******"),
        ("sensitive", True, "hunter2"),
        ("sensitive", False, "******"),
        ("never", False, "hunter2"),
    ],
)
def test_it_masks_by_the_option(conf: Setter, store: Store, masking: str, sensitive: bool, seen: str) -> None:
    conf(inspection_rules__mask_secrets=masking)
    node = new_node(store, driver_info={"redfish_password": "hunter2"})
    post(
        store,
        actions=[act("set-attribute", "/extra/seen", "{node.driver_info[redfish_password]}")],
        sensitive=sensitive,
    )
    run(work_on(store, node))
    assert store.nodes.get(node.uuid).extra == {"seen": seen}


@pytest.mark.demand("S169")
@pytest.mark.parametrize(
    ("interface", "supported", "runs"),
    [
        ("agent", None, True),
        ("inspector", None, True),
        ("redfish", None, False),
        ("fake-agent", None, False),
        ("redfish", ".*", True),
        (None, None, False),
    ],
)
def test_it_concerns_inspections_through_some_interfaces(
    conf: Setter, store: Store, interface: str | None, supported: str | None, runs: bool
) -> None:
    if supported is not None:
        conf(inspection_rules__supported_interfaces=supported)
    post(store, actions=[act("set-attribute", "/extra/ran", True)])
    node = new_node(store, inspect_interface=interface)
    run(work_on(store, node))
    assert store.nodes.get(node.uuid).extra == ({"ran": True} if runs else {})


@pytest.mark.demand("S124", "S167")
@pytest.mark.parametrize(
    ("scope", "default", "runs"),
    [("rack", None, ["all", "rack"]), (None, None, ["all"]), ("rack", "rack", ["all", "rack"]), (None, "rack", [])],
)
def test_it_runs_rules_of_the_nodes_scope(
    conf: Setter, store: Store, scope: str | None, default: str | None, runs: list[str]
) -> None:
    conf(inspection_rules__default_scope=default)
    for name, scope_of_rule in (("all", None), ("rack", "rack"), ("row", "row")):
        post(store, actions=[act("extend-attribute", "/extra/ran", name)], scope=scope_of_rule)
    node = new_node(store, properties={} if scope is None else {"inspection_scope": scope})
    run(work_on(store, node))
    assert store.nodes.get(node.uuid).extra.get("ran", []) == runs


@pytest.mark.demand("S114")
def test_it_runs_built_in_rules_too(store: Store, tmp_path: Path, task: Work) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("- {priority: -1, actions: [{op: extend-attribute, args: [/extra/ran, built-in]}]}")
    post(store, actions=[act("extend-attribute", "/extra/ran", "stored")])
    run(task, book=RuleBook(rule_book.load_built_in(str(path))))
    assert task.node.extra == {"ran": ["stored", "built-in"]}


def test_it_asks_for_rules_and_their_effects_and_nothing_else_when_none_runs(store: Store, task: Work) -> None:
    post(store, phase="early")
    with counting_statements(store) as seen:
        run(task)
    assert (seen.selects, seen.writes) == (2, 0)


@pytest.mark.demand("S144")
def test_it_fails_the_inspection(store: Store, task: Work) -> None:
    uuid = post(store, actions=[act("set-attribute", "/extra/x", 1), act("fail", "no {inventory[cpu][count]}")])
    with pytest.raises(InspectionRuleFailure) as failure:
        run(task)
    assert str(failure.value) == f"Inspection rule {uuid} failed on node {task.node.uuid}: phase main, actions[1]: no 8"
    assert task.node.extra == {}


@pytest.mark.demand("S120")
def test_it_says_little_when_a_sensitive_rule_fails(store: Store, task: Work, caplog: pytest.LogCaptureFixture) -> None:
    uuid = post(store, actions=[act("log", "pa$$w0rd", "error"), act("fail", "pa$$w0rd")], sensitive=True)
    with caplog.at_level(logging.DEBUG, "ironic"), pytest.raises(InspectionRuleFailure) as failure:
        run(task)
    failed = f"Inspection rule {uuid} failed on node {task.node.uuid}"
    assert str(failure.value) == f"{failed}: phase main, actions[1]: FailRequested (the rule is sensitive)"
    assert "pa$$w0rd" not in caplog.text


@pytest.mark.demand("S148")
def test_it_logs_what_rules_want_logged(store: Store, task: Work, caplog: pytest.LogCaptureFixture) -> None:
    uuid = post(store, actions=[act("log", "hello\n{node.uuid}", "warning")])
    with caplog.at_level(logging.DEBUG, "ironic"):
        run(task)
    (record,) = [record for record in caplog.records if uuid in record.getMessage()]
    assert record.levelno == logging.WARNING
    assert record.getMessage() == f"Inspection rule {uuid} on node {task.node.uuid}: hello {task.node.uuid}"


@pytest.mark.parametrize(
    ("flag", "value", "others"),
    [
        ("maintenance", False, {"maintenance_reason": None, "fault": None}),
        ("maintenance", True, {"maintenance_reason": "why", "fault": "power failure"}),
        ("retired", False, {"retired_reason": None}),
    ],
)
def test_it_clears_what_goes_with_a_flag(store: Store, flag: str, value: bool, others: dict[str, Any]) -> None:
    reasons = {"maintenance_reason": "why", "fault": "power failure", "retired_reason": "old"}
    node = new_node(store, maintenance=True, retired=True, **reasons)
    post(store, actions=[act("set-attribute", f"/{flag}", value)])
    run(work_on(store, node))
    changed = store.nodes.get(node.uuid)
    assert {name: getattr(changed, name) for name in others} == others


@pytest.mark.demand("S171")
def test_it_gives_a_new_driver_interfaces_that_go_with_it(store: Store) -> None:
    serve(store, "fake-hardware")
    serve(store, "redfish", "redfish")
    node = new_node(store)
    post(store, actions=[act("set-attribute", "/driver", "redfish")])
    run(work_on(store, node))
    changed = store.nodes.get(node.uuid)
    assert (changed.driver, changed.power_interface, changed.inspect_interface) == ("redfish", "redfish", "agent")


@pytest.mark.parametrize(
    ("actions", "part"),
    [
        ([act("set-attribute", "/driver", "nonsense")], "No live conductor serves driver nonsense"),
        ([act("set-attribute", "/power_interface", "nonsense")], "No power interface named nonsense is enabled"),
        ([act("set-attribute", "/power_interface", "redfish")], "power interface redfish is not supported"),
        ([act("set-attribute", "/name", "taken")], "name taken is already used"),
        ([act("set-attribute", "/instance_uuid", INSTANCE)], "Another node has the instance"),
        ([act("set-port-attribute", MAC, "/address", OTHER_MAC)], f"MAC address {OTHER_MAC} can't become a port"),
    ],
)
def test_it_refuses_what_can_not_be_and_stores_nothing(store: Store, actions: list[Any], part: str) -> None:
    serve(store, "fake-hardware")
    serve(store, "redfish", "redfish")
    other = new_node(store, name="taken", instance_uuid=INSTANCE)
    new_port(store, other, OTHER_MAC)
    node = new_node(store)
    new_port(store, node, MAC)
    post(store, actions=[act("set-attribute", "/extra/half", "done"), *actions])
    task = work_on(store, node)
    with pytest.raises(HardwareInspectionFailure) as failure:
        run(task)
    assert part in str(failure.value)
    stored = store.nodes.get(node.uuid)
    assert (stored.extra, stored.driver, stored.name) == ({}, "fake-hardware", None)


def test_it_fails_the_rule_that_writes_where_a_hidden_secret_leaves_no_room(store: Store) -> None:
    node = new_node(store, driver_info={"credentials": "plain text"})
    post(store, actions=[act("set-attribute", "/driver_info/credentials/user", "u")])
    with pytest.raises(InspectionRuleFailure, match=r"actions\[0\]: /driver_info/credentials/user can't be set"):
        run(work_on(store, node))


@pytest.mark.demand("S115", "S130")
def test_it_runs_early_rules_without_a_node(store: Store, conf: Setter) -> None:
    conf(inspection_rules__default_scope="rack")
    post(store, actions=[act("set-plugin-data", "bmc", "{inventory[bmc_address]}")], phase="early")
    post(store, actions=[act("set-plugin-data", "scoped", True)], phase="early", scope="rack")
    post(store, actions=[act("set-plugin-data", "main", True)])
    data: dict[str, Any] = {"there": 1}
    run_early(RuleBook().early(store), store, FOUND, data)
    assert data == {"there": 1, "bmc": "192.0.2.7"}
    post(store, actions=[act("fail", "unwanted")], phase="early", priority=5)
    with pytest.raises(InspectionRuleFailure, match=r"phase early, actions\[0\]: unwanted"):
        run_early(RuleBook().early(store), store, FOUND, data)
