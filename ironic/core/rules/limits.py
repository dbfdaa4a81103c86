"""How much work the rules of one evaluation may do, counted in steps and never in seconds.

Counting makes the same input stop at the same place on every machine. A step is about one microsecond of work. The
bounds are far above what sensible rules need: they are there for rules that multiply what a machine reported.
"""

from typing import Any, Final

from ironic.core.rules.faults import RuleFault, TooMuchWork

STEPS: Final = 2_000_000  # per evaluation
JUDGING: Final = 10  # one verdict of an operator, one run of an action
LOGGING: Final = 1000  # one line of log
CALLING: Final = 200_000  # one call of another service: fewer than ten in a phase
LOG_LENGTH: Final = 4096  # of one line of log
ITEMS_TOLD: Final = 100  # of one loop, in an explanation
TEXT_LENGTH: Final = 65_536  # of one interpolated text
DEPTH: Final = 64  # of anything a rule writes
_CHARACTERS_PER_STEP: Final = 32


class Budget:
    """The work that is left."""

    __slots__ = ("left",)

    def __init__(self, steps: int = STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Take steps off, or stop the rules."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork("the rules do more work than is allowed: fewer or smaller loops and copies are needed")


def weight(value: Any, most: int) -> int:
    """Return the steps that looking at all of a value takes; beyond ``most`` it is not looked at any further."""
    if isinstance(value, str):
        return len(value) // _CHARACTERS_PER_STEP
    if not isinstance(value, dict | list):
        return 0
    steps = len(value) + 1
    for inner in value.values() if isinstance(value, dict) else value:
        if steps > most:
            break
        steps += weight(inner, most - steps)
    return steps


def pay(value: Any, budget: Budget, times: int = 1) -> None:
    """Pay for work that grows with a value."""
    budget.spend(weight(value, budget.left) * times)


def copied(value: Any, budget: Budget, depth: int = DEPTH) -> Any:
    """Return a deep copy of plain data, paying for each of its elements."""
    if depth == 0:
        raise RuleFault(f"a value would be nested more than {DEPTH} levels deep")
    if isinstance(value, dict):
        budget.spend(len(value) + 1)
        return {str(key): copied(inner, budget, depth - 1) for key, inner in value.items()}
    if isinstance(value, list):
        budget.spend(len(value) + 1)
        return [copied(inner, budget, depth - 1) for inner in value]
    budget.spend(len(value) // _CHARACTERS_PER_STEP if isinstance(value, str) else 0)
    return value
