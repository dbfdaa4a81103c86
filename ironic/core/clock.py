"""Clock: time, waits and chance. A process has one, and who needs it gets it from the composition root.

The conductor and the drivers wait only through it, for a slow BMC as for a simulated delay. When the service begins to
stop, every pause ends at once and its return value says so. Tests hand in one that jumps.
"""

import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from tenacity import RetryCallState, Retrying, retry_if_exception, wait_fixed

# Seconds before the second reading while a machine changes its power; many need only a moment.
FIRST_PAUSE: Final = 0.5


class Clock:
    """The clock of this host."""

    # Of `random`, for delays and for choices among equals; secrets are made by the module of that name.
    chance: random.Random

    def __init__(self) -> None:
        # Of the system: what a server forks must not draw the same numbers.
        self.chance = random.SystemRandom()
        self._stopping = self.event()

    def now(self) -> datetime:
        """Return the time as it is stored: UTC, without a time zone."""
        return datetime.now(UTC).replace(tzinfo=None)

    def epoch(self) -> float:
        """Return the seconds since 1970, which hosts with a right time agree on."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds from any beginning, which only go on."""
        return time.monotonic()

    # Waits for other threads and servers

    def event(self) -> threading.Event:
        """Return an event whose waits take the time of this clock."""
        return threading.Event()

    def condition(self) -> threading.Condition:
        """Return a condition whose waits take the time of this clock."""
        return threading.Condition()

    def delay(self, seconds: float) -> None:
        """Wait for a number of seconds, also while the service stops."""
        time.sleep(seconds)

    # Waits for machines

    def sleep(self, seconds: float) -> bool:
        """Wait for a number of seconds; return False when the service began to stop meanwhile."""
        return not self._stopping.wait(max(0.0, seconds))

    def until(self, done: Callable[[], bool], *, timeout: float, interval: float, first: float | None = None) -> bool:
        """Call ``done`` every ``interval`` seconds until it is true or ``timeout`` seconds are over; return its result.

        With ``first`` the calls begin so many seconds apart, and each pause is twice as long until it is ``interval``.
        ``done`` is called at least once, and once more when the time is over, so that a late success counts. Return
        False when the service began to stop meanwhile.
        """
        deadline = self.monotonic() + timeout
        seconds = interval if first is None else min(first, interval)
        while not done():
            left = deadline - self.monotonic()
            if left <= 0 or not self.sleep(min(seconds, left)):
                return False
            seconds = min(2 * seconds, interval)
        return True

    def retrying(
        self,
        attempts: int,
        seconds: float | Callable[[RetryCallState], float],
        again: Callable[[BaseException], bool],
        log: Callable[[BaseException | None], None],
    ) -> Retrying:
        """Return a tenacity object that calls a function up to ``attempts`` times, ``seconds`` apart or as it waits.

        A call is repeated when ``again`` returns True for its error; ``log`` is called with the error before the next
        attempt. The last error is raised. When the service begins to stop there is no further attempt.
        """

        def is_over(state: RetryCallState) -> bool:
            # Wait here, not in the library's sleep: the library makes another attempt after each sleep, even a short
            # one.
            return state.attempt_number >= attempts or not self.sleep(state.upcoming_sleep)

        return Retrying(
            stop=is_over,
            wait=seconds if callable(seconds) else wait_fixed(seconds),
            sleep=lambda _seconds: None,
            retry=retry_if_exception(again),
            before_sleep=lambda state: log(state.outcome.exception() if state.outcome else None),
            reraise=True,
        )

    def interrupt(self) -> None:
        """End all present and future pauses."""
        self._stopping.set()

    def allow(self) -> None:
        """Undo `interrupt`, for a service that starts again in the same process."""
        self._stopping.clear()


# That of the process. The composition root hands it in; by this name it is used only by what a process keeps once for
# all conductors, such as its connections to BMCs, and by defaults.
CLOCK: Final = Clock()
