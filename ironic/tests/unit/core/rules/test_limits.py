"""Rules do a bounded amount of work, counted and not timed."""

from typing import Any

import pytest

from ironic.core.rules import Facts, check_rule, evaluate
from ironic.core.rules.limits import (
    DEPTH,
    ITEMS_SHOWN,
    JUDGING,
    LOG_LENGTH,
    LOGGING,
    Budget,
    TooMuchWork,
    copied,
    weight,
)
from ironic.tests.unit.core.rules.lab import RULE, facts, rule, run, why


def test_it_counts_elements_and_long_text() -> None:
    budget = Budget(100)
    copied({"a": [1, 2, {"b": "x" * 512}]}, budget)
    assert budget.left == 100 - 2 - 4 - 2 - 16
    with pytest.raises(TooMuchWork):
        copied(["x"] * 200, budget)


def test_it_stops_the_same_rules_at_the_same_place() -> None:
    made = [check_rule(rule([{"op": "log", "args": ["{item}"], "loop": list(range(10))}]))]
    for steps in (10, 4000, 8000):
        first, second = (evaluate(made, facts(), steps=steps) for _ in range(2))
        assert first == second
        assert first.failure is not None
        assert len(first.log) == max(0, steps - 10) // (JUDGING + LOGGING)


def test_it_stops_rules_that_double_what_they_store() -> None:
    double = rule([{"op": "set-plugin-data", "args": ["{item}", "{plugin_data}"], "loop": [str(n) for n in range(64)]}])
    outcome = run(double, known=Facts(inventory={}, plugin_data={"seed": [0] * 100}, node={"extra": {}}))
    assert "steps that all of them may take together" in why(outcome)


def test_it_stops_rules_that_nest_what_they_store() -> None:
    nest = rule([{"op": "set-plugin-data", "args": ["x", ["{plugin_data[x]}"]], "loop": [0] * (DEPTH + 5)}])
    outcome = run(nest, known=Facts(inventory={}, plugin_data={}, node={"extra": {}}))
    assert f"nested more than {DEPTH} levels" in why(outcome)
    assert outcome.failure is not None
    assert outcome.failure.rule == RULE


WIDE = list(range(2000))
LONG = "x" * 60_000
MACHINE = Facts(inventory={"wide": WIDE, "copy": list(WIDE), "long": LONG}, plugin_data={}, node={"extra": {}})


@pytest.mark.parametrize(
    "condition",
    [
        {"op": "!eq", "args": ["{inventory[wide]}", "{inventory[copy]}"]},
        {"op": "one-of", "args": ["x", "{inventory[wide]}"]},
        {"op": "contains", "args": ["{inventory[wide]}", "no"]},
        {"op": "matches", "args": ["{inventory[long]}", "y*"]},
        {"op": "is-true", "args": ["{inventory[long]}{item}"]},
    ],
)
def test_it_stops_conditions_that_look_at_much_too_often(condition: dict[str, Any]) -> None:
    outcome = run(rule(conditions=[condition | {"loop": "{inventory[wide]}"}]), known=MACHINE)
    assert "steps that all of them may take together" in why(outcome)


def test_it_lets_a_thousand_rules_glance_at_much() -> None:
    glance = rule(conditions=[{"op": "is-none", "args": ["{inventory}"]}])
    assert run(*[glance] * 1000, known=MACHINE).failure is None


@pytest.mark.parametrize(
    "args",
    [
        {"path": "l", "value": "{item}", "unique": True},
        {"path": "l", "value": ["{item}", "{inventory[wide]}"]},
        {"path": "/{item}", "value": "{inventory[long]}"},
    ],
)
def test_it_stops_actions_that_store_much_too_often(args: dict[str, Any]) -> None:
    adding = "extend-plugin-data" if args["path"] == "l" else "set-plugin-data"
    deed = {"op": adding, "args": args, "loop": "{inventory[wide]}"}
    assert "steps that all of them may take together" in why(run(rule([deed]), known=MACHINE))


def test_it_keeps_the_log_short() -> None:
    outcome = run(rule([{"op": "log", "args": ["{inventory[long]}"], "loop": "{inventory[wide]}"}]), known=MACHINE)
    assert "steps that all of them may take together" in why(outcome)
    assert sum(len(line.text or "") for line in outcome.log) < 10_000_000
    assert {len(line.text or "") for line in outcome.log} == {LOG_LENGTH}


def test_it_tells_of_a_long_loop_the_beginning_and_judges_all_of_it() -> None:
    last = {"op": "eq", "args": ["{item}", 1999], "loop": "{inventory[wide]}"}
    (told,) = run(rule(conditions=[last]), known=MACHINE).explanation
    assert told["applies"] is True
    assert len(told["conditions"][0]["items"]) == ITEMS_SHOWN


def test_it_weighs_no_further_than_it_must() -> None:
    assert weight({"a": [1, "x" * 64]}, 100) == 2 + 3 + 2
    assert weight([[0] * 1000] * 1000, 50) < 2100
