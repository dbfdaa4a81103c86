"""How long the work of this thread is worth waiting for, where that is less than drivers wait otherwise.

    with no_longer_than(120):
        task.power.get_power_state(task)

Drivers bound each operation at a machine by `shortened`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LONGEST: ContextVar[float | None] = ContextVar("longest_operation", default=None)


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Have each operation at a machine that begins in the block take at most so many seconds."""
    token = _LONGEST.set(seconds)
    try:
        yield
    finally:
        _LONGEST.reset(token)


def shortened(seconds: float) -> float:
    """Return the seconds that an operation may take which has so many otherwise."""
    longest = _LONGEST.get()
    return seconds if longest is None else min(seconds, longest)
