"""Counters of inspection rules, and what rules did in a node's last inspection."""

from ironic.db import Hits, RuleStatistics, Store
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node as new_node

ONE, TWO, FILE = (f"8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b{number}" for number in (10, 20, 30))
ACTIONS = [{"op": "fail", "args": ["x"]}]


class RuleCounterSuite:
    def test_runs_are_added_up(self, store: Store) -> None:
        store.rule_hits.count(RuleStatistics([TWO, ONE], [ONE], []))
        store.rule_hits.count(RuleStatistics([ONE, FILE], [ONE], [FILE]))
        with counting_statements(store) as seen:
            store.rule_hits.count(RuleStatistics([ONE, TWO, FILE], [], [TWO]))
        assert (seen.selects, seen.writes, seen.commits) == (0, 1, 1)
        with counting_statements(store) as seen:
            found = store.rule_hits.of([ONE, TWO, FILE, "other"])
        assert seen.selects == 1
        assert found[ONE].last_matched_at is not None
        assert found[ONE][:3] == (3, 2, 0)
        assert found[TWO] == Hits(2, 0, 1, None)
        assert found[FILE] == Hits(2, 0, 1, None)
        assert found["other"] == Hits()

    def test_nothing_that_ran_is_no_statement(self, store: Store) -> None:
        with counting_statements(store) as seen:
            store.rule_hits.count(RuleStatistics())
        assert (seen.selects, seen.writes) == (0, 0)
        assert store.rule_hits.of([]) == {}

    def test_counting_is_part_of_the_open_transaction(self, store: Store) -> None:
        try:
            with store.writing():
                store.rule_hits.count(RuleStatistics([ONE], [ONE], []))
                raise RuntimeError
        except RuntimeError:
            pass
        assert store.rule_hits.of([ONE])[ONE] == Hits()

    def test_counters_go_with_their_rule(self, store: Store) -> None:
        for uuid in (ONE, TWO):
            store.rules.create({"uuid": uuid, "actions": ACTIONS})
        store.rule_hits.count(RuleStatistics([ONE, TWO, FILE], [], []))
        store.rules.delete(ONE)
        assert [store.rule_hits.of([uuid])[uuid].evaluated for uuid in (ONE, TWO, FILE)] == [0, 1, 1]
        assert store.rules.clear() == 1
        assert [store.rule_hits.of([uuid])[uuid].evaluated for uuid in (TWO, FILE)] == [0, 1]

    def test_the_last_run_of_rules_is_kept_in_two_halves(self, store: Store) -> None:
        node = new_node(store)
        assert store.rule_runs.of(node.id) is None
        halves = []
        for half, text in (("later", "b"), ("early", "c"), ("later", "d"), ("later", "e"), ("early", "f")):
            getattr(store.rule_runs, f"put_{half}")(node.id, text)
            run = store.rule_runs.of(node.id)
            assert run is not None
            halves.append((run.early, run.later))
        assert halves == [(None, "b"), ("c", None), ("c", "d"), (None, "e"), ("f", None)]
        store.nodes.delete(node.id)
        assert store.rule_runs.of(node.id) is None

    def test_effects_belong_to_a_node_and_a_rule(self, store: Store) -> None:
        one, other = new_node(store), new_node(store)
        effect = {"action": "set-attribute", "at": "/extra/ä", "value": {"a": [1, None, "x" * 70_000]}}
        store.rule_effects.replace(one.id, {ONE: [effect], TWO: [effect, effect], FILE: []})
        store.rule_effects.replace(other.id, {ONE: [effect]})
        with counting_statements(store) as seen:
            assert store.rule_effects.of(one.id) == {ONE: [effect], TWO: [effect, effect]}
        assert seen.selects == 1
        store.rule_effects.replace(one.id, {TWO: [effect]})
        assert store.rule_effects.of(one.id) == {TWO: [effect]}
        store.nodes.delete(one.id)
        assert store.rule_effects.of(one.id) == {}
        assert store.rule_effects.of(other.id) == {ONE: [effect]}

    def test_all_rules_of_one_dialect_are_deleted(self, store: Store) -> None:
        for dialect in ("ironic", "inspector", "inspector"):
            store.rules.create({"actions": ACTIONS, "dialect": dialect})
        assert store.rules.clear(dialect="inspector") == 2
        assert [rule.dialect for rule in store.rules.find()] == ["ironic"]
