"""Conductors that gave no sign of life when they were asked.

Each call to such a conductor would wait in vain and keep a thread of the API from its other work. So for a while
nobody asks; then one caller at a time finds out whether it is back, and the others are told at once.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from ironic.core.call_errors import ConductorAbsent, ConductorSilent

_MOST_HOSTS: Final = 4096


class Silence:
    """Remembers who is silent; ``seconds`` is how long nobody asks."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._asked_again_from: dict[str, float] = {}
        self._lock = threading.Lock()

    @contextmanager
    def heeded(self, host: str, call: str) -> Iterator[None]:
        """Ask a conductor in this block; raises ConductorAbsent for one that is not worth asking now."""
        self._take_turn(host, call)
        try:
            yield
        except ConductorSilent:
            if len(self._asked_again_from) >= _MOST_HOSTS:
                # Hosts come and go; asking each of the others once more in vain does no harm.
                self._asked_again_from.clear()
            self._asked_again_from[host] = self._clock() + self._seconds
            raise
        except Exception:
            self._asked_again_from.pop(host, None)
            raise
        self._asked_again_from.pop(host, None)

    def _take_turn(self, host: str, call: str) -> None:
        if host not in self._asked_again_from:
            return
        with self._lock:
            if self._clock() < self._asked_again_from.get(host, 0):
                raise ConductorAbsent(host=host, call=call, reason="it gave no sign of life a moment ago")
            self._asked_again_from[host] = self._clock() + self._seconds
