"""Memory that a crowd of clients leaves behind.

Some of it is garbage that refers to itself, which the collector may find late. What was freed stays with the process:
the C library keeps it between what is still in use. Where it can (glibc), it gives it back to the system when asked,
which takes some milliseconds.
"""

import ctypes
import gc
import time
from collections.abc import Callable

# So many clients are a crowd.
CROWD = 100
# Seconds between two times that memory is given back: clients that come and go must not cause it all the time.
PAUSE_SECONDS = 60.0
# Collections take a fifth of the time at most, however large the process is.
_REST = 4


def give_back() -> None:
    """Collect garbage, and give free memory back to the system where that is possible."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class Collector:
    """Collects garbage when it is asked to, unless it has just done that."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._not_before = clock, clock()

    def collect(self) -> bool:
        """Collect garbage; return whether it was time for that."""
        began = self._clock()
        if began < self._not_before:
            return False
        gc.collect()
        ended = self._clock()
        self._not_before = ended + _REST * (ended - began)
        return True


class AfterCrowds:
    """Gives memory back once most of many clients have gone."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._not_before, self._most = clock, clock(), 0

    def note(self, present: int) -> None:
        """Take the present number of clients."""
        self._most = max(self._most, present)
        is_over = self._most >= CROWD and present * 10 <= self._most
        if is_over and self._clock() >= self._not_before:
            self._most, self._not_before = present, self._clock() + PAUSE_SECONDS
            give_back()
