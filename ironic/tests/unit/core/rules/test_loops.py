"""Loops of conditions and actions."""

from itertools import product
from typing import Any

import pytest

from ironic.tests.unit.core.rules.lab import act, facts, holds, rule, run, why

JOINED = {
    "any": any,
    "all": all,
    "first": lambda verdicts: verdicts[0] if verdicts else False,
    "last": lambda verdicts: verdicts[-1] if verdicts else False,
}


@pytest.mark.demand("S128")
@pytest.mark.parametrize("items", [list(items) for size in range(4) for items in product([True, False], repeat=size)])
@pytest.mark.parametrize("multiple", JOINED)
@pytest.mark.parametrize("op", ["is-true", "!is-true"])
def test_it_joins_the_verdicts_of_all_items(op: str, multiple: str, items: list[bool]) -> None:
    verdicts = [item != op.startswith("!") for item in items]
    assert holds(op, ["{item}"], loop=items, multiple=multiple) is JOINED[multiple](verdicts)


@pytest.mark.demand("S128")
def test_it_is_content_with_any_unless_told_otherwise() -> None:
    assert holds("is-true", ["{item}"], loop=[False, True])


@pytest.mark.demand("S128", "S132")
@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("{inventory[interfaces]}", True),
        ("{inventory[nothing]}", False),
        ([{"has_carrier": "{inventory[interfaces][0][has_carrier]}"}], True),
        ({"has_carrier": True}, True),
        ({"has_carrier": False}, False),
        ("{inventory[interfaces][1]}", False),
        ([], False),
    ],
)
def test_it_loops_over_lists_objects_and_expressions(loop: Any, expected: bool) -> None:
    assert holds("is-true", ["{item[has_carrier]}"], loop=loop) is expected


def test_it_looks_at_just_one_item_when_one_counts() -> None:
    # The other item can't be compared: looking at it would fail the inspection.
    assert holds("lt", ["{item}", 5], loop=[1, "x"], multiple="first")
    assert holds("lt", ["{item}", 5], loop=["x", 1], multiple="last")
    assert holds("lt", ["{item}", 5], loop=[1, "x"], multiple="any")
    assert not holds("gt", ["{item}", 5], loop=[1, "x"], multiple="all")


@pytest.mark.demand("S127")
def test_it_runs_an_action_once_per_item() -> None:
    outcome = act("extend-attribute", {"path": "/extra/list", "value": "{item}"}, loop=["one", "two"])
    assert [change["value"] for change in outcome.changes.node] == ["one", "two"]


@pytest.mark.demand("S127", "S132")
def test_it_runs_an_action_over_what_an_expression_yields() -> None:
    outcome = act(
        "set-plugin-data", ["/by_mac/{item[mac_address]}", "{item[has_carrier]}"], loop="{inventory[interfaces]}"
    )
    assert [(change["path"], change["value"]) for change in outcome.changes.plugin_data] == [
        ("/by_mac", {}),
        ("/by_mac/52:54:00:00:00:01", True),
        ("/by_mac/52:54:00:00:00:02", False),
    ]


def test_it_runs_an_action_once_for_an_object_and_never_for_nothing() -> None:
    assert len(act("log", ["{item[a]}"], loop={"a": 1}).log) == 1
    assert act("log", ["{item}"], loop="{plugin_data[gone]}").log == []
    assert act("log", ["{item}"], loop=[]).log == []


@pytest.mark.parametrize("expression", ["{node.name}", "{inventory[cpu][count]}"])
def test_it_fails_when_there_is_nothing_to_loop_over(expression: str) -> None:
    assert "neither a list nor an object" in why(act("log", ["x"], loop=expression))
    condition = {"op": "is-true", "args": ["x"], "loop": expression}
    assert "conditions[0]: the loop is neither" in why(run(rule(conditions=[condition])))


def test_it_sees_what_the_same_loop_has_changed() -> None:
    outcome = act("set-plugin-data", ["last", "{plugin_data[last]}{item}"], loop=["a", "b"])
    assert outcome.changes.plugin_data[-1]["value"] == "ab"


def test_it_stops_loops_that_multiply() -> None:
    grow = {"op": "extend-plugin-data", "args": ["grow", "{plugin_data[grow]}"], "loop": "{plugin_data[grow]}"}
    known = facts(plugin_data={"grow": [1, 2, 3]})
    outcome = run(*[rule([grow]) for _ in range(40)], known=known)
    assert "steps that all of them may take together" in why(outcome) or "nested more than" in why(outcome)
