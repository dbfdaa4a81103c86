"""Rules do a bounded amount of work, counted and not timed."""

import pytest

from ironic.core.rules import Facts, check_rule, evaluate
from ironic.core.rules.faults import TooMuchWork
from ironic.core.rules.limits import DEPTH, JUDGING, Budget, copied
from ironic.tests.unit.core.rules.lab import RULE, facts, rule, run, why


def test_it_counts_elements_and_long_text() -> None:
    budget = Budget(100)
    copied({"a": [1, 2, {"b": "x" * 512}]}, budget)
    assert budget.left == 100 - 2 - 4 - 2 - 2
    with pytest.raises(TooMuchWork):
        copied(["x"] * 200, budget)


def test_it_stops_the_same_rules_at_the_same_place() -> None:
    made = [check_rule(rule([{"op": "log", "args": ["{item}"], "loop": list(range(10))}]))]
    for steps in (10, 40, 80):
        first, second = (evaluate(made, facts(), steps=steps) for _ in range(2))
        assert first == second
        assert first.failure is not None
        assert len(first.log) == max(0, steps - 10) // JUDGING


def test_it_stops_rules_that_double_what_they_store() -> None:
    double = rule([{"op": "set-plugin-data", "args": ["{item}", "{plugin_data}"], "loop": [str(n) for n in range(64)]}])
    outcome = run(double, known=Facts(inventory={}, plugin_data={"seed": [0] * 100}, node={"extra": {}}))
    assert "more work than is allowed" in why(outcome)


def test_it_stops_rules_that_nest_what_they_store() -> None:
    nest = rule([{"op": "set-plugin-data", "args": ["x", ["{plugin_data[x]}"]], "loop": [0] * (DEPTH + 5)}])
    outcome = run(nest, known=Facts(inventory={}, plugin_data={}, node={"extra": {}}))
    assert f"nested more than {DEPTH} levels" in why(outcome)
    assert outcome.failure is not None
    assert outcome.failure.rule == RULE
