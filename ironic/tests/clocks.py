"""Clocks for tests: one that shows what a function returns."""

from collections.abc import Callable
from datetime import datetime

from ironic.core.clock import Clock


class _Showing(Clock):
    """A clock of this host that shows another time."""

    def __init__(self, show: Callable[[], datetime]) -> None:
        super().__init__()
        self._show = show

    def now(self) -> datetime:
        return self._show()


def as_clock(clock: Clock | Callable[[], datetime]) -> Clock:
    """Return a clock, of a function one that shows what it returns."""
    return clock if isinstance(clock, Clock) else _Showing(clock)
