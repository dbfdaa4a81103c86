"""Circuit breaker per conductor: after a time-out, calls to it fail at once for a while.

Each call to such a conductor would occupy a thread of the API until its time-out. After the pause one caller at a time
tries whether the conductor is back; the other calls still fail at once.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from ironic.core.clock import CLOCK
from ironic.core.errors.call_errors import ConductorAbsent, ConductorOutOfReach, ConductorSilent

_MOST_HOSTS: Final = 4096


class CircuitBreaker:
    """Knows the conductors whose calls timed out; ``seconds`` is the pause after a time-out."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = CLOCK.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._open_until: dict[str, float] = {}
        self._lock = threading.Lock()

    @contextmanager
    def guard(self, host: str, call: str) -> Iterator[None]:
        """Make a call in the block; raises ConductorAbsent while the circuit is open."""
        if host in self._open_until:
            with self._lock:
                if self._clock() < self._open_until.get(host, 0):
                    raise ConductorAbsent(host=host, call=call, reason="it gave no sign of life a moment ago")
                self._open_until[host] = self._clock() + self._seconds
        try:
            yield
        except (ConductorOutOfReach, ConductorSilent):
            if len(self._open_until) >= _MOST_HOSTS:
                # Hosts come and go; the others cost one more time-out each.
                self._open_until.clear()
            self._open_until[host] = self._clock() + self._seconds
            raise
        except Exception:
            self._open_until.pop(host, None)
            raise
        self._open_until.pop(host, None)
