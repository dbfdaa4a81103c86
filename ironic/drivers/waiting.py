"""Waiting, in one place, so that it can be cut short.

Whatever a driver waits for (a slow BMC, a played delay), it waits here. When the service stops, every wait ends at
once and tells its caller so; nobody sleeps through a SIGTERM.
"""

import threading
import time
from collections.abc import Callable

from tenacity import RetryCallState, Retrying, retry_if_exception, wait_fixed

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


def retrying(
    attempts: int, seconds: float, again: Callable[[BaseException], bool], log: Callable[[BaseException | None], None]
) -> Retrying:
    """Return what calls a function up to so many times, that many seconds apart, while ``again`` says so of its error.

    ``log`` is told the error before the next attempt. The last error is raised, without another attempt also when the
    service begins to stop meanwhile.
    """

    def is_over(state: RetryCallState) -> bool:
        # It pauses here, not in the library's sleep: an attempt follows each sleep, even one that was cut short.
        return state.attempt_number >= attempts or not pause(state.upcoming_sleep)

    return Retrying(
        stop=is_over,
        wait=wait_fixed(seconds),
        sleep=lambda _seconds: None,
        retry=retry_if_exception(again),
        before_sleep=lambda state: log(state.outcome.exception() if state.outcome else None),
        reraise=True,
    )


def interrupt() -> None:
    """End all waits, those under way and those to come."""
    _stopping.set()


def allow() -> None:
    """Let waits be waits again, for a service that starts once more in the same process."""
    _stopping.clear()
