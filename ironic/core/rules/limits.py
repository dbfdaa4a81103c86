"""The faults that stop a rule, and the budget of steps that limits the work of one evaluation.

Operators, actions and look-ups raise faults; `evaluation` catches them and adds the rule, the phase and the position.
The messages name paths, arguments and types, and quote values in short form only.

Work is counted in steps of about one microsecond instead of seconds, so that the same input stops at the same place on
every host. The limits are far above the needs of usual rules: they stop rules that multiply what a machine reported.
"""

from collections.abc import Mapping
from typing import Any, Final

_QUOTED = 60


class RuleFault(Exception):
    """A condition or an action can't be evaluated with these facts."""


class FailRequested(RuleFault):
    """A rule fails the inspection by its action ``fail``."""


class TooMuchWork(RuleFault):
    """The rules of one evaluation have exceeded their steps."""


def quoted(value: object) -> str:
    """Return a short form of a value for a message: scalars up to a length, containers as kind and size."""
    if isinstance(value, dict):
        return f"an object of {len(value)} keys"
    if isinstance(value, list):
        return f"a list of {len(value)} items"
    if isinstance(value, str) and len(value) > _QUOTED:
        return f"{value[:_QUOTED]!r}..."
    text = repr(value)
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."


STEPS: Final = 2_000_000  # per evaluation
JUDGING: Final = 10  # one comparison of an operator, one run of an action
VERDICT: Final = 60_000  # most for one comparison of an operator
WRITING: Final = 60  # one change of a document
PARSING: Final = 20  # one address or network
LOGGING: Final = 1000  # one log line
CALLING: Final = 200_000  # one call of another service: fewer than ten in a phase
LOG_LENGTH: Final = 4096  # of one log line
ITEMS_SHOWN: Final = 100  # of one loop, in an explanation
TEXT_LENGTH: Final = 65_536  # of one interpolated text
DEPTH: Final = 64  # of anything a rule writes
_CHARACTERS_PER_STEP: Final = 32


class Budget:
    """The steps that are left."""

    __slots__ = ("_all", "left")

    def __init__(self, steps: int = STEPS) -> None:
        self._all = self.left = steps

    def spend(self, steps: int) -> None:
        """Subtract steps; raises TooMuchWork when none are left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork(
                f"the rules of one phase need more than the {self._all} steps that all of them may take together: use "
                "fewer or smaller loops and copies"
            )


def weight(value: object, most: int, depth: int = DEPTH) -> int:
    """Return the steps of reading a complete value; counting stops beyond ``most``."""
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
    """Return the nesting depth of a value, which `weight` has found to be limited; a scalar has depth 1."""
    deepest, layer = 1, [value]
    while True:
        inside: list[Any] = []
        for value in layer:
            if isinstance(value, dict):
                inside += value.values()
            elif isinstance(value, list):
                inside += value
        if not inside:
            return deepest
        deepest, layer = deepest + 1, inside


def _length_of_keys(value: Mapping[object, object]) -> int:
    return sum(len(key) for key in value if isinstance(key, str)) // _CHARACTERS_PER_STEP


def pay(value: object, budget: Budget, times: int = 1) -> None:
    """Spend the steps of work that grows with a value."""
    budget.spend(weight(value, budget.left) * times)


def pay_verdict(operator: str, steps: int, budget: Budget) -> None:
    """Spend the steps of a comparison before it is made; raises TooMuchWork."""
    if steps > VERDICT:
        raise TooMuchWork(
            f"operator {operator} would need more than the {VERDICT} steps that one comparison may take: pass "
            "smaller values"
        )
    budget.spend(steps)


def copied(value: object, budget: Budget, depth: int = DEPTH) -> Any:
    """Return a deep copy of plain data, and spend the steps of each of its elements."""
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
