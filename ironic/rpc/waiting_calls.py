"""Shares of the API's threads: how many of a project's requests may wait for conductors and locks at the same time.

A request that waits for a conductor, which may wait for a BMC, or for a locked node keeps a thread of the API. One
project has a share of what others leave (`ironic.core.projects.fair_shares`), so that slow machines of one project do
not take all threads. The first call of a project is never refused. The site, which is callers without a project, has no
limit while no project has called for an hour; calls of ramdisks are a party of their own.
"""

import math
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from ironic.core.clock import CLOCK
from ironic.core.context import RequestContext
from ironic.core.errors.call_errors import ProjectsCallsWait
from ironic.core.projects.fair_shares import Party, has_room

# No project has this ID.
_RAMDISKS: Final = ""

# Seconds for which the site leaves room after a project has called.
_LATELY: Final = 3600


class WaitingCalls:
    """Counts the requests of one process that wait, by project."""

    def __init__(
        self, places: int = sys.maxsize, percentage: int = 100, clock: Callable[[], float] = CLOCK.monotonic
    ) -> None:
        """Share so many places; a party may have a percentage of those that others leave."""
        self._places, self._percentage = places, percentage
        self._of_party: Counter[Party] = Counter()
        self._taken = 0
        self._clock, self._project_called = clock, -math.inf
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """The number of requests that wait."""
        return self._taken

    @contextmanager
    def one_of(self, context: RequestContext) -> Iterator[None]:
        """Count a call of this caller while the block runs; raises ProjectsCallsWait if its project has its share."""
        party = _RAMDISKS if context.is_public_api else context.project_id or None
        with self._lock:
            held = self._of_party[party]
            now = self._clock()
            if party:
                self._project_called = now
            is_limited = held and (party is not None or now - self._project_called < _LATELY)
            if is_limited and not has_room(held, self._places - self._taken, self._percentage):
                raise ProjectsCallsWait(count=held)
            self._taken, self._of_party[party] = self._taken + 1, held + 1
        try:
            yield
        finally:
            with self._lock:
                self._taken -= 1
                self._of_party[party] -= 1
                if not self._of_party[party]:
                    del self._of_party[party]
