"""Shutdowns of operating systems, which take minutes, and who waits for them.

Within `leaving`, a power interface that has ordered one calls `leave` once it has waited for a moment: the conductor
releases the node, reads its power state now and then, and ends the power change, or another conductor does. Elsewhere,
as in a step, the interface waits by itself.
"""

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_MAY_LEAVE: Final = contextvars.ContextVar("may_leave", default=False)


class ShutdownAwaited(Exception):
    """The machine shuts down and may take so many seconds more."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the machine may take {seconds:.0f} seconds more to shut down")
        self.seconds = seconds


@contextmanager
def leaving() -> Iterator[None]:
    """Have a wait for a shutdown in this block end by ShutdownAwaited."""
    before = _MAY_LEAVE.set(True)
    try:
        yield
    finally:
        _MAY_LEAVE.reset(before)


def leave(seconds: float) -> None:
    """Raise ShutdownAwaited where the wait can be left to the conductor; else do nothing."""
    if _MAY_LEAVE.get():
        raise ShutdownAwaited(seconds)
