"""Words of the language come through entry points, and bad ones stop the start."""

import configparser
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules import ACTIONS, OPERATORS, evaluate
from ironic.core.rules import actions as our_actions
from ironic.core.rules import operators as our_operators
from ironic.core.rules.compiled_rules import check_rule
from ironic.core.rules.interpolation import Scope
from ironic.core.rules.vocabulary import (
    ACTIONS_GROUP,
    OPERATORS_GROUP,
    Words,
    action_of,
    load_words,
    operator_of,
    require_some,
)
from ironic.core.rules.workspace import Workspace
from ironic.inspection.rules.base import InspectionRuleActionBase
from ironic.tests.repository import ROOT
from ironic.tests.unit.core.rules.lab import NODE, PORT, PORTS, facts, rule, why


@dataclass
class Point:
    name: str
    found: Any
    value: str = "somewhere:thing"

    def load(self) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.mark.demand("S143")
@pytest.mark.parametrize(
    ("group", "table", "module"),
    [(ACTIONS_GROUP, ACTIONS, our_actions), (OPERATORS_GROUP, OPERATORS, our_operators)],
)
def test_ours_come_through_the_same_doors(group: str, table: Any, module: Any) -> None:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    lines = (line for line in parser["options.entry_points"][group].splitlines() if line)
    published = dict(line.split(" = ") for line in lines)
    assert {name: f"{module.__name__}:{name.replace('-', '_')}" for name in published} == published
    assert published.keys() <= table.keys()
    assert all(word.about for word in table.values())


class Base:
    supports_early = False


class Deed(Base):
    def __call__(self, task: Any, rule: Any, value: Any = None) -> None: ...


class AnyArguments(Base):
    def __call__(self, task: Any, rule: Any, **kwargs: Any) -> None: ...


class OddType(Base):
    def __call__(self, task: Any, rule: Any, value: complex) -> None: ...


class TwoMinds(Deed):
    supports_early = True

    def call_early(self, rule: Any, other: Any) -> None: ...


class Abstract(Deed):
    def __init__(self) -> None:
        raise TypeError("can't be made")


def deed(workspace: Any, value: Any = None) -> None: ...


def judge(value: str) -> bool:
    return True


def test_what_may_wait_for_another_service() -> None:
    """Of ours, the one action that calls; of third parties, everything."""
    assert [name for name, word in ACTIONS.items() if word.calls_out] == ["api-call"]
    assert not any(word.calls_out for word in OPERATORS.values())
    assert all(word.calls_out for word in (action_of("x", Deed), action_of("x", deed), operator_of("x", judge)))


@pytest.mark.parametrize(
    ("understood", "found", "part"),
    [
        (action_of, AnyArguments, "argument 'kwargs' collects any number"),
        (action_of, OddType, "argument 'value' has the type <class 'complex'>"),
        (action_of, TwoMinds, "call_early must have the same arguments"),
        (action_of, Abstract, "can't be made"),
        (action_of, Base, "an action must be a function of a workspace, or a class"),
        (action_of, 5, "an action must be a function of a workspace, or a class"),
        (action_of, ImportError("no module"), "ImportError: no module"),
        (operator_of, Base, "an operator must be a function"),
        (operator_of, ImportError("no module"), "ImportError: no module"),
    ],
)
def test_it_says_what_is_wrong_with_a_word(understood: Any, found: Any, part: str) -> None:
    with pytest.raises(InvalidParameterValue) as error:
        load_words("group", [Point("word", found)], understood)
    assert part in str(error.value)
    assert "word (somewhere:thing)" in str(error.value)


def test_it_says_when_there_are_no_words_at_all() -> None:
    with pytest.raises(InvalidParameterValue, match="No entry point of no.such.group is installed"):
        require_some(Words("no.such.group", action_of))


def test_it_refuses_a_name_that_two_packages_publish() -> None:
    points: list[Any] = [Point("word", Deed), Point("word", Deed), Point("word", Deed, "elsewhere:thing")]
    with pytest.raises(InvalidParameterValue, match="word is published for somewhere:thing and for elsewhere:thing"):
        load_words("group", points, action_of)


def plugin(act: Callable[[Any, Any], None], **options: Any) -> Any:
    """Return a class of a third party whose instances do this."""

    class Plugin(Base):
        def __call__(self, task: Any, rule: Any, value: Any = None) -> None:
            act(task, rule)

    for name, value in options.items():
        setattr(Plugin, name, value)
    return Plugin


def outcome_of(act: Callable[[Any, Any], None], masking: Any = "always", known: Any = None) -> Any:
    """Return what a rule comes to whose only action is this one."""
    made = check_rule(rule([{"op": "log", "args": ["x"]}]))
    (deed,) = made.actions
    action = action_of("odd", plugin(act))
    swapped = made.__class__(
        **{name: getattr(made, name) for name in made.__slots__} | {"actions": (deed.__class__(action, (), None),)}
    )
    return evaluate([swapped], known or facts(), masking=masking)


def test_what_a_plug_in_changes_becomes_the_same_changes_as_ours() -> None:
    def act(task: Any, rule: Any) -> None:
        task.node.extra["list"].append("b")
        task.node.extra["deep"]["er"] = 2
        del task.node.extra["list"][0:0]
        task.node.name = "new"
        task.ports[0].extra["seen"] = rule.uuid
        task.plugin_data["nested"].pop("a")
        task.inventory["cpu"]["count"] = 0

    outcome = outcome_of(act)
    assert outcome.failure is None
    assert outcome.changes.node == [
        {"op": "add", "path": "/name", "value": "new"},
        {"op": "add", "path": "/extra/list/-", "value": "b"},
        {"op": "add", "path": "/extra/deep/er", "value": 2},
    ]
    assert list(outcome.changes.ports) == [PORT]
    assert outcome.changes.plugin_data == [{"op": "remove", "path": "/nested/a"}]


@pytest.mark.parametrize(
    ("act", "part"),
    [
        (lambda task, rule: setattr(task.node, "reservation", "me"), "rules can't write field 'reservation' of a node"),
        (
            lambda task, rule: setattr(task.node, "owner", task.inventory["cpu"]["architecture"]),
            "/owner of the node can't be set to what a machine reported",
        ),
        (lambda task, rule: setattr(task.node, "uuid", "x"), "rules can't write field 'uuid' of a node"),
        (lambda task, rule: task.node.traits.append("CUSTOM_X"), "rules can't write field 'traits' of a node"),
        (lambda task, rule: setattr(task.node, "driver", 5), "/driver of the node must be text"),
        (lambda task, rule: task.node.extra.update(a={1, 2}), "/extra/a can't hold a value of type set"),
        (lambda task, rule: task.node.extra.update(a={1: 2}), "can't hold a value of type dict"),
        (lambda task, rule: task.node.nothing, "AttributeError: rules can't read a field nothing"),
        (lambda task, rule: rule.__dict__.update(plugin_data=[]), "the plug-in data must stay an object"),
        (lambda task, rule: 1 // 0, "action odd failed: ZeroDivisionError"),
        (lambda task, rule: task.node.extra.update(a=["x"] * 3_000_000), "steps that all of them may take together"),
    ],
)
def test_a_plug_in_can_do_no_more_than_our_actions(act: Any, part: str) -> None:
    assert part in why(outcome_of(act))


def test_a_plug_in_sees_no_secrets_and_harms_none() -> None:
    seen: list[Any] = []
    hidden = NODE | {"extra": {"users": [{"password": "hunter2"}, {"password": "hunter3"}]}}

    def drop(task: Any, rule: Any) -> None:
        seen.append(str(vars(rule)["_workspace"] and task.node._data))
        task.node.extra["users"].pop()

    assert "/extra/users holds secrets" in why(outcome_of(drop, known=facts(node=hidden)))
    assert outcome_of(drop, masking="never", known=facts(node=hidden)).failure is None
    assert "hunter" not in seen[0]
    assert "hunter" in seen[1]


def test_a_plug_in_never_writes_to_the_rule_or_the_facts() -> None:
    known = facts()

    def act(task: Any, rule: Any) -> None:
        task.inventory["cpu"].clear()
        task.node.extra["list"].clear()

    outcome_of(act, known=known)
    assert known == facts()


@pytest.mark.demand("S143")
def test_only_the_arguments_that_a_plug_in_names_are_templates() -> None:
    def act(task: Any, rule: Any) -> None: ...

    def rendered(action: Any) -> Any:
        (argument,) = action.signature.bind({"value": "{a}"}, ["a"])
        return argument.template.render(Scope({"a": 1}), Workspace(facts(ports=PORTS), "always").budget)

    assert InspectionRuleActionBase.formatted_params == []
    assert rendered(action_of("plain", plugin(act))) == "{a}"
    assert rendered(action_of("formatted", plugin(act, formatted_params=["value"]))) == 1


def test_a_strangers_operator_that_fails_fails_the_rule_alone() -> None:
    def odd(value: Any) -> bool:
        return bool(1 // value)

    odd.__module__ = "acme"
    operator = operator_of("odd", odd)
    assert operator.function(value=1) is True
    with pytest.raises(Exception, match="operator odd failed: ZeroDivisionError"):
        operator.function(value=0)
