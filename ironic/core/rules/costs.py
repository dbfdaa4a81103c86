"""What one verdict of an operator costs, told from its arguments before it is done.

An operator names one of these functions. Each returns steps, and need not count beyond ``most``, which are too many in
any case.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ironic.core.rules.limits import PARSING, depth_of, weight
from ironic.core.rules.patterns import Pattern

_STEPS_PER_PAIR: Final = 2
_BYTES_PER_STEP: Final = 32  # of the text that a value with this weight becomes

Cost = Callable[[Mapping[str, Any], int], int]


def at_a_glance(values: Mapping[str, object], most: int) -> int:
    """Return the steps of an operator whose work doesn't grow with what is in a value."""
    return 0


def one_address(values: Mapping[str, object], most: int) -> int:
    """Return the steps of reading an address, which is short."""
    return PARSING


def all_of_it(values: Mapping[str, object], most: int) -> int:
    """Return the steps of an operator that looks at each part of its arguments once."""
    steps = 0
    for value in values.values():
        steps += weight(value, most - steps)
    return steps


def in_pairs(values: Mapping[str, object], most: int) -> int:
    """Return the steps of an operator that compares values one with the other, each a text or number by itself."""
    return _compared(values) + all_of_it(values, most)


def at_every_depth(values: Mapping[str, object], most: int) -> int:
    """Return the steps of an order: lists are compared once more for each level that they are nested."""
    steps = in_pairs(values, most)
    return steps if steps > most else steps * depth_of(list(values.values()))


def _compared(values: Mapping[str, object]) -> int:
    """Return the steps of finding out, for each item of a list, how it is compared."""
    listed = values.get("values")
    if not isinstance(listed, list):
        return 0
    spread = listed[0] if len(listed) == 1 and isinstance(listed[0], list) else listed
    return _STEPS_PER_PAIR * len(spread)


def in_text(values: Mapping[str, object], most: int) -> int:
    """Return the steps of a match in the text that a value is."""
    value, regex = values.get("value"), values.get("regex")
    steps = weight(value, most)
    if steps > most or not isinstance(regex, Pattern):
        return steps
    if isinstance(value, str):
        return steps + regex.steps(len(value) * (1 if value.isascii() else 4))
    return steps + regex.steps((steps + 1) * _BYTES_PER_STEP)


def costs(steps: Cost) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Say what an operator costs: a function of its arguments, and of the steps beyond which it need not count."""

    def mark(judge: Callable[..., bool]) -> Callable[..., bool]:
        judge.costs = steps  # type: ignore[attr-defined]  # functions carry what is hung on them
        return judge

    return mark


def cost_of(judge: Callable[..., bool]) -> Cost:
    """Return what an operator costs; one that says nothing looks at everything."""
    return getattr(judge, "costs", all_of_it)
