"""A converted rule does on every inventory what the original does, and the report says where it could differ."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.core.rules import AnyRule, Facts, Outcome, check_rule, evaluate
from ironic.core.rules.inspector import compile_rule, stored_form
from ironic.core.rules.inspector.conversion import CONVERTED, DIFFERENT, IMPOSSIBLE, Conversion, converted
from ironic.core.rules.paths import apply, copy
from ironic.tests.unit.core.rules.lab import NODE

DATA = Path(__file__).parents[4] / "data"
RULES = [(one["rule"], one["status"]) for one in yaml.safe_load((DATA / "inspector-rules.yaml").read_text())]
PAYLOADS = sorted(path for path in (DATA / "inventories").glob("*.json") if path.stem != "malformed")
CONVERTIBLE = [rule for rule, status in RULES if status != IMPOSSIBLE]


def outcome(rule: AnyRule, payload: Path) -> Outcome:
    data = json.loads(payload.read_bytes())
    node = copy(NODE) | {"driver_info": {}, "traits": ["CUSTOM_ARM"]}
    return evaluate([rule], Facts(data.pop("inventory", None) or {}, data, node))


def result(made: Outcome) -> Any:
    """Return what is left of a run: the node, or that it failed and why."""
    if made.failure is not None:
        return made.failure.text
    node = copy(NODE) | {"driver_info": {}, "traits": ["CUSTOM_ARM"]}
    apply(node, made.changes.node)
    return node


@pytest.mark.demand("S172")
@pytest.mark.parametrize(("rule", "status"), RULES, ids=lambda one: one["description"] if isinstance(one, dict) else "")
def test_the_report_says_how_far_a_rule_was_converted(rule: Any, status: str) -> None:
    before = copy(rule)
    made = converted(rule)
    assert rule == before
    assert made.status == status, made.remarks
    assert (made.remarks == []) == (status == CONVERTED)
    assert (made.uuid, made.description) == (rule.get("uuid"), rule["description"])
    if made.rule is not None:
        assert made.rule.get("uuid") == rule.get("uuid")


@pytest.mark.demand("S172")
@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda path: path.stem)
def test_it_does_what_the_original_does(payload: Path) -> None:
    for rule in CONVERTIBLE:
        before = outcome(compile_rule(stored_form(rule)), payload)
        after = outcome(check_rule(converted(rule).rule), payload)
        assert before.explanation[0]["applies"] == after.explanation[0]["applies"], rule["description"]
        assert result(before) == result(after), rule["description"]


def test_the_rules_apply_to_some_machines_and_not_to_others() -> None:
    # Else the test above would compare nothing with nothing.
    for rule in CONVERTIBLE:
        made = compile_rule(stored_form(rule))
        verdicts = {outcome(made, payload).explanation[0]["applies"] for payload in PAYLOADS}
        if rule["description"] in ("the blueprint", "maintenance", "a new driver"):
            continue
        if not any("node://" in one["field"] or "auto" in one["field"] for one in rule["conditions"]):
            assert verdicts == {True, False}, rule["description"]


EQUAL: dict[str, Any] = {"actions": [{"action": "fail", "message": "x"}]}


def remarks(conditions: Any = (), actions: Any = ({"action": "fail", "message": "x"},)) -> Conversion:
    return converted({"conditions": list(conditions), "actions": list(actions)})


@pytest.mark.parametrize(
    ("part", "remark"),
    [
        ({"field": "cpus", "op": "eq", "value": "8"}, "a number equals its text"),
        ({"field": "cpus", "op": "lt", "value": "8"}, "a value that is not text fails the inspection"),
        ({"field": "cpus", "op": "ne", "value": "x"}, "a field that is null counts as missing"),
        ({"field": "node://extra.a", "op": "eq", "value": "x"}, "the node is read as earlier rules have left it"),
        ({"field": "numa[*].x", "op": "eq", "value": "x"}, "the wildcard stands for the items of a list"),
        ({"field": "inventory.disks.*.x", "op": "is-empty"}, "without any item the condition does not hold"),
        ({"action": "set-attribute", "path": "/extra/a", "value": "{data[cpus]}"}, "the value keeps its type"),
        ({"action": "set-attribute", "path": "/extra/a", "value": 1, "cleanup": 2}, "cleaning up is dropped"),
        ({"action": "set-attribute", "path": "/driver", "value": "redfish"}, "supports are kept"),
        ({"action": "set-attribute", "path": "/extra/a/-", "value": 1}, "appended again in each inspection"),
        ({"action": "set-attribute", "path": "/driver_info/redfish_password", "value": "x"}, "made sensitive"),
    ],
)
def test_a_difference_is_named(part: Any, remark: str) -> None:
    made = remarks([part]) if "op" in part else remarks(actions=[part])
    assert made.status == DIFFERENT
    assert any(remark in one for one in made.remarks), made.remarks


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ([], "a rule must be an object"),
        ({"actions": []}, "actions must have at least one item"),
        ({"actions": [{"action": "rack"}]}, "actions[0].action: there is no action 'rack'"),
        (EQUAL | {"conditions": [{"field": "$", "op": "eq", "value": 1}]}, "the path $ is the whole document"),
        (EQUAL | {"conditions": [{"field": "a['b]c']", "op": "eq", "value": 1}]}, "the path has more than names"),
    ],
)
def test_the_reason_is_named(document: Any, reason: str) -> None:
    made = converted(document)
    assert (made.status, made.rule) == (IMPOSSIBLE, None)
    assert reason in made.remarks[0]
