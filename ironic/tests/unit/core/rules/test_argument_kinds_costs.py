"""No operator and no action takes long or much memory, whatever it is given: CPU time and memory are measured.

The tables are those of the installed words, so a new operator or action is measured without being named here.
"""

import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules import ACTIONS, OPERATORS, CompiledRule, Facts, Outcome, check_rule, evaluate
from ironic.core.rules.argument_kinds import RegexKind, SubnetKind
from ironic.core.rules.signatures import Parameter
from ironic.tests.unit.core.rules.lab import PORTS, rule

MILLION = 1_000_000
# Yardsticks that one comparison or action may take, which may hold the interpreter meanwhile: 0.1 s of CPU time on a
# quiet machine of today.
LONGEST = 40.0
MOST_MEMORY = 48 * 1024 * 1024


def nested(depth: int, width: int) -> Any:
    value: Any = list(range(width))
    for _ in range(depth):
        value = [value, list(range(width))]
    return value


HUGE: dict[str, Any] = {
    "blanks": " " * MILLION,
    "digits": "9" * MILLION,
    "padded": " " * (MILLION // 2) + "7" + " " * (MILLION // 2),
    "colons": "1:" * (MILLION // 2),
    "emoji": "\U0001f600" * MILLION,
    "surrogates": "\ud800" * MILLION,
    "zeros": "\0" * MILLION,
    "letters": "ab" * (MILLION // 2),
    "deep": nested(50, 900),
    "deep_too": nested(50, 900),
    "too_deep": nested(100, 1),
    "numbers": list(range(50_000)),
    "words": ["yes"] * 50_000,
    "empty": [{}] * 40_000,
    "long_texts": ["\0" * 30_000] * 30,
    "object": {f"k{number}": number for number in range(50_000)},
    "long_key": {"k" * MILLION: 1},
    "small": "x",
    "number": 7,
}
PATTERNS = [
    "(?i)dell",
    "(a|b)*a(a|b){20}c",
    r"\s*[ab]{500}\s*[ab]*",
    "(?s).*a.{255}x|.*b.{255}y",
    r"(\pL{9}\PN{9})+x",
    "(a*)*(a|aa)+b",
    "[ab]*a[ab]{4}c",
    "[^a]{900}",
    "(a?)" * 900,
    "{inventory[letters]}",
    "{inventory[small]}+",
    "(?i)" + r"\pL" * 60,
]
FACTS = Facts(
    inventory=HUGE,
    plugin_data={"list": []},
    node={"extra": {}, "properties": {"capabilities": "a:b," * 15_000}, "traits": []},
    ports=PORTS,
)
PLAIN = {
    "path": "/extra/a",
    "name": "CUSTOM_A",
    "msg": "m",
    "port_id": PORTS[0]["address"],
    "url": "http://h/",
    "level": "info",
}
# What memory is measured with: it makes everything many times slower.
HEAVY = ("emoji", "long_texts", "empty", "object")
FOR_ACTIONS = (*HEAVY, "blanks", "zeros", "deep", "too_deep", "numbers", "long_key")


def expression(name: str) -> str:
    return f"{{inventory[{name}]}}"


def candidates(parameter: Parameter) -> list[Any]:
    """Return what is tried for one argument of an operator."""
    if isinstance(parameter.kind, RegexKind):
        return PATTERNS
    if isinstance(parameter.kind, SubnetKind):
        return ["::/0", expression("colons"), expression("digits")]
    if parameter.several:
        beside = ("small", "number", "words", "long_texts", "deep_too")
        pairs = [[expression(one), expression(other)] for one, other in product(HUGE, beside)]
        return [*pairs, *map(expression, HUGE), [expression("blanks")] * 900]
    if parameter.name == "values":
        lists = ("numbers", "words", "long_texts", "deep_too", "empty", "blanks")
        return [*map(expression, lists), [expression("letters")] * 900, list(range(2000))]
    return list(map(expression, HUGE))


def conditions(op: str) -> Iterator[CompiledRule]:
    """Make rules of one condition, with everything that its operator may be given."""
    parameters = OPERATORS[op].signature.parameters
    flags = [one.name for one in parameters if not one.required and not one.positional]
    tried = [one for one in parameters if one.name not in flags]
    for values in product(*map(candidates, tried)):
        for flag in [{}, *({name: True} for name in flags)]:
            args = dict(zip((one.name for one in tried), values, strict=True)) | flag
            try:
                yield check_rule(rule(conditions=[{"op": op, "args": args}]))
            except InvalidParameterValue:
                continue


def deeds(op: str, names: Iterable[str] = FOR_ACTIONS) -> Iterator[CompiledRule]:
    """Make rules of one action, each argument of it being huge in turn, as a whole and within longer text."""
    needed = [one.name for one in ACTIONS[op].signature.parameters if one.required]
    for name, huge in product(needed, map(expression, names)):
        for value in (huge, f"{PLAIN.get(name, '')}/{huge}"):
            args = {one: PLAIN.get(one, "v") for one in needed} | {name: value}
            try:
                yield check_rule(rule([{"op": op, "args": args}]))
            except InvalidParameterValue:
                continue


def yardsticks(work: Callable[[], object]) -> float:
    """Return the CPU time of work, as a multiple of what a hundred thousand additions take on this machine now."""
    began = time.thread_time()
    work()
    ended = time.thread_time()
    sum(number & 1 for number in range(MILLION // 10))
    return (ended - began) / (time.thread_time() - ended)


def spent(made: CompiledRule, allowed: float) -> tuple[float, Outcome]:
    """Return the yardsticks that a rule takes, at best: what a busy machine adds is not the rule's."""
    best, outcomes = float("inf"), list[Outcome]()
    for _ in range(12):
        best = min(best, yardsticks(lambda: outcomes.append(evaluate([made], FACTS, masking="never"))))
        if best < allowed:
            break
    return best, outcomes[-1]


def memory(made: CompiledRule) -> int:
    """Return the bytes that a rule takes at most while it runs."""
    tracemalloc.start()
    try:
        evaluate([made], FACTS, masking="never")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("op", sorted(OPERATORS))
def test_no_verdict_takes_long(op: str) -> None:
    tried = list(conditions(op))
    assert tried
    for made in tried:
        taken, outcome = spent(made, LONGEST)
        assert taken < LONGEST, (made.conditions[0].args, outcome.failure)


@pytest.mark.parametrize("op", sorted(OPERATORS))
def test_no_verdict_takes_much_memory(op: str) -> None:
    heavy = [made for made in conditions(op) if sum(name in str(made.conditions[0].args) for name in HEAVY)]
    for made in heavy[:: 1 + len(heavy) // 10]:
        assert memory(made) < MOST_MEMORY, made.conditions[0].args


@pytest.mark.parametrize("op", sorted(ACTIONS))
def test_no_action_takes_long_or_much_memory(op: str) -> None:
    tried = list(deeds(op))
    assert tried
    for made in tried:
        taken, outcome = spent(made, LONGEST)
        assert taken < LONGEST, (op, outcome.failure)
    heavy = list(deeds(op, HEAVY))
    for made in heavy[::2]:
        assert memory(made) < MOST_MEMORY, op


@pytest.mark.parametrize(
    ("condition", "limit"),
    [
        (
            {"op": "eq", "args": [expression("numbers"), expression("words")]},
            "60000 steps that one comparison may take",
        ),
        ({"op": "contains", "args": [expression("letters"), PATTERNS[1]]}, "60000 steps that one comparison may take"),
        (
            {"op": "contains", "args": [expression("long_texts"), PATTERNS[1]]},
            "60000 steps that one comparison may take",
        ),
        ({"op": "eq", "args": ["x" + expression("blanks"), 1]}, "longer than 65536 characters"),
        ({"op": "contains", "args": ["x", "x" * 4000 + "{inventory[blank]}"]}, "longer than 4096 characters"),
        ({"op": "eq", "args": [expression("too_deep"), 1]}, "nested more than 64 levels"),
        (
            {"op": "!eq", "args": ["{item}", -1], "loop": expression("numbers"), "multiple": "all"},
            "more than the 2000000 steps",
        ),
    ],
)
def test_what_is_refused_says_which_limit_was_hit(condition: dict[str, Any], limit: str) -> None:
    known = Facts(HUGE | {"blank": " " * 100}, {}, {"extra": {}})
    failure = evaluate([check_rule(rule(conditions=[condition] * 4))], known).failure
    assert failure is not None
    assert limit in str(failure)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a" * 4097, "longer than 4096 characters"),
        (r"\pL" * 65, "more than 64 Unicode classes"),
        ("[^a]{900}" * 20, "too large"),
        (r"(?:.{30}){30}" * 100, "too large"),
    ],
)
def test_a_pattern_that_is_too_large_is_refused_when_it_is_posted(text: str, reason: str) -> None:
    def refused() -> None:
        with pytest.raises(InvalidParameterValue, match=reason):
            check_rule(rule(conditions=[{"op": "contains", "args": ["x", text]}]))

    assert yardsticks(refused) < 2 * LONGEST


@pytest.mark.parametrize(
    ("value", "regex", "expected"),
    [
        ("a.c", "^{inventory[x]}$", True),
        ("abc", "^{inventory[x]}$", False),
        ("a.ca.c", "(?:{inventory[x]}){{2}}", True),
        ("a.c", "{inventory[x]}", True),
        ("abc", "{inventory[x]}", False),
        ("abc", "{plugin_data[mine]}", True),
        ("abc", "{item}", True),
    ],
)
def test_what_a_machine_reported_matches_itself_only(value: str, regex: str, expected: bool) -> None:
    first = rule([{"op": "set-plugin-data", "args": ["/mine", "a.c"]}])
    second = rule([{"op": "fail", "args": ["yes"]}], [{"op": "contains", "args": [value, regex], "loop": ["a.c"]}])
    made = [check_rule(one) for one in (first, second)]
    outcome = evaluate(made, Facts(inventory={"x": "a.c"}, plugin_data={}, node={}))
    assert (outcome.failure is not None) is expected
