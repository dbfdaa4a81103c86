"""Log lines about refused requests: one for each address and minute, with the number of those that were left out.

Who is refused can ask again at once, without a login, so a line for each refusal fills disks. The addresses of a minute
are bounded, too: those beyond the bound share one line.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable
from typing import Final

from ironic.core.clock import CLOCK

_MINUTE: Final = 60.0
# Lines within a minute, each of an address and a kind; addresses whose further refusals are counted.
_MOST_LINES: Final = 200
_MOST_COUNTED: Final = 10_000


class RefusalLog:
    """Lines about refusals, of several kinds; may be used by several threads."""

    def __init__(self, log: logging.Logger, level: int = logging.WARNING) -> None:
        self._log, self._level = log, level
        self._lock, self._since = threading.Lock(), -_MINUTE
        # What has a line of the present minute, and refusals without one: by address, and of further addresses.
        self._told: set[tuple[str, str]] = set()
        self._left: Counter[str] = Counter()
        self._others = 0

    def note(
        self, address: str | None, text: str, *values: object, clock: Callable[[], float] = CLOCK.monotonic
    ) -> bool:
        """Log a refusal unless the address has a line with this text in this minute; return whether it was logged."""
        name = address or "an unknown address"
        with self._lock:
            left = self._turn_minute(clock())
            is_first = (name, text) not in self._told and len(self._told) < _MOST_LINES
            if is_first:
                self._told.add((name, text))
            elif len(self._left) < _MOST_COUNTED or name in self._left:
                self._left[name] += 1
            else:
                self._others += 1
        if left:
            self._log.log(self._level, "%s", left)
        if is_first:
            self._log.log(self._level, text, *values)
        return is_first

    def _turn_minute(self, now: float) -> str:
        """Begin a new minute if the last one is over; return what to say about it."""
        if now - self._since < _MINUTE:
            return ""
        left, total = self._left, self._left.total() + self._others
        self._told, self._left, self._since, self._others = set(), Counter(), now, 0
        if not total:
            return ""
        most = ", ".join(f"{name} ({number})" for name, number in left.most_common(10))
        return f"{total} more refusals were left out of this log in a minute before, the most of {most}."
