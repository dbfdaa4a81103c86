"""Shares of the nodes of a conductor: periodic work goes over a few at a time, and over all of them in an interval."""

from collections.abc import Callable
from random import Random

from ironic.core.clock import CLOCK


class NodeShares:
    """Says which shares are due, so that a round over all of them takes its time although some calls come late.

    ``parts`` is the number of shares, ``spacing`` the seconds that each one has; 0 makes it one share at each call.
    """

    def __init__(
        self,
        parts: int,
        spacing: float = 0,
        clock: Callable[[], float] = CLOCK.monotonic,
        chance: Random = CLOCK.chance,
    ) -> None:
        self.parts, self._spacing, self._clock = parts, spacing, clock
        # How many rounds are over.
        self.round = 0
        self._next = chance.randrange(parts)
        self._called_at: float | None = None
        # Parts of shares that are overdue, negative if too many were done: periodic tasks are a spacing apart from the
        # end of one run to the next.
        self._overdue = 0.0

    def due(self) -> list[int]:
        """Return the numbers of the shares that are due now: one at least, each of them once at most."""
        numbers = []
        for _ in range(self._number()):
            numbers.append(self._next)
            self._next = (self._next + 1) % self.parts
            if self._next == 0:
                self.round += 1
        return numbers

    def _number(self) -> int:
        now = self._clock()
        passed, self._called_at = now - (now if self._called_at is None else self._called_at), now
        if not self._spacing or not passed:
            return 1
        owed = self._overdue + passed / self._spacing
        number = max(1, min(self.parts, round(owed)))
        self._overdue = max(-1.0, min(1.0, owed - number))
        return number
