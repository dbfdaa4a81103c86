"""All rules in order, compiled once and never out of date."""

from pathlib import Path

import pytest

from ironic.core.errors import InspectionRuleFailure
from ironic.core.rules import evaluate
from ironic.db import Store
from ironic.inspection.rules import RuleBook, book, built_in, facts_of_nobody
from ironic.tests.databases import counting_statements
from ironic.tests.unit.inspection.lab import post, recorded


@pytest.mark.demand("S114", "S121", "S122")
def test_it_gives_all_rules_in_the_order_they_run(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(
        "\n".join(f"- {{priority: {priority}, actions: [{{op: log, args: [x]}}]}}" for priority in (5, -1, 20000))
    )
    stored = [post(store, priority=priority) for priority in (0, 5, 5, 9999)]
    rules = built_in.load(str(path))
    file = [rule.compiled.uuid for rule in rules]
    found = [rule.uuid for rule in RuleBook(rules).rules(store)]
    assert found == [file[2], stored[3], stored[1], stored[2], file[0], stored[0], file[1]]


def test_it_asks_once_and_compiles_only_what_is_new(store: Store) -> None:
    uuids = [post(store) for _ in range(3)]
    rules = RuleBook()
    first = rules.rules(store)
    compiled = book._compiled.cache_info().misses
    with counting_statements(store) as seen:
        second = rules.rules(store)
    assert (seen.selects, seen.writes) == (1, 0)
    assert book._compiled.cache_info().misses == compiled
    assert all(one is other for one, other in zip(first, second, strict=True))
    store.rules.update(uuids[1], {"description": "changed"})
    third = rules.rules(store)
    assert book._compiled.cache_info().misses == compiled + 1
    assert third[1].description == "changed"
    assert third[0] is first[0]


def test_it_sees_a_change_that_leaves_no_trace_in_the_times(store: Store) -> None:
    uuid = post(store, "before")
    rules = RuleBook()
    before = rules.rules(store)[0]
    row = store.rules.get(uuid)
    store.rules.update(uuid, {"actions": [{"op": "log", "args": ["after"]}], "updated_at": row.updated_at})
    assert rules.rules(store)[0] != before


@pytest.mark.parametrize(("sensitive", "told"), [(False, "no action is called 'gone'"), (True, "is not valid")])
def test_it_names_a_stored_rule_that_is_valid_no_more(store: Store, sensitive: bool, told: str) -> None:
    uuid = post(store, actions=[{"op": "gone", "args": ["pa$$w0rd"]}], sensitive=sensitive)
    with pytest.raises(InspectionRuleFailure) as error:
        RuleBook().rules(store)
    assert uuid in str(error.value)
    assert told in str(error.value)
    assert "pa$$w0rd" not in str(error.value)


def test_a_thousand_rules_take_well_under_a_second(store: Store) -> None:
    """Half a second of work at most, several times what it takes, so that a busy machine fails no test."""
    conditions = [
        {"op": "eq", "args": ["{inventory[cpu][architecture]}", "x86_64"]},
        {"op": "contains", "args": ["{item[name]}", "eth|ens"], "loop": "{inventory[interfaces]}"},
    ]
    with store.writing():
        for number in range(1000):
            actions = [
                {"op": "set-attribute", "args": [f"/extra/rule{number}", "{inventory[cpu][count]}"]},
                {"op": "set-plugin-data", "args": [f"rules.rule{number}", "{inventory[system_vendor][manufacturer]}"]},
            ]
            post(store, conditions=conditions, actions=actions)
    inventory = recorded("dell-like")["inventory"]
    rules = RuleBook()
    rules.rules(store)
    outcome = evaluate(rules.rules(store), facts_of_nobody(inventory, {}))
    assert outcome.failure is None
    assert len(outcome.explanation) == 1000
