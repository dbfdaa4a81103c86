"""Waits and retries that end early when the conductor stops.

Drivers wait only through these functions, for a slow BMC as for a simulated delay. When the service begins to stop,
every wait ends at once and its return value says so.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

from tenacity import RetryCallState, Retrying, retry_if_exception, wait_fixed
from tenacity.wait import wait_base

# Seconds before the second reading while a machine changes its power; many need only a moment.
FIRST_PAUSE: Final = 0.5

_stopping = threading.Event()


def pause(seconds: float) -> bool:
    """Wait for a number of seconds; return False when the service began to stop meanwhile."""
    return not _stopping.wait(max(0.0, seconds))


def until(done: Callable[[], bool], *, timeout: float, interval: float, first: float | None = None) -> bool:
    """Call ``done`` every ``interval`` seconds until it is true or ``timeout`` seconds are over; return its result.

    With ``first`` the calls begin so many seconds apart, and each pause is twice as long until it is ``interval``.
    ``done`` is called at least once, and once more when the time is over, so that a late success counts. Return False
    when the service began to stop meanwhile.
    """
    deadline = time.monotonic() + timeout
    seconds = interval if first is None else min(first, interval)
    while not done():
        left = deadline - time.monotonic()
        if left <= 0 or not pause(min(seconds, left)):
            return False
        seconds = min(2 * seconds, interval)
    return True


def retrying(
    attempts: int,
    seconds: float | wait_base,
    again: Callable[[BaseException], bool],
    log: Callable[[BaseException | None], None],
) -> Retrying:
    """Return a tenacity object that calls a function up to ``attempts`` times, ``seconds`` apart or as tenacity waits.

    A call is repeated when ``again`` returns True for its error; ``log`` is called with the error before the next
    attempt. The last error is raised. When the service begins to stop there is no further attempt.
    """

    def is_over(state: RetryCallState) -> bool:
        # Wait here, not in the library's sleep: the library makes another attempt after each sleep, even a short one.
        return state.attempt_number >= attempts or not pause(state.upcoming_sleep)

    return Retrying(
        stop=is_over,
        wait=seconds if isinstance(seconds, wait_base) else wait_fixed(seconds),
        sleep=lambda _seconds: None,
        retry=retry_if_exception(again),
        before_sleep=lambda state: log(state.outcome.exception() if state.outcome else None),
        reraise=True,
    )


def interrupt() -> None:
    """End all present and future waits."""
    _stopping.set()


def allow() -> None:
    """Undo `interrupt`, for a service that starts again in the same process."""
    _stopping.clear()
