"""Operators: one table of cases each."""

from typing import Any

import pytest

from ironic.core.rules import OPERATORS
from ironic.core.rules.limits import RuleFault
from ironic.tests.unit.core.rules.lab import holds, rule, run, why

T, F = True, False


@pytest.mark.demand("S133", "S134", "S135", "S136", "S137")
@pytest.mark.parametrize(
    ("value", "is_true", "is_false", "is_none", "is_empty"),
    [
        (True, T, F, F, F),
        (False, F, T, F, F),
        (1, T, F, F, F),
        (-0.5, T, F, F, F),
        (0, F, T, F, F),
        (0.0, F, T, F, F),
        (None, F, T, T, T),
        ("yes", T, F, F, F),
        ("TRUE", T, F, F, F),
        ("No", F, T, F, F),
        ("false", F, T, F, F),
        ("random", F, F, F, F),
        ("1", F, F, F, F),
        ("", F, F, F, T),
        (" ", F, F, F, F),
        ([], F, F, F, T),
        ([0], F, F, F, F),
        ({}, F, F, F, T),
        ({"a": None}, F, F, F, F),
        ("None", F, F, F, F),
    ],
)
def test_it_judges_one_value(value: Any, is_true: bool, is_false: bool, is_none: bool, is_empty: bool) -> None:
    verdicts = [OPERATORS[name].function(value) for name in ("is-true", "is-false", "is-none", "is-empty")]
    assert verdicts == [is_true, is_false, is_none, is_empty]


@pytest.mark.demand("S136", "S137")
def test_it_takes_what_is_missing_for_none_and_empty() -> None:
    for expression in ("{inventory[nothing][here]}", "{node.extra[gone]}", "{ports[7][address]}"):
        assert holds("is-none", [expression])
        assert holds("is-empty", [expression])


@pytest.mark.demand("S138")
@pytest.mark.parametrize(
    ("values", "eq", "lt", "gt"),
    [
        ([1, 1], T, F, F),
        ([1, 1, 1], T, F, F),
        ([1, 1, 2], F, F, F),
        ([1, 2, 3], F, T, F),
        ([3, 2, 1], F, F, T),
        ([2, 3, 3], F, F, F),
        ([8, "8"], T, F, F),
        (["8", 8.0], T, F, F),
        ([8, " 8 "], T, F, F),
        (["10", 9], F, F, T),
        (["2400.5", 2400], F, F, T),
        ([9, "1e1"], F, T, F),
        (["10", "9"], F, T, F),
        (["a", "b"], F, T, F),
        (["a", "a"], T, F, F),
        ([None, None], T, F, F),
        ([None, 1], F, F, F),
        ([1, None], F, F, F),
        ([[1], [1]], T, F, F),
        ([[1], [2]], F, T, F),
        ([5], T, T, T),
        ([[3, 2, 1]], F, F, T),
        ([1.5, 1.5], T, F, F),
        ([2**62, str(2**62)], T, F, F),
    ],
)
def test_it_compares_neighbours(values: list[Any], eq: bool, lt: bool, gt: bool) -> None:
    assert [OPERATORS[name].function(values) for name in ("eq", "lt", "gt")] == [eq, lt, gt]
    assert [holds(name, {"values": values}) for name in ("eq", "lt", "gt")] == [eq, lt, gt]


@pytest.mark.demand("S138")
@pytest.mark.parametrize(
    ("values", "eq", "lt"),
    [([8, "8"], T, F), (["8", 8.0], F, T), ([10, 9], F, T), ([True, "True"], T, F), ([None, ""], T, F)],
)
def test_it_compares_as_text_when_told_to(values: list[Any], eq: bool, lt: bool) -> None:
    assert OPERATORS["eq"].function(values, force_strings=True) is eq
    assert OPERATORS["lt"].function(values, force_strings=True) is lt


@pytest.mark.parametrize("values", [["many", 5], [{}, 1], [[1], "x"], [{"a": 1}, {"a": 2}]])
@pytest.mark.parametrize("op", ["lt", "gt"])
def test_it_fails_on_values_that_have_no_order(op: str, values: list[Any]) -> None:
    with pytest.raises(RuleFault, match="can't be compared"):
        OPERATORS[op].function(values)
    assert OPERATORS["eq"].function(values) is False


@pytest.mark.parametrize("text", ["1_000", "٣", "0x10", "nan", "inf", "1e999", "", "1 2", "9" * 5000])
def test_it_takes_only_plain_decimal_text_for_a_number(text: str) -> None:
    assert OPERATORS["eq"].function([text, 1000]) is False


@pytest.mark.demand("S139")
@pytest.mark.parametrize(
    ("address", "subnet", "expected"),
    [
        ("192.0.2.7", "192.0.2.0/24", T),
        ("192.0.3.7", "192.0.2.0/24", F),
        ("192.0.2.7", "192.0.2.99/24", T),
        ("2001:db8::1", "2001:db8::/32", T),
        ("fe80::1%eth0", "fe80::/10", T),
        ("192.0.2.7", "2001:db8::/32", F),
        ("{inventory[bmc_address]}", "192.0.2.0/24", T),
        ("{inventory[bmc_v6address]}", "2001:db8::/32", F),
        ("::/0", "::/0", F),
        ("nonsense", "192.0.2.0/24", F),
        ("", "192.0.2.0/24", F),
        ("{inventory[cpu]}", "192.0.2.0/24", F),
        ("{inventory[cpu][count]}", "0.0.0.0/0", F),
    ],
)
def test_it_tells_whether_an_address_lies_in_a_subnet(address: str, subnet: str, expected: bool) -> None:
    assert holds("in-net", [address, subnet]) is expected


def test_it_fails_on_a_subnet_that_turns_out_to_be_none() -> None:
    outcome = run(rule(conditions=[{"op": "in-net", "args": ["192.0.2.7", "{node.name}"]}]))
    assert "argument 'subnet': must be a subnet" in why(outcome)


@pytest.mark.demand("S140", "S141")
@pytest.mark.parametrize(
    ("value", "regex", "contains", "matches"),
    [
        ("Dell Inc.", "(?i)dell", T, F),
        ("Dell Inc.", "(?i)dell.*", T, T),
        ("Dell Inc.", "Dell$", F, F),
        ("ab", "a|ab", T, T),
        ("inr-1", "inr-[0-9]", T, T),
        ("inr-12", "inr-[0-9]", T, F),
        ("inr-12", "inr-[0-9]{2}", T, T),
        ("a\nb", "a", T, F),
        ("a\n", "a", T, F),
        ("", "", T, T),
        ("{inventory[cpu][count]}", "8", T, T),
        ("{inventory[nothing]}", ".*", F, F),
        ("x{{y", r"\{", T, F),
        ("été", "^.t.$", T, T),
        ("αβ", r"\p{Greek}{2}", T, T),
    ],
)
def test_it_matches_regular_expressions(value: str, regex: str, contains: bool, matches: bool) -> None:
    assert holds("contains", [value, regex]) is contains
    assert holds("matches", [value, regex]) is matches


@pytest.mark.demand("S140")
def test_it_matches_in_time_that_does_not_explode() -> None:
    # With a backtracking engine this would not end within the age of the universe.
    assert not holds("matches", ["a" * 30_000, "(a*)*(a|aa)+b"])


def test_it_takes_a_regular_expression_from_the_facts_and_fails_on_a_bad_one() -> None:
    assert holds("contains", ["rack-17", "^{node.name}[0-9]{{1}}$"])
    outcome = run(rule(conditions=[{"op": "contains", "args": ["x", "({node.name}"]}]))
    assert "argument 'regex': not a regular expression" in why(outcome)


@pytest.mark.demand("S142")
@pytest.mark.parametrize(
    ("value", "values", "expected"),
    [
        ("{inventory[cpu][architecture]}", ["x86_64", "aarch64"], T),
        ("{inventory[cpu][count]}", [4, 8], T),
        ("{inventory[cpu][count]}", ["8"], T),
        ("eth1", ["{inventory[interfaces][0][name]}", "{inventory[interfaces][1][name]}"], T),
        ("x", [], F),
        (None, [None], T),
        ({"a": 1}, [{"a": 1}], T),
        ("a", ["b"], F),
    ],
)
def test_it_finds_a_value_in_a_list(value: Any, values: list[Any], expected: bool) -> None:
    assert holds("one-of", {"value": value, "values": values}) is expected
    # The specification defines it by eq in a loop.
    assert holds("eq", [value, "{item}"], loop=values) is expected
