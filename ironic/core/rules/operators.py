"""The operators of conditions, and the cost of a comparison in steps.

An operator is one function of plain values: its signature is its schema, the name of its entry point is its name. A
missing value is None: it equals only None, is neither less nor greater than anything, is in no network and matches no
expression.

The cost of a comparison is computed from its arguments before it is made. Each operator names its cost function with
`costs`; a cost function may stop counting beyond ``most`` steps, which are refused anyway.
"""

import ipaddress
import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ironic.core.rules.argument_kinds import Network, VarArgs
from ironic.core.rules.interpolation import as_text
from ironic.core.rules.limits import PARSING, RuleFault, depth_of, quoted, weight
from ironic.core.rules.patterns import Pattern

_STEPS_PER_PAIR: Final = 2
_BYTES_PER_STEP: Final = 32  # of the text that a value with this weight becomes

Cost = Callable[[Mapping[str, Any], int], int]


def constant_cost(values: Mapping[str, object], most: int) -> int:
    """Return no steps, for operators whose work does not grow with the value."""
    return 0


def address_cost(values: Mapping[str, object], most: int) -> int:
    """Return the steps of parsing an address, whose length is limited."""
    return PARSING


def scan_cost(values: Mapping[str, object], most: int) -> int:
    """Return the steps of an operator that reads each part of its arguments once."""
    steps = 0
    for value in values.values():
        steps += weight(value, most - steps)
    return steps


def pairs_cost(values: Mapping[str, object], most: int) -> int:
    """Return the steps of an operator that compares the items of a list in pairs."""
    listed = values.get("values")
    pairs = 0
    if isinstance(listed, list):
        pairs = len(listed[0] if len(listed) == 1 and isinstance(listed[0], list) else listed)
    return _STEPS_PER_PAIR * pairs + scan_cost(values, most)


def order_cost(values: Mapping[str, object], most: int) -> int:
    """Return the steps of an order: nested lists are compared once for each of their levels."""
    steps = pairs_cost(values, most)
    return steps if steps > most else steps * depth_of(list(values.values()))


def match_cost(values: Mapping[str, object], most: int) -> int:
    """Return the steps of matching a regular expression with the text of a value."""
    value, regex = values.get("value"), values.get("regex")
    steps = weight(value, most)
    if steps > most or not isinstance(regex, Pattern):
        return steps
    if isinstance(value, str):
        return steps + regex.steps(len(value) * (1 if value.isascii() else 4))
    return steps + regex.steps((steps + 1) * _BYTES_PER_STEP)


def costs(cost: Cost) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Return a decorator that sets the cost function of an operator."""

    def mark(operator: Callable[..., bool]) -> Callable[..., bool]:
        operator.costs = cost  # type: ignore[attr-defined]  # an attribute of the function
        return operator

    return mark


def cost_of(operator: Callable[..., bool]) -> Cost:
    """Return the cost function of an operator; by default it reads all of its arguments once."""
    return getattr(operator, "costs", scan_cost)


_NUMBER: Final = re.compile(r"\s*[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?\s*")
_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]+\s*")
_LONGEST_NUMBER: Final = 128  # characters, blanks around it included
_LONGEST_ADDRESS: Final = 128
_LONGEST_WORD: Final = len("false")


@costs(pairs_cost)
def eq(values: VarArgs, *, force_strings: bool = False) -> bool:
    """Return whether all values are equal."""
    return all(same(*pair) for pair in _neighbours(values, force_strings))


@costs(order_cost)
def lt(values: VarArgs, *, force_strings: bool = False) -> bool:
    """Return whether every value is less than the next."""
    return all(_less(*pair) for pair in _neighbours(values, force_strings))


@costs(order_cost)
def gt(values: VarArgs, *, force_strings: bool = False) -> bool:
    """Return whether every value is greater than the next."""
    return all(_less(second, first) for first, second in _neighbours(values, force_strings))


@costs(constant_cost)
def is_empty(value: Any) -> bool:
    """Return whether the value is missing, or an empty text, list or object."""
    return value is None or (isinstance(value, str | list | dict) and not value)


@costs(constant_cost)
def is_none(value: Any) -> bool:
    """Return whether the value is missing."""
    return value is None


@costs(constant_cost)
def is_true(value: Any) -> bool:
    """Return whether the value means yes: true, a number that is not zero, "yes" or "true" in any case."""
    if isinstance(value, str):
        return _word(value) in ("yes", "true")
    return isinstance(value, int | float) and value != 0


@costs(constant_cost)
def is_false(value: Any) -> bool:
    """Return whether the value means no: false, zero, missing, "no" or "false" in any case."""
    if isinstance(value, str):
        return _word(value) in ("no", "false")
    return value is None or (isinstance(value, int | float) and value == 0)


@costs(address_cost)
def in_net(address: Any, subnet: Network) -> bool:
    """Return whether the address is in the subnet."""
    if not isinstance(address, str) or len(address) > _LONGEST_ADDRESS:
        return False
    try:
        return ipaddress.ip_address(address.split("%")[0]) in subnet
    except ValueError:
        return False


@costs(match_cost)
def contains(value: Any, regex: Pattern) -> bool:
    """Return whether the regular expression matches somewhere in the value."""
    return value is not None and regex.found_in(as_text(value))


@costs(match_cost)
def matches(value: Any, regex: Pattern) -> bool:
    """Return whether the regular expression matches the whole value."""
    return value is not None and regex.covers(as_text(value))


@costs(pairs_cost)
def one_of(value: Any, values: Sequence[Any] = ()) -> bool:
    """Return whether the value equals an item of the list."""
    return any(same(value, one) for one in values)


def same(first: Any, second: Any) -> bool:
    """Compare like eq: text and a number as numbers if the text is a number, all other values as they are."""
    one, other = _comparable(first, second)
    return bool(one == other)


def _word(text: str) -> str:
    """Return a text in lower case; empty if it is longer than the words that mean yes or no."""
    return text.lower() if len(text) <= _LONGEST_WORD else ""


def _neighbours(values: list[Any], force_strings: bool) -> "itertools.pairwise[Any]":
    """Return the pairs to compare; a single list stands for its items, as in rules written for the reference."""
    spread = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    return itertools.pairwise([as_text(value) for value in spread] if force_strings else spread)


def _less(first: Any, second: Any) -> bool:
    if first is None or second is None:
        return False
    one, other = _comparable(first, second)
    try:
        return bool(one < other)
    except TypeError:
        raise RuleFault(f"{quoted(first)} and {quoted(second)} can't be compared") from None


def _comparable(first: Any, second: Any) -> tuple[Any, Any]:
    """Return both values; if one is a number, the other one is converted from text if possible."""
    if isinstance(first, str) and _is_number(second):
        return _number(first), second
    if isinstance(second, str) and _is_number(first):
        return first, _number(second)
    return first, second


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str) -> Any:
    """Return the number in a text, or the text if it is none."""
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return text
    number = int(text) if _WHOLE.fullmatch(text) else float(text)
    return number if math.isfinite(number) else text
