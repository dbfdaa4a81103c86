"""Waiting, in one place, so that it can be cut short.

Whatever a driver waits for (a slow BMC, a played delay), it waits here. When the service stops, every wait ends at
once and tells its caller so; nobody sleeps through a SIGTERM.
"""

import threading
import time
from collections.abc import Callable

_stopping = threading.Event()


def pause(seconds: float) -> bool:
    """Wait; return False when the service began to stop meanwhile."""
    return not _stopping.wait(max(0.0, seconds))


def until(done: Callable[[], bool], *, timeout: float, interval: float) -> bool:
    """Ask again and again until ``done`` or the time is over; return whether it was done.

    It is asked at least once, and once more when the time is over: an answer that came late still counts.
    """
    deadline = time.monotonic() + timeout
    while not done():
        left = deadline - time.monotonic()
        if left <= 0 or not pause(min(interval, left)):
            return False
    return True


def interrupt() -> None:
    """End all waits, those under way and those to come."""
    _stopping.set()


def allow() -> None:
    """Let waits be waits again, for a service that starts once more in the same process."""
    _stopping.clear()
