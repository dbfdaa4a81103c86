"""The operators of conditions in the dialect of the standalone inspector.

The inspected value is converted to the type of the reference value when that is a number (S179). A value that can't be
converted, or can't be compared, fails the condition as a missing one does, whether the condition is inverted or not.
Some operators share their function with those of the rule language.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ironic.core.rules import operators
from ironic.core.rules.argument_kinds import KINDS, Network
from ironic.core.rules.limits import weight
from ironic.core.rules.patterns import Pattern

_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]{1,40}\s*")
_NUMBER: Final = re.compile(r"\s*[+-]?[0-9]{1,40}(?:\.[0-9]{0,40})?(?:[eE][+-]?[0-9]{1,3})?\s*")
_LONGEST_NUMBER: Final = 128  # characters, blanks around it included


class Unfit(Exception):
    """The inspected value can't be compared with the reference."""


@dataclass(frozen=True, slots=True)
class Check:
    """An operator: function of the inspected value and the reference, how to prepare the reference, cost."""

    name: str
    holds: Callable[[Any, Any], bool]
    prepare: Callable[[Any], Any]
    cost: Callable[[Any, Any, int], int]
    takes_value: bool = True
    allows_none: bool = False


def converted(value: object, reference: object) -> Any:
    """Return the inspected value in the type of a reference that is a number; raises Unfit."""
    if isinstance(reference, bool) or not isinstance(reference, int | float):
        return value
    whole = isinstance(reference, int)
    if isinstance(value, str):
        if len(value) > _LONGEST_NUMBER or not (_WHOLE if whole else _NUMBER).fullmatch(value):
            raise Unfit
    elif not isinstance(value, int | float):
        raise Unfit
    number = int(value) if whole else float(value)
    if math.isinf(number):
        raise Unfit
    return number


def _comparing(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def holds(value: object, reference: object) -> bool:
        try:
            return bool(compare(converted(value, reference), reference))
        except TypeError:
            raise Unfit from None

    return holds


def _in_network(value: object, subnet: Network) -> bool:
    return operators.in_net(value, subnet)


def _is_empty(value: object, reference: None) -> bool:
    return operators.is_empty(value)


def _any_value(value: Any) -> Any:
    return value


def _address_cost(value: object, reference: object, most: int) -> int:
    return operators.address_cost({}, most)


def _compare_cost(value: object, reference: object, most: int) -> int:
    return weight(value, most) + weight(reference, most)


def _match_cost(value: object, reference: Pattern, most: int) -> int:
    return operators.match_cost({"value": value, "regex": reference}, most)


def _no_cost(value: object, reference: object, most: int) -> int:
    return 0


def _all() -> dict[str, Check]:
    compared = {
        name: Check(name, _comparing(getattr(operator, name)), _any_value, _compare_cost)
        for name in ("lt", "le", "eq", "ne", "ge", "gt")
    }
    network, pattern = KINDS[Network], KINDS[Pattern]
    in_net = {name: Check(name, _in_network, network.accept, _address_cost) for name in ("net", "in-net")}
    matching = {
        name: Check(name, function, pattern.accept, _match_cost)
        for name, function in (("matches", operators.matches), ("contains", operators.contains))
    }
    empty = Check("is-empty", _is_empty, _any_value, _no_cost, takes_value=False, allows_none=True)
    return {**compared, **in_net, **matching, empty.name: empty}


CHECKS: Final[Mapping[str, Check]] = _all()
