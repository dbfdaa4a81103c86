"""Checking a rule document: everything that can be wrong with its form is found when it is posted."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules import ACTIONS, OPERATORS, check_rule
from ironic.tests.unit.core.rules.lab import RULE, rule

FAIL = {"op": "fail", "args": {"msg": "no"}}


def refusal(document: Any, **options: Any) -> str:
    with pytest.raises(InvalidParameterValue) as caught:
        check_rule(document, **options)
    return str(caught.value)


@pytest.mark.demand("S117", "S121")
def test_it_needs_nothing_but_actions() -> None:
    made = check_rule({"actions": [FAIL]})
    assert (made.phase, made.priority, made.scope, made.sensitive, made.conditions) == ("main", 0, None, False, ())
    assert len(made.uuid) == 36
    nulls = {"conditions": None, "phase": None, "priority": None, "scope": None, "description": None}
    assert check_rule({"actions": [FAIL], **nulls}).phase == "main"


def test_it_keeps_what_is_said() -> None:
    made = check_rule(
        rule([FAIL], phase="preprocess", priority=9999, scope="s", sensitive=True, description="d" * 255, uuid=RULE)
    )
    assert (made.uuid, made.phase, made.priority, made.scope) == (RULE, "preprocess", 9999, "s")
    assert (made.sensitive, made.description) == (True, "d" * 255)


@pytest.mark.parametrize(
    ("document", "part"),
    [
        (None, "a rule must be an object"),
        ([], "a rule must be an object"),
        ({}, "at least one item"),
        ({"actions": []}, "at least one item"),
        ({"actions": None}, "at least one item"),
        ({"actions": "x"}, "actions must be a list"),
        ({"actions": {"op": "fail"}}, "actions must be a list"),
        ({"actions": [FAIL] * 1001}, "at most 1000"),
        ({"actions": ["x"]}, "actions[0] must be an object"),
        ({"actions": [{"args": {}}]}, "actions[0]: op is missing"),
        ({"actions": [{"op": 5, "args": {}}]}, "actions[0]: op is missing or not text"),
        ({"actions": [{"op": "nope", "args": {}}]}, "actions[0]: there is no action 'nope'"),
        ({"actions": [{"op": "!fail", "args": ["x"]}]}, "there is no action '!fail'"),
        ({"actions": [{"op": "fail"}]}, "actions[0] (fail): args is missing"),
        ({"actions": [FAIL, {"op": "fail", "args": 5}]}, "actions[1] (fail): args must be a list or an object"),
        ({"actions": [FAIL], "conditions": "text"}, "conditions must be a list"),
        ({"actions": [FAIL], "conditions": [5]}, "conditions[0] must be an object"),
        (
            {"actions": [FAIL], "conditions": [{"op": "eq", "args": [1], "extra": 1}]},
            "conditions[0] has no field extra",
        ),
        ({"actions": [FAIL], "bogus": 1, "also": 2}, "a rule has no field also, bogus"),
        ({"actions": [FAIL], "built_in": False}, "a rule has no field built_in"),
        ({"actions": [FAIL], "phase": "late"}, "phase must be one of early, preprocess, main"),
        ({"actions": [FAIL], "phase": 5}, "phase must be one of"),
        ({"actions": [FAIL], "priority": -1}, "priority must be 0 to 9999"),
        ({"actions": [FAIL], "priority": 10000}, "priority must be 0 to 9999"),
        ({"actions": [FAIL], "priority": "high"}, "priority must be a whole number"),
        ({"actions": [FAIL], "priority": True}, "priority must be a whole number"),
        ({"actions": [FAIL], "priority": 1.5}, "priority must be a whole number"),
        ({"actions": [FAIL], "sensitive": 5}, "sensitive must be true or false"),
        ({"actions": [FAIL], "scope": 5}, "scope must be text of at most 255"),
        ({"actions": [FAIL], "scope": "x" * 256}, "scope must be text of at most 255"),
        ({"actions": [FAIL], "description": "x" * 256}, "description must be text of at most 255"),
        ({"actions": [FAIL], "uuid": "bogus"}, "uuid must be a UUID"),
        ({"actions": [FAIL], "uuid": 5}, "uuid must be a UUID"),
        ({"actions": [{"op": "log", "args": {5: "x"}}]}, "the keys of an object in a rule must be text"),
        ({"actions": [{"op": "log", "args": [date(2026, 1, 1)]}]}, "numbers of up to 64 bits"),
        ({"actions": [{"op": "set-plugin-data", "args": ["a", 2**80]}]}, "numbers of up to 64 bits"),
        ({"actions": [{"op": "set-plugin-data", "args": ["a", float("nan")]}]}, "numbers of up to 64 bits"),
    ],
)
def test_it_refuses_a_bad_document(document: Any, part: str) -> None:
    assert part in refusal(document)


def test_it_refuses_what_is_nested_too_deep() -> None:
    value: Any = 1
    for _ in range(100):
        value = [value]
    assert "nested more than" in refusal(rule([{"op": "set-plugin-data", "args": ["a", value]}]))


@pytest.mark.demand("S121")
@pytest.mark.parametrize("priority", [-5, 10000, 123456])
def test_it_lets_only_built_in_rules_stand_outside_of_the_priorities_of_users(priority: int) -> None:
    assert check_rule(rule(priority=priority), built_in=True).priority == priority
    assert "others are for built-in rules" in refusal(rule(priority=priority))


@pytest.mark.parametrize(
    ("op", "args", "part"),
    [
        ("eq", {}, "argument 'values' is missing"),
        ("eq", [], "argument 'values' is missing"),
        ("eq", {"values": 5}, "argument 'values': must be a list"),
        ("eq", {"values": "a{node.name}"}, "argument 'values': must be a list"),
        ("eq", {"values": [1], "force_strings": "x"}, "argument 'force_strings': must be true or false"),
        ("eq", {"values": [1], "force_strings": "{node.name}!"}, "argument 'force_strings': must be true or false"),
        ("lt", {"values": [1], "other": 1}, "argument 'other' is unknown; known: values, force_strings"),
        ("is-true", {}, "argument 'value' is missing"),
        ("is-true", [1, 2], "2 arguments are too many by position; known: value"),
        ("in-net", {"address": "a"}, "argument 'subnet' is missing"),
        ("in-net", ["a"], "argument 'subnet' is missing"),
        ("in-net", ["a", "nonsense"], "argument 'subnet': must be a subnet"),
        ("in-net", ["a", 5], "argument 'subnet': must be a subnet"),
        ("matches", ["a", "("], "argument 'regex': not a regular expression"),
        ("matches", ["a", r"(a)\1"], "argument 'regex': not a regular expression"),
        ("matches", ["a", "(?=x)"], "argument 'regex': not a regular expression"),
        ("matches", ["a", "(a{1000}){1000}"], "argument 'regex': not a regular expression"),
        ("matches", ["a", "a" * 5000], "longer than 4096"),
        ("contains", ["a", None], "argument 'regex': must be a regular expression"),
        ("one-of", {"value": 1, "values": "x"}, "argument 'values': must be a list"),
        ("is-none", ["{node.name!r}"], "argument 'value': '{node.name!r}' is not an expression"),
    ],
)
def test_it_refuses_bad_arguments_of_conditions(op: str, args: Any, part: str) -> None:
    text = refusal(rule(conditions=[{"op": "is-true", "args": [1]}, {"op": op, "args": args}]))
    assert f"conditions[1] ({op}): argument" in text or f"conditions[1] ({op}): 2 arguments" in text
    assert part in text


@pytest.mark.parametrize(
    ("op", "args", "part"),
    [
        ("fail", {}, "argument 'msg' is missing"),
        ("fail", {"msg": "a", "other": "b"}, "argument 'other' is unknown; known: msg"),
        ("fail", {"msg": ["x"]}, "argument 'msg': must be text"),
        ("fail", {"msg": None}, "argument 'msg': must be text"),
        ("add-trait", [5], "argument 'name': must be a name"),
        ("log", ["a", "loud"], "argument 'level': must be one of debug, info, warning, error, critical"),
        ("set-attribute", {"path": "/extra/a"}, "argument 'value' is missing"),
        ("set-attribute", {"path": "", "value": 1}, "argument 'path': the path is missing"),
        ("set-attribute", {"path": "/", "value": 1}, "argument 'path': a path must be /key/key"),
        ("set-attribute", {"path": "/extra//a", "value": 1}, "argument 'path': a path must be /key/key"),
        ("set-attribute", {"path": "extra..a", "value": 1}, "argument 'path': a path must be /key/key"),
        ("set-attribute", {"path": "/extra" + "/a" * 40, "value": 1}, "more than 32 keys"),
        ("set-attribute", {"path": 5, "value": 1}, "argument 'path': must be a path"),
        ("extend-attribute", ["/extra/a", 1, True], "3 arguments are too many by position"),
        ("extend-attribute", {"path": "/extra/a", "value": 1, "unique": 1}, "argument 'unique': must be true or false"),
        ("set-port-attribute", ["", "/extra/a", 1], "argument 'port_id': must be a name"),
        ("add-trait", [""], "argument 'name': must be a name"),
        ("set-plugin-data", {"path": "a", "value": 1, "plugin_data": {"x": 1}}, "must be an empty object"),
    ],
)
def test_it_refuses_bad_arguments_of_actions(op: str, args: Any, part: str) -> None:
    text = refusal(rule([FAIL, {"op": op, "args": args}]))
    assert f"actions[1] ({op}): " in text
    assert part in text


@pytest.mark.demand("S149")
@pytest.mark.parametrize(
    "field",
    [
        "uuid",
        "id",
        "reservation",
        "provision_state",
        "target_provision_state",
        "power_state",
        "target_power_state",
        "driver_internal_info",
        "last_error",
        "fault",
        "auto_discovered",
        "inspection_started_at",
        "raid_config",
        "clean_step",
        "created_at",
        "traits",
        "nonsense",
        "__class__",
    ],
)
@pytest.mark.parametrize(
    ("op", "more"),
    [("set-attribute", [1]), ("extend-attribute", [1]), ("del-attribute", [])],
    ids=lambda value: str(value),
)
def test_it_refuses_to_write_what_no_patch_may_change(op: str, more: list[Any], field: str) -> None:
    for path in (f"/{field}", f"/{field}/deeper", field):
        text = refusal(rule([{"op": op, "args": [path, *more]}]))
        assert f"argument 'path': rules can't write field '{field}' of a node" in text


@pytest.mark.parametrize("field", ["uuid", "node_id", "node_uuid", "portgroup_id", "internal_info", "created_at"])
def test_it_refuses_to_write_what_no_patch_of_a_port_may_change(field: str) -> None:
    text = refusal(rule([{"op": "set-port-attribute", "args": ["x", f"/{field}", 1]}]))
    assert f"rules can't write field '{field}' of a port" in text


@pytest.mark.demand("S115", "S130")
@pytest.mark.parametrize("op", sorted(set(ACTIONS) - {"api-call", "fail", "log"}))
def test_it_lets_only_actions_without_a_node_into_the_early_phase(op: str) -> None:
    path = "a" if op.endswith("plugin-data") else "/extra/a"
    args = {"path": path, "value": 1, "port_id": "x", "name": "CUSTOM_A"}
    known = {one.name for one in ACTIONS[op].signature.parameters}
    document = rule([{"op": op, "args": {name: value for name, value in args.items() if name in known}}])
    check_rule(document)
    if op.endswith("plugin-data"):
        assert check_rule(document | {"phase": "early"}).phase == "early"
    else:
        assert f"action {op} needs a node" in refusal(document | {"phase": "early"})


@pytest.mark.demand("S126")
@pytest.mark.parametrize("op", ["eq", "!eq", "! eq", "!  eq"])
def test_it_takes_an_inverted_operator(op: str) -> None:
    (condition,) = check_rule(rule(conditions=[{"op": op, "args": [1, 1]}])).conditions
    assert condition.operator is OPERATORS["eq"]
    assert condition.negated is op.startswith("!")


@pytest.mark.parametrize("op", ["", "!", "!!eq", " eq", "eq ", "EQ", "!\teq"])
def test_it_refuses_other_spellings(op: str) -> None:
    assert "there is no operator" in refusal(rule(conditions=[{"op": op, "args": [1, 1]}]))


@pytest.mark.demand("S125")
def test_it_takes_arguments_by_position_and_by_name() -> None:
    by_position = check_rule(rule([{"op": "set-attribute", "args": ["/extra/a", 1]}])).actions[0].arguments
    by_name = check_rule(rule([{"op": "set-attribute", "args": {"value": 1, "path": "/extra/a"}}])).actions[0].arguments
    assert {one.name: one.template for one in by_position} == {one.name: one.template for one in by_name}


@pytest.mark.parametrize("path", ["{{ /extra/a }}", "{{/extra/a}}", "{{ extra.a }}"])
def test_a_literal_path_may_stand_in_double_braces(path: str) -> None:
    plain, braced = (
        check_rule(rule([{"op": "set-attribute", "args": [each, 1]}])).actions[0].arguments
        for each in ("/extra/a", path)
    )
    assert [one.template for one in braced] == [one.template for one in plain]


@pytest.mark.parametrize("loop", [None, 5, True, "x", "x{node.name}", "{item}", "{"])
def test_it_refuses_a_loop_over_something_else(loop: Any) -> None:
    assert "conditions[0]: loop" in refusal(rule(conditions=[{"op": "is-true", "args": ["{item}"], "loop": loop}]))
    assert "actions[0]: loop" in refusal(rule([{"op": "log", "args": ["{item}"], "loop": loop}]))


@pytest.mark.parametrize("multiple", ["some", None, 1, ["any"]])
def test_it_refuses_another_way_to_join_a_loop(multiple: Any) -> None:
    condition = {"op": "is-true", "args": ["a"], "loop": [1], "multiple": multiple}
    assert "conditions[0]: multiple must be one of any, all, first, last" in refusal(rule(conditions=[condition]))


def test_it_ignores_what_else_stands_in_an_action_as_the_reference_does() -> None:
    assert check_rule({"actions": [FAIL | {"comment": "why"}]}).actions[0].action.name == "fail"


def test_it_takes_back_what_the_reference_hands_out() -> None:
    args = {"path": "/seen", "plugin_data": {}, "value": "1"}
    assert check_rule(rule([{"op": "set-plugin-data", "args": args}]))


WORDS = st.sampled_from(
    [
        "op",
        "args",
        "loop",
        "multiple",
        "actions",
        "conditions",
        "fail",
        "eq",
        "msg",
        "values",
        "{node.name}",
        "{item}",
        "!",
        "early",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=3)
)
PARTS = st.lists(
    st.fixed_dictionaries({"op": st.sampled_from([*ACTIONS, *OPERATORS, "!eq"]), "args": JUNK}, optional={"loop": JUNK})
)


@given(JUNK | st.fixed_dictionaries({"actions": JUNK | PARTS, "conditions": JUNK | PARTS}))
def test_it_either_makes_a_rule_or_says_what_is_wrong(document: Any) -> None:
    try:
        made = check_rule(document)
    except InvalidParameterValue as error:
        assert str(error).startswith("Invalid inspection rule: ")
    else:
        assert made.actions
