"""The operators of conditions: one function each, whose signature is its schema and whose entry point is its name.

Operators judge plain values and know nothing of rules. What is missing is None: it equals nothing but None, is less
or greater than nothing, lies in no network and matches no expression.
"""

import ipaddress
import itertools
import math
import re
from collections.abc import Sequence
from typing import Any, Final

from ironic.core.rules.costs import at_a_glance, at_every_depth, costs, in_pairs, in_text, one_address
from ironic.core.rules.faults import RuleFault, quoted
from ironic.core.rules.interpolation import as_text
from ironic.core.rules.kinds import Network, Several
from ironic.core.rules.patterns import Pattern

_NUMBER: Final = re.compile(r"\s*[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?\s*")
_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]+\s*")
_LONGEST_NUMBER: Final = 128  # characters, blanks around it included
_LONGEST_ADDRESS: Final = 128
_LONGEST_WORD: Final = len("false")


@costs(in_pairs)
def eq(values: Several, *, force_strings: bool = False) -> bool:
    """Tell whether all values are equal."""
    return all(same(*pair) for pair in _neighbours(values, force_strings))


@costs(at_every_depth)
def lt(values: Several, *, force_strings: bool = False) -> bool:
    """Tell whether every value is less than the next."""
    return all(_less(*pair) for pair in _neighbours(values, force_strings))


@costs(at_every_depth)
def gt(values: Several, *, force_strings: bool = False) -> bool:
    """Tell whether every value is greater than the next."""
    return all(_less(second, first) for first, second in _neighbours(values, force_strings))


@costs(at_a_glance)
def is_empty(value: Any) -> bool:
    """Tell whether the value is missing, or an empty text, list or object."""
    return value is None or (isinstance(value, str | list | dict) and not value)


@costs(at_a_glance)
def is_none(value: Any) -> bool:
    """Tell whether the value is missing."""
    return value is None


@costs(at_a_glance)
def is_true(value: Any) -> bool:
    """Tell whether the value says yes: true, a number that is not zero, "yes" or "true" in any case."""
    return _word(value) in ("yes", "true") if isinstance(value, str) else isinstance(value, int | float) and value != 0


@costs(at_a_glance)
def is_false(value: Any) -> bool:
    """Tell whether the value says no: false, zero, missing, "no" or "false" in any case."""
    if isinstance(value, str):
        return _word(value) in ("no", "false")
    return value is None or (isinstance(value, int | float) and value == 0)


@costs(one_address)
def in_net(address: Any, subnet: Network) -> bool:
    """Tell whether the address lies in the subnet."""
    if not isinstance(address, str) or len(address) > _LONGEST_ADDRESS:
        return False
    try:
        return ipaddress.ip_address(address.split("%")[0]) in subnet
    except ValueError:
        return False


@costs(in_text)
def contains(value: Any, regex: Pattern) -> bool:
    """Tell whether the regular expression matches somewhere in the value."""
    return value is not None and regex.found_in(as_text(value))


@costs(in_text)
def matches(value: Any, regex: Pattern) -> bool:
    """Tell whether the regular expression matches the whole value."""
    return value is not None and regex.covers(as_text(value))


@costs(in_pairs)
def one_of(value: Any, values: Sequence[Any] = ()) -> bool:
    """Tell whether the value equals one of the list."""
    return any(same(value, one) for one in values)


def same(first: Any, second: Any) -> bool:
    """Compare as eq does: text with a number as numbers if the text is one, everything else as it is."""
    one, other = _comparable(first, second)
    return bool(one == other)


def _word(text: str) -> str:
    """Return a text in lower case, nothing if it is longer than the words that mean yes or no."""
    return text.lower() if len(text) <= _LONGEST_WORD else ""


def _neighbours(values: list[Any], force_strings: bool) -> "itertools.pairwise[Any]":
    """Return the pairs to compare. A single list is meant as its items: so rules of the reference put it."""
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
    """Return both values, a text beside a number as a number if it is one."""
    if isinstance(first, str) and _is_number(second):
        return _number(first), second
    if isinstance(second, str) and _is_number(first):
        return first, _number(second)
    return first, second


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str) -> Any:
    """Return the number that a text is, else the text."""
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return text
    number = int(text) if _WHOLE.fullmatch(text) else float(text)
    return number if math.isfinite(number) else text
