"""Conditions of the standalone inspector on one machine: operators, conversions, multiple values, inversion."""

import json
import re
from typing import Any

import pytest

from ironic.core.rules import Facts, Outcome, evaluate
from ironic.core.rules.inspector import compile_rule, stored_form
from ironic.tests.repository import ROOT
from ironic.tests.unit.core.rules.lab import facts

SEEN = {"action": "set-attribute", "path": "/extra/applied", "value": True}


def run(*conditions: dict[str, Any], known: Facts | None = None, actions: Any = (SEEN,)) -> Outcome:
    """Return what a rule comes to on the machine."""
    document = {"conditions": list(conditions), "actions": list(actions)}
    return evaluate([compile_rule(stored_form(document))], known or facts())


def holds(value: Any, op: str, reference: Any = None, **more: Any) -> bool:
    """Return whether a condition holds for values of a field."""
    given = {} if reference is None else {"value": reference}
    outcome = run({"field": "x[*]", "op": op, **given, **more}, known=facts(plugin_data={"x": value}))
    assert outcome.failure is None, outcome.failure
    return bool(outcome.changes)


@pytest.mark.demand("S178", "S179")
@pytest.mark.parametrize(
    ("value", "op", "reference", "verdict"),
    [
        (8, "eq", 8, True),
        ("8", "eq", 8, True),
        (" 8 ", "eq", 8, True),
        (8.9, "eq", 8, True),
        ("8", "eq", "8", True),
        (8, "eq", "8", False),
        ("8.5", "eq", 8.5, True),
        ("8", "eq", 8.0, True),
        ("1e3", "ge", 1000.0, True),
        ("8.5", "eq", 8, False),
        ("8.5", "ne", 8, False),
        ("x", "lt", 8, False),
        ("x", "ne", 8, False),
        ("x", "ne", "y", True),
        ("inf", "gt", 8.0, False),
        ("nan", "ne", 8.0, False),
        ("9" * 200, "gt", 8, False),
        (None, "eq", 8, False),
        (None, "lt", "x", False),
        ([1], "eq", 8, False),
        ([1], "eq", [1], True),
        (True, "eq", True, True),
        ("b", "gt", "a", True),
        ("b", "le", "a", False),
        (8, "lt", 9, True),
        (9, "lt", 9, False),
        (9, "le", 9, True),
        (9, "ge", 9, True),
        (9, "gt", 9, False),
        (9, "ne", 9, False),
        ("192.0.2.7", "in-net", "192.0.2.0/24", True),
        ("192.0.2.7", "net", "192.0.2.0/24", True),
        ("198.51.100.1", "net", "192.0.2.0/24", False),
        ("2001:db8::1", "in-net", "2001:db8::/64", True),
        ("somewhere", "in-net", "192.0.2.0/24", False),
        (None, "in-net", "192.0.2.0/24", False),
        ("PowerEdge R750", "matches", "PowerEdge R7[0-9]+", True),
        ("PowerEdge R750xa", "matches", "PowerEdge R7[0-9]+", False),
        ("a PowerEdge", "contains", "Power", True),
        (None, "contains", "None", False),
        (8, "matches", "8", True),
        ("", "is-empty", None, True),
        ([], "is-empty", None, True),
        ({}, "is-empty", None, True),
        (None, "is-empty", None, True),
        (0, "is-empty", None, False),
        (False, "is-empty", None, False),
    ],
)
def test_an_operator(value: Any, op: str, reference: Any, verdict: bool) -> None:
    assert holds([value], op, reference) is verdict


@pytest.mark.demand("S177")
@pytest.mark.parametrize(
    ("values", "multiple", "verdict", "inverted"),
    [
        ([8, 8], "any", True, False),
        ([8, 4], "any", True, True),
        ([4, 8], "any", True, True),
        ([4, 4], "any", False, True),
        ([8, 8], "all", True, False),
        ([8, 4], "all", False, False),
        ([4, 4], "all", False, True),
        ([8, 4], "first", True, False),
        ([4, 8], "first", False, True),
        # A missing field, and one that can't be converted, fail in any case.
        ([], "any", False, False),
        ([], "all", False, False),
        ([], "first", False, False),
        (["x"], "all", False, False),
    ],
)
def test_several_values(values: list[Any], multiple: str, verdict: bool, inverted: bool) -> None:
    assert holds(values, "eq", 8, multiple=multiple) is verdict
    assert holds(values, "eq", 8, multiple=multiple, invert=True) is inverted


@pytest.mark.demand("S178")
def test_only_is_empty_judges_a_missing_field() -> None:
    assert holds([], "is-empty") is True
    assert holds([], "is-empty", invert=True) is False


@pytest.mark.demand("S176")
def test_all_conditions_must_hold() -> None:
    right, wrong = {"field": "cpus", "op": "eq", "value": 8}, {"field": "cpus", "op": "eq", "value": 9}
    assert run(right, right).changes
    outcome = run(right, wrong, right)
    assert not outcome.changes
    assert [one["verdict"] for one in outcome.explanation[0]["conditions"]] == [True, False]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cpus", 8),
        ("data://cpu_arch", "x86_64"),
        ("ipmi_address", "192.0.2.7"),
        ("inventory.interfaces[1].name", "eth1"),
        ("node://name", "rack-1"),
        ("node://traits[0]", "CUSTOM_OLD"),
        ("auto_discovered", True),
        ("nested.a.b", 1),
        # Secrets are masked for rules.
        ("node://driver_info.redfish_password", "******"),
    ],
)
def test_a_field_is_in_the_data_or_in_the_node(field: str, value: Any) -> None:
    assert run({"field": field, "op": "eq", "value": value}).changes


def test_the_derived_names_give_way_to_reported_ones() -> None:
    data = {"cpus": 99, "valid_interfaces": {"eth0": {"ip": "192.0.2.1"}}}
    assert run({"field": "cpus", "op": "eq", "value": 99}, known=facts(plugin_data=data)).changes
    found = {"field": "interfaces.eth0.ip", "op": "in-net", "value": "192.0.2.0/24"}
    assert run(found, known=facts(plugin_data=data)).changes


def text(value: Any, **known: Any) -> Any:
    """Return what the text of an action becomes."""
    action = {"action": "set-attribute", "path": "/extra/made", "value": value}
    outcome = run(actions=[action], known=facts(**known))
    assert outcome.failure is None, outcome.failure
    return outcome.changes.node[-1]["value"]


@pytest.mark.demand("S184")
@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("{data[cpus]}", "8"),
        ("has {data[cpus]} of {data[inventory][interfaces][1][name]}", "has 8 of eth1"),
        ("{data[inventory][interfaces][0][has_carrier]}", "True"),
        ("{data[seen]}", "['x']"),
        ({"a": ["{data[cpus]}", 1], "{data[cpus]}": None}, {"a": ["8", 1], "{data[cpus]}": None}),
        ("{{data[cpus]}} {{data.cpus}}", "{data[cpus]} {data.cpus}"),
        (8, 8),
    ],
)
def test_a_text_is_filled_in(value: Any, made: Any) -> None:
    assert text(value) == made


@pytest.mark.parametrize("value", ["{data[no]}", "{data[inventory][interfaces][7]}", "{data[cpus][x]}"])
def test_a_missing_key_fails_the_rule(value: str) -> None:
    outcome = run(actions=[SEEN, {"action": "set-capability", "name": "a", "value": value}])
    assert "phase main, actions[1]: the inspection data have no data[" in str(outcome.failure)


def test_a_text_has_a_limit() -> None:
    long = {"long": "x" * 60_000, "deep": [["y"] * 1000] * 1000}
    for value in ("{data[long]}{data[long]}", "{data[deep]}"):
        outcome = run(actions=[SEEN | {"value": value}], known=facts(plugin_data=long))
        assert "longer than 65536 characters" in str(outcome.failure)


@pytest.mark.demand("S180")
def test_what_a_machine_reported_gets_nowhere_where_it_must_not() -> None:
    for path in ("/owner", "/driver", "/properties/inspection_scope"):
        outcome = run(actions=[{"action": "set-attribute", "path": path, "value": "{data[cpu_arch]}"}])
        assert "can't be set to what a machine reported" in str(outcome.failure)
    address = {"action": "set-attribute", "path": "/driver_info/redfish_address", "value": "https://{data[cpu_arch]}"}
    assert "to another address" in str(run(actions=[address]).failure)


@pytest.mark.parametrize(
    ("conditions", "place"),
    [
        ([{"field": "$..*..*..*", "op": "eq", "value": 1}], "conditions[0]: the JSON path $..*..*..* would visit"),
        ([{"field": "$..*", "op": "is-empty", "invert": True}] * 1000, "the rules of one"),
        ([{"field": "long", "op": "contains", "value": "(a|b|c|d){200}x"}], "conditions[0]: operator contains would"),
        ([{"field": "wide", "op": "eq", "value": [1]}], "conditions[0]: operator eq would need more than"),
    ],
)
def test_no_rule_makes_an_inspection_slow(conditions: list[Any], place: str) -> None:
    data = {"wide": [[number] for number in range(25_000)], "long": "ab" * 100_000}
    if "$" in conditions[0]["field"]:
        data = {"wide": [[number] for number in range(5_000)]}
    outcome = run(*conditions, known=facts(plugin_data=data))
    assert outcome.failure is not None and outcome.failure.kind == "TooMuchWork"
    assert place in str(outcome.failure)


def test_entries_of_a_long_list_are_paid() -> None:
    value = {"a": ["b"] * 1000}
    node = facts().node
    assert node is not None
    known = facts(node={**node, "extra": {"l": [value] * 1000}})
    action = {"action": "append-attribute", "path": "/extra/l", "value": value}
    assert run(actions=[action] * 10, known=known).failure is not None


def test_the_example_of_the_page_runs() -> None:
    page = (ROOT / "doc" / "inspector-rules.md").read_text()
    (example,) = (json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    (entry,) = evaluate([compile_rule(stored_form(example))], facts()).explanation
    assert (entry["applies"], entry["conditions"][0]["verdict"]) == (False, False)
    row = {"name": "eth0", "ipv4_address": "198.51.100.7"}
    known = facts(inventory={"interfaces": [row], "hostname": "ramdisk-7"})
    (entry,) = evaluate([compile_rule(stored_form(example))], known).explanation
    assert entry["changes"]["node"] == [
        {"op": "add", "path": "/properties/capabilities", "value": "boot_mode:uefi,cpu_vt:true,row:7"},
        {"op": "add", "path": "/extra/seen_by", "value": ["ramdisk-7"]},
    ]
