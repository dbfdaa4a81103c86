"""A conductor's sign of life: its row in the table of conductors is touched at an interval.

A thread of its own does this, so that neither a full worker pool nor a slow job makes a living conductor look dead. It
outlasts the database: while that is away the others can't judge anybody either.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

LOG = logging.getLogger(__name__)

# So many of one's own beats later the others have had the time for theirs.
_BEATS_TO_TRUST: Final = 2


class Heartbeat:
    """Calls ``beat`` every ``interval`` seconds until it is stopped."""

    def __init__(self, host: str, beat: Callable[[], None], interval: float) -> None:
        self._host, self._beat, self._interval = host, beat, interval
        self._stop = threading.Event()
        self._failures = 0
        self._steady_since = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="conductor-heartbeat", daemon=True)

    @property
    def is_steady(self) -> bool:
        """Tell whether the table of conductors can be trusted.

        When the database was away nobody could renew a row, and all look dead until they had the time to beat again.
        """
        return time.monotonic() - self._steady_since >= _BEATS_TO_TRUST * self._interval

    def start(self) -> None:
        """Begin; the first beat comes after one interval, registration having been the one before."""
        self._thread.start()

    def stop(self) -> None:
        """End; no beat comes after this has returned."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            self._once()

    def _once(self) -> None:
        try:
            self._beat()
        except Exception as error:
            self._failures += 1
            self._steady_since = time.monotonic()
            text = "Conductor %s could not renew its heartbeat (%d in a row), trying again in %s seconds: %s"
            LOG.warning(text, self._host, self._failures, self._interval, error)
            return
        if self._failures:
            LOG.info("Conductor %s renews its heartbeat again after %d failures", self._host, self._failures)
        self._failures = 0
