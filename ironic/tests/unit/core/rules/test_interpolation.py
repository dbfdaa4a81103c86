"""Expressions in arguments: what they yield, what is refused, what can't be done with them."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules import check_rule
from ironic.core.rules.interpolation import BadExpression, Scope, pattern_template, template, text_template
from ironic.core.rules.limits import TEXT_LENGTH, Budget, RuleFault
from ironic.tests.unit.core.rules.lab import act, facts, rule, why

NAMES = {"node", "inventory", "plugin_data", "ports", "item"}
SCOPE: dict[str, Any] = {
    "node": {"name": "n1", "list": [1, "two"], "number": 8, "flag": True, "none": None, "0": "zero", "a.b": "dots"},
    "inventory": {"interfaces": [{"mac_address": "m0"}, {"mac_address": "m1"}]},
    "plugin_data": {"expression": "{node.name}", "braces": "{{}}", "a b/c": 1},
}


def render(value: Any) -> Any:
    return template(value, NAMES).render(Scope(SCOPE).with_item("it", reported=False), Budget())


@pytest.mark.demand("S129", "S132")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{node.name}", "n1"),
        ("{node[name]}", "n1"),
        ("{node.number}", 8),
        ("{node.flag}", True),
        ("{node.list}", [1, "two"]),
        ("{node.list[1]}", "two"),
        ("{node.list.0}", 1),
        ("{node[0]}", "zero"),
        ("{node[a.b]}", "dots"),
        ("{plugin_data[a b/c]}", 1),
        ("{inventory[interfaces][1][mac_address]}", "m1"),
        ("{inventory[interfaces]}", [{"mac_address": "m0"}, {"mac_address": "m1"}]),
        ("{item}", "it"),
        ("x {node.name} y {node.number}", "x n1 y 8"),
        ("https://{node.name}", "https://n1"),
        ("{node.name}{node.name}", "n1n1"),
        (" {node.number}", " 8"),
        ("{node.flag}!", "True!"),
        ("l={node.list}", 'l=[1, "two"]'),
        ("{{node.name}}", "{node.name}"),
        ("{{{node.name}}}", "{n1}"),
        ("a{{b}}c", "a{b}c"),
    ],
)
def test_it_fills_in_expressions(text: str, expected: Any) -> None:
    result = render(text)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.demand("S129")
@pytest.mark.parametrize(
    "text",
    [
        "{node.gone}",
        "{node.none}",
        "{node.name.more}",
        "{node.number[0]}",
        "{node.list[2]}",
        "{node.list[-1]}",
        "{node.list[1x]}",
        "{node.list[0:1]}",
        "{node.list[99999999999999999999]}",
        "{node.list[²]}",
        "{ports}",
        "{node.name[0]}",
        "{node.keys}",
        "{node.name.upper}",
        "{node.list.append}",
        "{inventory.__class__}",
        "{node.number[__class__][__base__]}",
    ],
)
def test_it_takes_what_is_missing_for_none_and_for_nothing_within_text(text: str) -> None:
    assert render(text) is None
    assert render(f"<{text}>") == "<>"


def test_it_fills_in_containers_at_any_depth() -> None:
    assert render({"a": ["{node.number}", {"{node.name}": "{item}!"}], "{{": "}}"}) == {
        "a": [8, {"n1": "it!"}],
        "{": "}",
    }


@pytest.mark.demand("S129")
@pytest.mark.parametrize("text", ["{plugin_data.expression}", "<{plugin_data.expression}>"])
def test_it_reads_no_result_as_an_expression_again(text: str) -> None:
    assert "{node.name}" in render(text)
    assert render("{plugin_data.braces}") == "{{}}"


@pytest.mark.demand("S129", "S131")
@pytest.mark.parametrize(
    "text",
    [
        "{",
        "}",
        "a { b",
        "{}",
        "{ node.name}",
        "{node.name }",
        "{0}",
        "{node!r}",
        "{node.name!s}",
        "{node.name:>10}",
        "{node.name:{item}}",
        "{node.name.upper()}",
        "{node.list[[0]]}",
        "{node['name']}",
        '{node["name"]}',
        "{node.}",
        "{node..name}",
        "{node[]}",
        "{node[name}",
        "{node]name[}",
        "{node name}",
        "{self.node}",
        "{os.environ}",
        "{__builtins__}",
        "{NODE.name}",
        "{node-name}",
        "{{node.name}",
        "{node.name}}",
        "{node" + "[a]" * 33 + "}",
        "{node.name}x" * 200,
    ],
)
def test_it_refuses_what_is_no_expression(text: str) -> None:
    with pytest.raises(BadExpression):
        text_template(text, NAMES)
    with pytest.raises(InvalidParameterValue, match=r"actions\[0\] \(log\): argument 'msg'"):
        check_rule({"actions": [{"op": "log", "args": [text]}]})


@pytest.mark.demand("S131")
@pytest.mark.parametrize(
    "text",
    [
        "{node.__class__}",
        "{node.__class__.__mro__[1].__subclasses__}",
        "{node.__dict__}",
        "{node.keys}",
        "{node.name.__len__}",
        "{inventory.__init__.__globals__}",
        "{ports[0].save}",
    ],
)
def test_it_reaches_no_attribute(text: str) -> None:
    outcome = act("set-plugin-data", ["leak", text])
    assert outcome.changes.plugin_data == [{"op": "add", "path": "/leak", "value": None}]


@pytest.mark.demand("S130")
@pytest.mark.parametrize("name", ["node", "ports", "port_groups"])
def test_it_knows_no_node_in_the_early_phase(name: str) -> None:
    document = rule([{"op": "log", "args": [f"{{{name}}}"]}])
    assert check_rule(document).phase == "main"
    with pytest.raises(InvalidParameterValue, match="unknown name; known: inventory, plugin_data"):
        check_rule(document | {"phase": "early"})


def test_it_knows_an_item_in_loops_only() -> None:
    with pytest.raises(InvalidParameterValue, match="unknown name"):
        check_rule(rule([{"op": "log", "args": ["{item}"]}]))
    with pytest.raises(InvalidParameterValue, match="loop: '{item}' begins with an unknown name"):
        check_rule(rule([{"op": "log", "args": ["{item}"], "loop": ["{item}"]}]))


def test_it_makes_no_text_longer_than_the_bound() -> None:
    known = facts(plugin_data={"long": "x" * (TEXT_LENGTH // 2 + 1)})
    assert "longer than" in why(act("log", ["{plugin_data.long}{plugin_data.long}"], known=known))
    assert act("log", ["{plugin_data.long}"], known=known).failure is None


def test_it_pays_for_large_containers_before_they_become_text() -> None:
    with pytest.raises(RuleFault, match="steps that all of them may take together"):
        text_template("x{node.big}", NAMES).render(Scope({"node": {"big": [[0] * 100] * 100}}), Budget(1000))


@pytest.mark.parametrize(
    ("regex", "expected"),
    [
        (r"^[0-9]{3}$", r"^[0-9]{3}$"),
        (r"a{1,}b{2,3}", r"a{1,}b{2,3}"),
        (r"\{\}", r"\{\}"),
        (r"\\{2}", r"\\{2}"),
        (r"\p{Greek}\x{10FFFF}", r"\p{Greek}\x{10FFFF}"),
        (r"^{node.name}{2}$", r"^n1{2}$"),
        ("{{", "{"),
    ],
)
def test_it_leaves_the_braces_of_regular_expressions_alone(regex: str, expected: str) -> None:
    assert pattern_template(regex, NAMES).render(Scope(SCOPE).with_item("it", reported=False), Budget()) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
NASTY = st.text(alphabet=string.printable + "{}[].!:é²", max_size=60)
LIKELY = st.lists(
    st.sampled_from(["{", "}", "{{", "}}", "node", "item", ".", "[", "]", "0", "name", "list", "x", "!", ":", " "]),
    max_size=12,
).map("".join)


@given(NASTY | LIKELY, JSON)
def test_it_either_refuses_text_or_renders_it(text: str, data: Any) -> None:
    scope = {"node": data, "item": [data], "inventory": {"x": data}}
    for made_by in (text_template, pattern_template):
        try:
            made = made_by(text, NAMES)
        except BadExpression:
            continue
        result = made.render(Scope(scope), Budget())
        assert result is None or isinstance(result, str | int | float | bool | list | dict)


@given(JSON)
def test_it_keeps_values_without_expressions_as_they_are(value: Any) -> None:
    escaped = _escaped(value)
    assert render(escaped) == value


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, list):
        return [_escaped(one) for one in value]
    if isinstance(value, dict):
        return {_escaped(key): _escaped(one) for key, one in value.items()}
    return value
