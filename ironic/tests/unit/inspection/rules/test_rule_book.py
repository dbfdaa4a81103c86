"""The rule book: built-in rules of a file and stored rules, in the order they run."""

from pathlib import Path

import pytest
from oslo_config import cfg

from ironic.conf import OPTIONS
from ironic.core.errors import InspectionRuleFailure, InvalidParameterValue
from ironic.core.rules import evaluate
from ironic.db import Store
from ironic.inspection.rules import RuleBook, facts_without_node, load_built_in, rule_book
from ironic.tests.databases import counting_statements
from ironic.tests.unit.inspection.lab import post, recorded

LOG = {"op": "log", "args": ["x"]}
CALL = {"op": "api-call", "args": {"url": "http://192.0.2.1/"}}


@pytest.mark.demand("S114", "S121", "S122")
def test_it_gives_all_rules_in_the_order_they_run(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(
        "\n".join(f"- {{priority: {priority}, actions: [{{op: log, args: [x]}}]}}" for priority in (5, -1, 20000))
    )
    stored = [post(store, priority=priority) for priority in (0, 5, 5, 9999)]
    rules = rule_book.load_built_in(str(path))
    file = [rule.compiled.uuid for rule in rules]
    found = [rule.uuid for rule in RuleBook(rules).rules(store)]
    assert found == [file[2], stored[3], stored[1], stored[2], file[0], stored[0], file[1]]


def test_it_asks_once_and_compiles_only_what_is_new(store: Store) -> None:
    uuids = [post(store) for _ in range(3)]
    rules = RuleBook()
    first = rules.rules(store)
    compiled = rule_book._compiled.cache_info().misses
    with counting_statements(store) as seen:
        second = rules.rules(store)
    assert (seen.selects, seen.writes) == (1, 0)
    assert rule_book._compiled.cache_info().misses == compiled
    assert all(one is other for one, other in zip(first, second, strict=True))
    store.rules.update(uuids[1], {"description": "changed"})
    third = rules.rules(store)
    assert rule_book._compiled.cache_info().misses == compiled + 1
    assert third[1].description == "changed"
    assert third[0] is first[0]


def test_the_early_rules_of_a_report_are_read_once(store: Store) -> None:
    uuid = post(store, phase="early")
    post(store, phase="main", actions=[CALL])
    early = RuleBook().early(store)
    with counting_statements(store) as seen:
        assert not early.may_call_out
        assert [rule.uuid for rule in early.rules] == [uuid]
    assert (seen.selects, seen.writes) == (1, 0)


@pytest.mark.parametrize(
    ("phase", "actions", "expected"),
    [
        ("early", [LOG], False),
        ("early", [LOG, CALL], True),
        ("preprocess", [CALL], False),
        # Rules that can't be compiled do not run, and the report is refused.
        ("early", [{"op": "gone", "args": []}, CALL], False),
    ],
)
def test_they_show_whether_they_may_call_out(
    store: Store, phase: str, actions: list[dict[str, object]], expected: bool
) -> None:
    post(store, phase=phase, actions=actions)
    assert RuleBook().early(store).may_call_out is expected


def test_a_built_in_rule_may_call_out(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("- {phase: early, actions: [{op: api-call, args: [http://192.0.2.1/]}]}")
    assert RuleBook(load_built_in(str(path))).early(store).may_call_out


def test_it_sees_a_change_that_leaves_no_trace_in_the_times(store: Store) -> None:
    uuid = post(store, "before")
    rules = RuleBook()
    before = rules.rules(store)[0]
    row = store.rules.get(uuid)
    store.rules.update(uuid, {"actions": [{"op": "log", "args": ["after"]}], "updated_at": row.updated_at})
    assert rules.rules(store)[0] != before


@pytest.mark.parametrize(("sensitive", "expected"), [(False, "there is no action 'gone'"), (True, "is not valid")])
def test_it_names_a_stored_rule_that_is_valid_no_more(store: Store, sensitive: bool, expected: str) -> None:
    uuid = post(store, actions=[{"op": "gone", "args": ["pa$$w0rd"]}], sensitive=sensitive)
    with pytest.raises(InspectionRuleFailure) as error:
        RuleBook().rules(store)
    assert uuid in str(error.value)
    assert expected in str(error.value)
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
    outcome = evaluate(rules.rules(store), facts_without_node(inventory, {}))
    assert outcome.failure is None
    assert len(outcome.explanation) == 1000


RULES = """
- description: first
  priority: -10
  actions: [{op: log, args: ["hello"]}]
- uuid: 9C3FB1D5-4F5A-4A52-9B7D-0E6A8D8D3F10
  priority: 20000
  sensitive: true
  phase: early
  scope: s
  conditions: [{op: is-true, args: [yes]}]
  actions: [{op: fail, args: {msg: not this one}}]
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    return str(path)


@pytest.mark.demand("S114", "S121")
def test_it_reads_rules(tmp_path: Path) -> None:
    first, second = (rule.compiled for rule in rule_book.load_built_in(written(tmp_path, RULES)))
    assert (first.uuid, first.priority, first.phase) == ("00000000-0000-0000-0000-000000000001", -10, "main")
    assert (second.uuid, second.priority) == ("9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10", 20000)
    assert (second.phase, second.scope, second.sensitive) == ("early", "s", True)
    assert first.built_in
    assert second.built_in


def test_it_keeps_the_documents_to_show_them(tmp_path: Path) -> None:
    first, _ = rule_book.load_built_in(written(tmp_path, RULES))
    assert first.document["actions"] == [{"op": "log", "args": ["hello"]}]
    assert first.document["uuid"] == first.compiled.uuid


@pytest.mark.parametrize("text", ["", "[]", "# nothing\n", "---\n"])
def test_it_takes_a_file_without_rules(tmp_path: Path, text: str) -> None:
    assert rule_book.load_built_in(written(tmp_path, text)) == ()


@pytest.mark.parametrize("path", [None, ""])
def test_it_takes_no_file(path: str | None) -> None:
    assert rule_book.load_built_in(path) == ()


@pytest.mark.demand("S114")
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{a: b}", ["is no list of rules"]),
        ("text", ["is no list of rules"]),
        ("[", ["can't be read"]),
        ("!!python/object/apply:os.system [ls]", ["can't be read"]),
        ("\x00", ["can't be read"]),
        (
            "- 5\n- {}\n",
            ["rule 1: Invalid inspection rule: a rule must be an object", "rule 2: Invalid inspection rule"],
        ),
        ("- {actions: [{op: nope, args: []}]}\n- {actions: [{op: log, args: [2026-01-01]}]}", ["rule 1:", "rule 2:"]),
        (
            "- &a {uuid: 9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10, actions: [{op: log, args: [x]}]}\n- *a",
            ["used more than once"],
        ),
        ("- {built_in: true, actions: [{op: log, args: [x, loud]}]}", ["argument 'level'"]),
    ],
)
def test_it_refuses_a_bad_file_and_says_everything(tmp_path: Path, text: str, parts: list[str]) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidParameterValue) as error:
        rule_book.load_built_in(path)
    assert path in str(error.value)
    assert all(part in str(error.value) for part in parts)


def test_it_refuses_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterValue, match="can't be read: .*No such file"):
        rule_book.load_built_in(str(tmp_path / "gone.yaml"))


@pytest.mark.demand("S166")
@pytest.mark.parametrize("name", ["built_in", "built_in_rules"])
def test_the_file_is_named_by_an_option_that_has_an_older_name(tmp_path: Path, name: str) -> None:
    rules, options = tmp_path / "rules.yaml", tmp_path / "ironic.conf"
    rules.write_text("- {description: mine, actions: [{op: log, args: [x]}]}")
    options.write_text(f"[inspection_rules]\n{name} = {rules}\n")
    conf = cfg.ConfigOpts()
    conf.register_opts(OPTIONS["inspection_rules"], group="inspection_rules")
    conf([], default_config_files=[str(options)])
    assert [rule.compiled.description for rule in load_built_in(conf.inspection_rules.built_in)] == ["mine"]
