"""Rules of the standalone inspector in whole inspections: what they set, what they take back, what they leave."""

import json
from typing import Any

import pytest

from ironic.core.errors import InspectionRuleFailure
from ironic.db import NodeRecord, Store
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.rules import inspector_rules
from ironic.tests.unit.inspection.lab import HOST, MAC, inventory, new_node, post, serve, work_on

BIG = {"field": "memory_mb", "op": "ge", "value": 4096}
HAS_DISKS = {"field": "inventory.disks[*].size", "op": "gt", "value": 4}


@pytest.fixture
def node(store: Store) -> NodeRecord:
    return new_node(store)


def rule(store: Store, *actions: dict[str, Any], conditions: Any = (BIG,), **fields: Any) -> str:
    """Store a rule, which applies to machines with much memory."""
    document = {"conditions": list(conditions), "actions": list(actions), **fields}
    return str(inspector_rules.create(store, document)["uuid"])


def inspect(store: Store, node: NodeRecord, memory: int = 8192, **found: Any) -> NodeRecord:
    """Inspect a machine with this memory, and return the node as it is stored then."""
    task = work_on(store, node)
    try:
        Pipeline([]).run(task, inventory(MAC, memory={"physical_mb": memory}, **found))
    finally:
        store.nodes.release(task.node, HOST)
    return store.nodes.get(node.uuid)


SMALL = 1024


def change(store: Store, node: NodeRecord, **values: Any) -> None:
    """Change a node as an operator does."""
    assert store.nodes.update(node.id, values)


def shown(store: Store, node: NodeRecord) -> list[dict[str, Any]]:
    """Return the explanation of the last inspection."""
    run = store.rule_runs.of(node.id)
    assert run is not None and run.later is not None
    rules: list[dict[str, Any]] = json.loads(run.later)["rules"]
    return rules


def cleanups(store: Store, node: NodeRecord) -> list[tuple[bool, str | None]]:
    """Return the outcome of each cleanup of the last inspection."""
    return [(one["undone"], one.get("reason")) for entry in shown(store, node) for one in entry.get("cleanups", [])]


def setting(path: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"action": "set-attribute", "path": path, "value": value, **more}


def appending(value: Any, **more: Any) -> dict[str, Any]:
    return {"action": "append-attribute", "key": "/extra/matched", "value": value, **more}


CAPABILITY = {"action": "set-capability", "name": "much-memory", "value": "wow"}
TRAIT = {"action": "add-trait", "name": "CUSTOM_BIG"}


@pytest.mark.demand("S175", "S176", "S178", "S180", "S182", "S185")
def test_the_rule_of_the_blueprint_sets_and_takes_back(store: Store, node: NodeRecord) -> None:
    conditions = [
        {"field": "inventory.disk.*.size", "op": "gt", "value": 4},
        {"field": "inventory.network.*.ipv4", "op": "net", "value": "192.0.2.0/24"},
        BIG,
    ]
    rule(store, CAPABILITY, appending("much-memory"), conditions=conditions)
    found: dict[str, Any] = {
        "disk": {"sda": {"size": 1}, "sdb": {"size": "8"}},
        "network": {"eth0": {"ipv4": "192.0.2.7"}},
    }
    after = inspect(store, node, **found)
    assert after.properties == {"capabilities": "much-memory:wow"}
    assert after.extra == {"matched": ["much-memory"]}
    after = inspect(store, node, memory=SMALL, **found)
    assert after.properties["capabilities"] == ""
    assert after.extra == {"matched": []}
    assert store.rule_effects.of(node.id) == {}


@pytest.mark.demand("S181")
def test_all_cleanups_are_made_before_any_action(store: Store, node: NodeRecord) -> None:
    small = [{"field": "memory_mb", "op": "lt", "value": 4096}]
    rule(store, setting("/extra/size", "small"), setting("/extra/only", 1), conditions=small)
    rule(store, setting("/extra/size", "big"))
    post(store, actions=[{"op": "set-attribute", "args": ["/extra/seen", "{node.extra[size]}"]}])
    assert inspect(store, node).extra == {"size": "big", "seen": "big"}
    # The first rule acts only after the second, which stands behind it, has taken back its own.
    assert inspect(store, node, SMALL).extra == {"size": "small", "only": 1, "seen": "small"}
    assert inspect(store, node).extra == {"size": "big", "seen": "big"}
    assert cleanups(store, node) == [(True, None), (True, None)]


@pytest.mark.demand("S180")
def test_all_rules_are_checked_before_the_first_acts(store: Store, node: NodeRecord) -> None:
    rule(store, setting("/extra/first", True), conditions=[])
    rule(store, setting("/extra/second", True), conditions=[{"field": "node://extra.first", "op": "is-empty"}])
    assert inspect(store, node).extra == {"first": True, "second": True}
    assert inspect(store, node).extra == {"first": True}


@pytest.mark.demand("S180", "S184")
@pytest.mark.parametrize(
    ("action", "before", "left"),
    [
        (setting("/extra/a", 1), {}, {}),
        (setting("/extra/a", 1), {"b": 2}, {"b": 2}),
        (setting("/extra/a", 1), {"a": 5}, {}),
        (setting("/extra/a", 1, cleanup=0), {"a": 5}, {"a": 0}),
        (setting("/extra/a", 1, cleanup=None), {}, {"a": None}),
        (setting("/extra/a", None), {}, {}),
        ({"action": "set-attribute", "key": "/extra/a/b", "value": {"c": [1]}}, {}, {"a": {}}),
        # What was there already is not the rule's.
        (setting("/extra/a", 1), {"a": 1}, {"a": 1}),
        (setting("/extra/a", 1, cleanup=0), {"a": 1}, {"a": 1}),
    ],
)
def test_an_attribute_is_taken_back(store: Store, action: Any, before: Any, left: Any) -> None:
    node = new_node(store, extra=before)
    rule(store, action)
    inspect(store, node)
    inspect(store, node)
    assert inspect(store, node, SMALL).extra == left


@pytest.mark.demand("S180", "S184")
def test_what_an_operator_wrote_since_stays(store: Store, node: NodeRecord) -> None:
    rule(store, setting("/extra/a", 1), setting("/extra/b", 1, cleanup=0), setting("/description", "big"), CAPABILITY)
    rule(store, appending("x"), TRAIT)
    inspect(store, node)
    assert store.traits.of([node.id])[node.id] == ["CUSTOM_BIG"]
    properties = {"capabilities": "much-memory:a-little"}
    change(store, node, extra={"a": 2, "matched": ["y"]}, description="mine", properties=properties)
    store.traits.replace(node.id, ["CUSTOM_MINE"])
    after = inspect(store, node, SMALL)
    assert (after.extra, after.description) == ({"a": 2, "matched": ["y"]}, "mine")
    assert after.properties == properties
    assert store.traits.of([node.id])[node.id] == ["CUSTOM_MINE"]
    changed, removed = (False, "it was changed since"), (False, "it was removed since")
    assert cleanups(store, node) == [changed, removed, changed, changed, removed, removed]
    # It is decided once: the rule does not come back to it.
    change(store, node, extra={"a": 1})
    assert inspect(store, node, SMALL).extra == {"a": 1}


@pytest.mark.demand("S180")
def test_a_rule_that_still_applies_sets_its_value_again(store: Store, node: NodeRecord) -> None:
    rule(store, setting("/extra/a", 1), CAPABILITY, TRAIT)
    inspect(store, node)
    change(store, node, extra={"a": 2}, properties={"capabilities": "much-memory:no,mine:1"})
    store.traits.replace(node.id, [])
    after = inspect(store, node)
    assert (after.extra, after.properties) == ({"a": 1}, {"capabilities": "much-memory:wow,mine:1"})
    after = inspect(store, node, SMALL)
    assert (after.extra, after.properties) == ({}, {"capabilities": "mine:1"})
    assert store.traits.of([node.id])[node.id] == []


@pytest.mark.demand("S180", "S185")
def test_entries_of_two_rules_are_counted(store: Store, node: NodeRecord) -> None:
    rule(store, appending("x"))
    rule(store, appending("x"), conditions=[])
    for _ in range(3):
        assert inspect(store, node).extra == {"matched": ["x", "x"]}
    assert inspect(store, node, SMALL).extra == {"matched": ["x"]}
    assert inspect(store, node).extra == {"matched": ["x", "x"]}
    # An operator removes one of them: the rules put it back while they apply.
    change(store, node, extra={"matched": ["x", "mine"]})
    assert inspect(store, node).extra == {"matched": ["x", "mine", "x"]}
    assert inspect(store, node, SMALL).extra == {"matched": ["x", "mine"]}


@pytest.mark.demand("S180", "S185")
def test_a_unique_entry_passes_to_the_rule_that_still_applies(store: Store) -> None:
    node = new_node(store, extra={"matched": ["mine"]})
    rule(store, appending("x", unique=True), appending("mine", unique=True))
    rule(store, appending("x", unique=True), conditions=[])
    assert inspect(store, node).extra == {"matched": ["mine", "x"]}
    assert inspect(store, node, SMALL).extra == {"matched": ["mine", "x"]}
    inspector_rules.clear(store)
    assert inspect(store, node).extra == {"matched": ["mine"]}


@pytest.mark.demand("S180")
def test_two_rules_set_the_same_attribute(store: Store, node: NodeRecord) -> None:
    rule(store, setting("/extra/a", 1), conditions=[])
    rule(store, setting("/extra/a", 1))
    assert inspect(store, node).extra == {"a": 1}
    assert inspect(store, node, SMALL).extra == {"a": 1}
    rule(store, setting("/extra/a", 2))
    assert inspect(store, node).extra == {"a": 2}
    assert inspect(store, node, SMALL).extra == {"a": 1}


@pytest.mark.demand("S180")
def test_the_effects_of_a_deleted_rule_are_undone(store: Store, node: NodeRecord) -> None:
    kept = rule(store, setting("/extra/kept", 1))
    gone = rule(store, setting("/extra/a", 1), setting("/extra/b", 1, cleanup=0), appending("x"), CAPABILITY, TRAIT)
    inspect(store, node)
    inspector_rules.delete(store, gone)
    after = inspect(store, node)
    assert after.extra == {"kept": 1, "b": 0, "matched": []}
    assert store.traits.of([node.id])[node.id] == []
    entry = shown(store, node)[-1]
    assert (entry["uuid"], entry["deleted"], entry["applies"]) == (gone, True, False)
    assert all(one["undone"] for one in entry["cleanups"])
    assert list(store.rule_effects.of(node.id)) == [kept]
    assert store.rule_hits.of([gone])[gone].evaluated == 0
    # The last rule too.
    store.rules.clear()
    assert inspect(store, node).extra == {"b": 0, "matched": []}


@pytest.mark.demand("S174", "S180")
def test_a_replaced_rule_takes_back_what_it_does_not_want_any_more(store: Store, node: NodeRecord) -> None:
    uuid = rule(store, setting("/extra/a", 1), setting("/extra/b", 1), appending("x"))
    inspect(store, node)
    inspector_rules.replace(store, uuid, {"actions": [setting("/extra/a", 2), appending("y")]})
    assert inspect(store, node).extra == {"a": 2, "matched": ["y"]}
    inspector_rules.delete(store, uuid)
    assert inspect(store, node).extra == {"matched": []}


@pytest.mark.demand("S180")
def test_a_removed_trait_is_restored(store: Store, node: NodeRecord) -> None:
    store.traits.replace(node.id, ["CUSTOM_SMALL"])
    rule(store, {"action": "remove-trait", "name": "CUSTOM_SMALL"}, {"action": "remove-trait", "name": "CUSTOM_NONE"})
    for _ in range(2):
        inspect(store, node)
        assert store.traits.of([node.id])[node.id] == []
    inspect(store, node, SMALL)
    assert store.traits.of([node.id])[node.id] == ["CUSTOM_SMALL"]
    inspect(store, node)
    store.traits.replace(node.id, ["CUSTOM_SMALL"])
    inspect(store, node, SMALL)
    assert cleanups(store, node) == [(False, "it was added since")]


@pytest.mark.demand("S180")
def test_the_scope_of_a_node_decides_too(store: Store) -> None:
    node = new_node(store, properties={"inspection_scope": "rack"})
    rule(store, setting("/extra/a", 1), scope="rack")
    assert inspect(store, node).extra == {"a": 1}
    change(store, node, properties={"inspection_scope": "row"})
    assert inspect(store, node).extra == {}


def test_a_driver_gets_its_own_interfaces_unless_they_are_to_stay(store: Store) -> None:
    serve(store, "fake-hardware")
    serve(store, "redfish")
    for reset, interface in ((None, "fake"), (False, "fake")):
        node = new_node(store)
        uuid = rule(store, setting("/driver", "redfish", reset_interfaces=reset, cleanup="fake-hardware"))
        after = inspect(store, node)
        assert (after.driver, after.power_interface) == ("redfish", interface)
        assert (after.inspect_interface == "agent") == (reset is False)
        inspector_rules.delete(store, uuid)


def test_a_field_that_can_not_be_emptied_stays(store: Store, node: NodeRecord) -> None:
    serve(store, "fake-hardware")
    serve(store, "redfish")
    rule(store, setting("/driver", "redfish", reset_interfaces=False))
    assert inspect(store, node).driver == "redfish"
    assert inspect(store, node, SMALL).driver == "redfish"
    ((undone, reason),) = cleanups(store, node)
    assert not undone and "can't be removed" in str(reason)


@pytest.mark.demand("S183", "S188")
def test_a_rule_fails_the_inspection_on_a_benchmark(store: Store, node: NodeRecord) -> None:
    slow = {"field": "inventory.benchmark.cpu.*.score", "op": "lt", "value": 100.5, "multiple": "any"}
    uuid = rule(store, setting("/extra/a", 1), {"action": "fail", "message": "too {slow}"}, conditions=[slow])
    fast = {"cpu": {"0": {"score": "200"}, "1": {"score": 101}}}
    assert inspect(store, node, benchmark=fast).extra == {}
    with pytest.raises(InspectionRuleFailure) as failure:
        inspect(store, node, benchmark={"cpu": {"0": {"score": "99.5"}}})
    assert str(failure.value).startswith(f"Inspection rule {uuid} failed on node {node.uuid}: phase main, actions[1]")
    assert str(failure.value).endswith("too {slow}")
    after = store.nodes.get(node.uuid)
    assert (after.extra, after.maintenance, store.rule_effects.of(node.id)) == ({}, False, {})
    assert shown(store, node)[0]["error"].endswith("too {slow}")


@pytest.mark.demand("S183")
def test_a_rule_puts_the_node_in_maintenance_and_lets_it_go(store: Store, node: NodeRecord) -> None:
    few = {"field": "memory_mb", "op": "lt", "value": 4096}
    rule(store, setting("/extra/kept", 1), conditions=[])
    rule(store, {"action": "fail", "message": "few\nmemory", "maintenance": True}, conditions=[few])
    inspect(store, node)
    for _ in range(2):
        with pytest.raises(InspectionRuleFailure, match="few memory"):
            inspect(store, node, SMALL)
        after = store.nodes.get(node.uuid)
        assert (after.maintenance, after.maintenance_reason) == (True, "few memory")
        assert (after.extra, len(store.rule_effects.of(node.id))) == ({"kept": 1}, 2)
    after = inspect(store, node)
    assert (after.maintenance, after.maintenance_reason, after.extra) == (False, None, {"kept": 1})
    # Maintenance for another reason is that of an operator.
    change(store, node, maintenance=True, maintenance_reason="mine")
    with pytest.raises(InspectionRuleFailure):
        inspect(store, node, SMALL)
    assert inspect(store, node).maintenance_reason == "mine"


@pytest.mark.demand("S174")
def test_they_are_stored_only_with_the_inspection(store: Store, node: NodeRecord) -> None:
    rule(store, setting("/extra/a", 1))
    inspect(store, node)
    post(store, actions=[{"op": "fail", "args": ["later"]}])
    with pytest.raises(InspectionRuleFailure, match="later"):
        inspect(store, node, SMALL)
    assert store.nodes.get(node.uuid).extra == {"a": 1}
    assert len(store.rule_effects.of(node.id)) == 1


def test_what_a_rule_has_set_goes_with_the_node(store: Store, node: NodeRecord) -> None:
    rule(store, setting("/extra/a", 1))
    inspect(store, node)
    store.nodes.delete(node.id)
    assert store.rule_effects.of(node.id) == {}
