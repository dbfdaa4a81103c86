"""Shutdowns of operating systems, which take minutes, and who waits for them.

A power interface that has ordered one waits for a few seconds and calls `suspend`. Within `suspendable` that ends the
work: the conductor releases the node, polls its power state and ends the power change, or another conductor does.
Elsewhere, as in a step, the interface waits by itself.
"""

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_IS_SUSPENDABLE: Final = contextvars.ContextVar("is_suspendable", default=False)


class ShutdownAwaited(Exception):
    """The machine shuts down and may take so many seconds more."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the machine may take {seconds:.0f} seconds more to shut down")
        self.seconds = seconds


@contextmanager
def suspendable(yes: bool = True) -> Iterator[None]:
    """Have a wait for a shutdown in this block end by ShutdownAwaited, or not if the block needs the machine off."""
    before = _IS_SUSPENDABLE.set(yes)
    try:
        yield
    finally:
        _IS_SUSPENDABLE.reset(before)


def suspend(seconds: float) -> None:
    """Raise ShutdownAwaited where the conductor can wait instead, for so many seconds; else do nothing."""
    if _IS_SUSPENDABLE.get():
        raise ShutdownAwaited(seconds)
