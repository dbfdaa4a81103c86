"""Evaluating rules: order, what later rules see, failures, the explanation, and that nothing else happens."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ironic.core.errors import HardwareInspectionFailure, InspectionRuleFailure
from ironic.core.rules import check_rule, evaluate, in_order, selected
from ironic.core.rules.paths import apply
from ironic.tests.unit.core.rules.lab import INVENTORY, RULE, act, facts, rule, run, why


def test_it_acts_when_all_conditions_hold() -> None:
    yes, no = {"op": "is-true", "args": [True]}, {"op": "is-true", "args": [False]}
    assert run(rule(conditions=[])).changes
    assert run(rule(conditions=[yes, yes])).changes
    assert not run(rule(conditions=[yes, no])).changes
    assert not run(rule(conditions=[no, yes])).changes


@pytest.mark.demand("S126")
@pytest.mark.parametrize("op", ["!eq", "! eq"])
def test_it_inverts(op: str) -> None:
    assert run(rule(conditions=[{"op": op, "args": [1, 2]}])).changes
    assert not run(rule(conditions=[{"op": op, "args": [1, 1]}])).changes


def test_it_lets_a_later_rule_see_what_an_earlier_one_did() -> None:
    first = rule(
        [
            {"op": "set-attribute", "args": ["/extra/stage", "one"]},
            {"op": "set-port-attribute", "args": ["52:54:00:00:00:01", "/extra/stage", "one"]},
            {"op": "add-trait", "args": ["CUSTOM_STAGE"]},
        ]
    )
    stages = ["{node.extra.stage}", "{ports[0][extra][stage]}", "one"]
    second = rule([{"op": "set-plugin-data", "args": ["second", "{node.traits[1]}"]}], [{"op": "eq", "args": stages}])
    assert run(first, second).changes.plugin_data[0]["value"] == "CUSTOM_STAGE"
    assert not run(second, first).changes.plugin_data


def test_it_lets_a_later_action_see_what_an_earlier_one_did() -> None:
    outcome = run(
        rule(
            [
                {"op": "set-plugin-data", "args": ["list", []]},
                {"op": "set-plugin-data", "args": ["alias", "{plugin_data[list]}"]},
                {"op": "extend-plugin-data", "args": ["list", 1]},
                {"op": "extend-plugin-data", "args": ["list", 2]},
            ]
        )
    )
    data: dict[str, Any] = {}
    apply(data, outcome.changes.plugin_data)
    assert data == {"list": [1, 2], "alias": []}


def test_it_copies_what_it_stores() -> None:
    data: dict[str, Any] = {}
    apply(data, act("set-plugin-data", ["self", "{plugin_data}"]).changes.plugin_data)
    assert "self" not in data["self"]
    apply(data["self"], act("extend-plugin-data", ["seen", "{inventory[interfaces]}"]).changes.plugin_data)
    assert data["self"]["seen"] == ["x", INVENTORY["interfaces"]]


@pytest.mark.demand("S144")
def test_it_stops_at_the_first_failure_and_says_where() -> None:
    outcome = run(
        rule(
            [{"op": "log", "args": ["before"]}, {"op": "fail", "args": ["not this one"]}, {"op": "log", "args": ["x"]}]
        ),
        rule([{"op": "log", "args": ["never"]}]),
    )
    assert [line.text for line in outcome.log] == ["before"]
    assert outcome.failure is not None
    error = outcome.failure.error("node n")
    assert isinstance(error, InspectionRuleFailure)
    assert isinstance(error, HardwareInspectionFailure)
    assert str(error) == f"Inspection rule {RULE} failed on node n: phase main, actions[1]: not this one"
    assert (error.facts["phase"], error.facts["part"], error.facts["index"]) == ("main", "actions", 1)
    assert len(outcome.explanation) == 1


@pytest.mark.demand("S120")
@pytest.mark.parametrize(
    ("broken", "place"),
    [
        ({"actions": [{"op": "fail", "args": ["pa$$w0rd {node.name}"]}]}, "phase main, actions[0]: FailRequested"),
        (
            {
                "actions": [
                    {"op": "log", "args": ["x"]},
                    {"op": "set-port-attribute", "args": ["pa$$w0rd", "/name", "x"]},
                ]
            },
            "phase main, actions[1]: RuleFault",
        ),
        ({"conditions": [{"op": "lt", "args": ["pa$$w0rd", 5]}]}, "phase main, conditions[0]: RuleFault"),
    ],
)
def test_it_says_little_about_sensitive_rules(broken: dict[str, Any], place: str) -> None:
    outcome = run(rule(sensitive=True) | broken)
    assert outcome.failure is not None
    assert (
        str(outcome.failure.error("node n"))
        == f"Inspection rule {RULE} failed on node n: {place} (the rule is sensitive)"
    )
    assert "pa$$w0rd" not in json.dumps([outcome.explanation, [line.text for line in outcome.log]])
    # The same rule, not sensitive, says what is wrong.
    assert "the rule is sensitive" not in why(run(rule() | broken))


def test_it_explains_what_it_did() -> None:
    outcome = run(
        rule(
            [{"op": "set-attribute", "args": ["/extra/a", "{inventory[cpu][count]}"]}],
            [
                {"op": "!eq", "args": ["{inventory[cpu][count]}", 4]},
                {
                    "op": "contains",
                    "args": ["{item[name]}", "eth"],
                    "loop": "{inventory[interfaces]}",
                    "multiple": "all",
                },
            ],
            description="why not",
        ),
        rule(conditions=[{"op": "is-none", "args": ["{node.name}"]}, {"op": "is-true", "args": ["never judged"]}]),
    )
    assert outcome.explanation == [
        {
            "uuid": RULE,
            "description": "why not",
            "applies": True,
            "conditions": [
                {"op": "!eq", "args": ["{inventory[cpu][count]}", 4], "values": {"values": [8, 4]}, "verdict": True},
                {
                    "op": "contains",
                    "args": ["{item[name]}", "eth"],
                    "items": [
                        {"values": {"value": "eth0", "regex": "eth"}, "verdict": True},
                        {"values": {"value": "eth1", "regex": "eth"}, "verdict": True},
                    ],
                    "verdict": True,
                },
            ],
            "changes": {"node": [{"op": "add", "path": "/extra/a", "value": 8}], "ports": {}, "plugin_data": []},
        },
        {
            "uuid": RULE,
            "description": None,
            "applies": False,
            "conditions": [{"op": "is-none", "args": ["{node.name}"], "values": {"value": "rack-1"}, "verdict": False}],
            "changes": {"node": [], "ports": {}, "plugin_data": []},
        },
    ]


def test_it_shows_of_sensitive_rules_the_verdicts_only() -> None:
    sensitive = rule(
        [{"op": "set-attribute", "args": ["/extra/a", "hidden"]}],
        [{"op": "is-true", "args": ["yes"]}, {"op": "is-true", "args": ["{item}"], "loop": ["yes"]}],
        sensitive=True,
    )
    (told,) = run(sensitive).explanation
    verdict = {"op": None, "args": None, "verdict": True}
    assert told == {"uuid": RULE, "description": None, "applies": True, "conditions": [verdict, verdict]}


def test_it_cuts_long_values_short_in_the_explanation() -> None:
    known = facts(plugin_data={"text": "x" * 1000, "list": list(range(1000)), "map": {str(n): n for n in range(99)}})
    args = ["{plugin_data[text]}", "{plugin_data[list]}", "{plugin_data[map]}", 1.5, None]
    conditions = [{"op": "!is-none", "args": [one]} for one in args]
    (told,) = run(rule(conditions=conditions), known=known).explanation
    values = [condition["values"]["value"] for condition in told["conditions"]]
    assert values == ["x" * 256 + "...", "(1000 items)", "(99 keys)", 1.5, None]


def test_it_never_writes_to_the_facts() -> None:
    known = facts()
    before = copy.deepcopy(known)
    run(
        rule([{"op": "set-attribute", "args": ["/extra/list/0", "z"]}, {"op": "unset-plugin-data", "args": ["seen"]}]),
        known=known,
    )
    assert known == before


@pytest.mark.parametrize("masking", ["always", "never", "sensitive"])
def test_it_never_writes_to_the_facts_whatever_is_masked(masking: Any) -> None:
    known = facts()
    before = copy.deepcopy(known)
    actions = [
        {"op": "set-attribute", "args": ["/extra/deep/er", "z"]},
        {"op": "extend-plugin-data", "args": ["nested.a.c", "{inventory[interfaces]}"]},
        {"op": "extend-plugin-data", "args": ["nested.a.c.0", 1]},
        {"op": "set-port-attribute", "args": ["{ports[0][uuid]}", "/extra/deep", "{node}"]},
    ]
    assert run(rule(actions), rule(actions, sensitive=True), masking=masking, known=known).failure is None
    assert known == before


@pytest.mark.demand("S121", "S122")
def test_it_runs_higher_priorities_first_and_equal_ones_as_they_were_created() -> None:
    documents = [("a", 0), ("b", 10), ("c", 0), ("d", 9999), ("e", 10)]
    rules = [check_rule(rule([{"op": "log", "args": [name]}], priority=priority)) for name, priority in documents]
    outcome = evaluate(in_order(rules), facts())
    assert [line.text for line in outcome.log] == ["d", "b", "e", "a", "c"]


@pytest.mark.demand("S124")
@pytest.mark.parametrize(
    ("scope_of_rule", "scope_of_node", "default", "runs"),
    [
        (None, None, None, True),
        (None, "s", None, True),
        ("s", "s", None, True),
        ("s", None, None, False),
        ("s", "t", None, False),
        (None, None, "s", False),
        (None, "s", "s", True),
        ("t", "t", "s", True),
        ("t", "s", "s", False),
    ],
)
def test_it_runs_rules_of_the_nodes_scope(
    scope_of_rule: str | None, scope_of_node: str | None, default: str | None, runs: bool
) -> None:
    made = check_rule(rule(scope=scope_of_rule))
    assert selected([made], "main", scope_of_node, default) == ([made] if runs else [])


@pytest.mark.demand("S167")
def test_it_gives_built_in_rules_no_default_scope() -> None:
    made = check_rule(rule(), built_in=True)
    assert selected([made], "main", None, "s") == [made]


def test_it_runs_rules_of_the_phase() -> None:
    rules = [check_rule(rule(phase=phase)) for phase in (None, "early", "preprocess", "main")]
    assert [len(selected(rules, phase, None)) for phase in ("early", "preprocess", "main")] == [1, 1, 2]


OPS = st.sampled_from(
    [
        {"op": "set-attribute", "args": ["/extra/{item}", "{node.extra}"]},
        {"op": "extend-plugin-data", "args": ["grow", "{plugin_data}"]},
        {"op": "extend-attribute", "args": {"path": "/extra/l", "value": "{item}", "unique": True}},
        {"op": "del-attribute", "args": ["/extra/{item}"]},
        {"op": "unset-plugin-data", "args": ["{item}"]},
        {"op": "set-capability", "args": ["{item}", "{inventory[cpu][count]}"]},
        {"op": "add-trait", "args": ["CUSTOM_{item}"]},
        {"op": "remove-trait", "args": ["{node.traits[0]}"]},
        {"op": "set-port-attribute", "args": ["{ports[0][address]}", "/extra/{item}", "{ports}"]},
        {"op": "log", "args": ["{node}{plugin_data}"]},
    ]
)
LOOPS = st.sampled_from([["a", "B", "0"], "{inventory[interfaces]}", "{node.traits}", {"a": 1}])
RULES = st.lists(
    st.builds(
        lambda deeds, sensitive: rule([deed | {"loop": loop} for deed, loop in deeds], sensitive=sensitive),
        st.lists(st.tuples(OPS, LOOPS), min_size=1, max_size=4),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


@settings(deadline=None)
@given(RULES, st.sampled_from(["always", "never", "sensitive"]))
def test_it_gives_the_same_output_for_the_same_input(documents: list[dict[str, Any]], masking: Any) -> None:
    first, second = (run(*documents, masking=masking) for _ in range(2))
    assert first == second
    json.dumps([first.explanation, first.changes.node, first.changes.ports, first.changes.plugin_data])


@settings(deadline=None)
@given(RULES)
def test_it_gives_changes_that_lead_from_the_facts_to_what_rules_saw(documents: list[dict[str, Any]]) -> None:
    known = facts()
    outcome = run(*documents, masking="never")
    seen = run(*documents, rule([{"op": "set-plugin-data", "args": ["seen_last", "{node}"]}]), masking="never")
    if outcome.failure is None and seen.failure is None:
        node: Any = copy.deepcopy(known.node)
        apply(node, outcome.changes.node)
        assert node == seen.changes.plugin_data[-1]["value"]
