"""How long the work of this thread is worth waiting for, where that is less than drivers wait otherwise.

    with no_longer_than(120):
        task.power.get_power_state(task)

Drivers bound each operation at a machine by `LONGEST`.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

LONGEST: Final[ContextVar[float]] = ContextVar("longest_operation", default=math.inf)


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Have each operation at a machine that begins in the block take at most so many seconds."""
    token = LONGEST.set(seconds)
    try:
        yield
    finally:
        LONGEST.reset(token)
