"""How much work the rules of one evaluation may do, counted in steps and never in seconds.

Counting makes the same input stop at the same place on every machine. A step is about one microsecond of work. The
bounds are far above what sensible rules need: they are there for rules that multiply what a machine reported.
"""

from collections.abc import Mapping
from typing import Any, Final

from ironic.core.rules.faults import RuleFault, TooMuchWork

STEPS: Final = 2_000_000  # per evaluation
JUDGING: Final = 10  # one verdict of an operator, one run of an action
VERDICT: Final = 60_000  # most for one verdict of an operator
WRITING: Final = 60  # one change of a document
PARSING: Final = 20  # one address or network
LOGGING: Final = 1000  # one line of log
CALLING: Final = 200_000  # one call of another service: fewer than ten in a phase
LOG_LENGTH: Final = 4096  # of one line of log
ITEMS_TOLD: Final = 100  # of one loop, in an explanation
TEXT_LENGTH: Final = 65_536  # of one interpolated text
DEPTH: Final = 64  # of anything a rule writes
_CHARACTERS_PER_STEP: Final = 32


class Budget:
    """The work that is left."""

    __slots__ = ("_all", "left")

    def __init__(self, steps: int = STEPS) -> None:
        self._all = self.left = steps

    def spend(self, steps: int) -> None:
        """Take steps off, or stop the rules."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork(
                f"the rules do more work than is allowed: those of one phase have {self._all} steps together; fewer or "
                "smaller loops and copies are needed"
            )


def weight(value: object, most: int, depth: int = DEPTH) -> int:
    """Return the steps that looking at all of a value takes; beyond ``most`` it is not looked at any further."""
    if isinstance(value, str):
        return len(value) // _CHARACTERS_PER_STEP
    if not isinstance(value, dict | list):
        return 0
    if depth == 0:
        raise RuleFault(f"a value is nested more than {DEPTH} levels deep")
    steps = len(value) + 1
    if isinstance(value, dict):
        steps += _length_of_keys(value)
        value = value.values()
    for inner in value:
        if steps > most:
            break
        if isinstance(inner, str):
            steps += len(inner) // _CHARACTERS_PER_STEP
        elif isinstance(inner, dict | list):
            steps += weight(inner, most - steps, depth - 1)
    return steps


def depth_of(value: object) -> int:
    """Return how deep a value is nested, which `weight` has found to be bounded; what is no container counts one."""
    deepest, layer = 1, [value]
    while layer := [inner for outer in layer if isinstance(outer, dict | list) for inner in _inside(outer)]:
        deepest += 1
    return deepest


def _inside(value: object) -> Any:
    return value.values() if isinstance(value, dict) else value


def _length_of_keys(value: Mapping[object, object]) -> int:
    return sum(len(key) for key in value if isinstance(key, str)) // _CHARACTERS_PER_STEP


def pay(value: object, budget: Budget, times: int = 1) -> None:
    """Pay for work that grows with a value."""
    budget.spend(weight(value, budget.left) * times)


def copied(value: object, budget: Budget, depth: int = DEPTH) -> Any:
    """Return a deep copy of plain data, paying for each of its elements."""
    if depth == 0:
        raise RuleFault(f"a value would be nested more than {DEPTH} levels deep")
    if isinstance(value, dict):
        budget.spend(len(value) + 1 + _length_of_keys(value))
        return {str(key): copied(inner, budget, depth - 1) for key, inner in value.items()}
    if isinstance(value, list):
        budget.spend(len(value) + 1)
        return [copied(inner, budget, depth - 1) for inner in value]
    budget.spend(len(value) // _CHARACTERS_PER_STEP if isinstance(value, str) else 0)
    return value
