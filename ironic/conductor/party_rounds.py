"""Rounds over nodes, one after another, in which the machines of one owner hold up its own nodes only.

A round takes the owners from a queue, each on a worker of its own, and never has more than a part of the workers at
once: as many owners as there are must not take what requests of users need. Owners that a round did not reach come
first in the next one.
"""

import functools
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Final

from ironic.conductor.tasks import TaskFactory
from ironic.core.errors import NoFreeConductorWorker
from ironic.core.projects.fair_shares import Party

LOG = logging.getLogger(__name__)

# Columns that a caller reads for `PartyRounds.visit`, besides the UUID.
OWNERS: Final = ("owner", "lessee")

# Seconds that a call goes on; runs that take longer end later, and the next call leaves their owners out.
_PATIENCE_SECONDS: Final = 8.0
# A round has at most one of so many workers, in a small pool these few.
_PART_OF_WORKERS: Final = 10
_LEAST: Final = 3


class PartyRounds:
    """Visits the nodes of each party on a worker of its own; ``act`` gets the UUIDs of one party."""

    def __init__(self, tasks: TaskFactory, purpose: str, act: Callable[[list[str]], object]) -> None:
        self._tasks, self._purpose, self._act = tasks, purpose, act
        self._changed = tasks.clock.condition()
        self._under_way: set[Party] = set()
        self._not_reached: list[Party] = []

    def visit(self, nodes: Iterable[tuple[str, Party]]) -> None:
        """Visit nodes, given by UUID and party, but those of a party whose last round has not ended.

        Returns when all of them are visited, or after some seconds.
        """
        parties: dict[Party, list[str]] = {party: [] for party in self._not_reached}
        for uuid, party in nodes:
            parties.setdefault(party, []).append(uuid)
        until = self._tasks.clock.monotonic() + _PATIENCE_SECONDS
        most = max(_LEAST, self._tasks.pool.size // _PART_OF_WORKERS)
        with self._changed:
            waiting = [party for party, uuids in parties.items() if uuids and party not in self._under_way]
            while waiting or self._under_way:
                while waiting and len(self._under_way) < most:
                    party = waiting.pop(0)
                    self._start(party, parties[party])
                if (left := until - self._tasks.clock.monotonic()) <= 0 or not (waiting or self._under_way):
                    break
                self._changed.wait(left)
        self._not_reached = waiting

    def _start(self, party: Party, uuids: list[str]) -> None:
        """Begin to visit the nodes of a party, unless it finds no worker."""
        try:
            slot = self._tasks.pool.take(self._purpose, party, background=True)
            self._under_way.add(party)
            run = slot.start(self._act, uuids)
        except NoFreeConductorWorker as error:
            self._under_way.discard(party)
            LOG.info("%d nodes are left out of a round of %s: %s", len(uuids), self._purpose, error)
        else:
            run.add_done_callback(functools.partial(self._end, party))

    def _end(self, party: Party, _run: Future[object]) -> None:
        with self._changed:
            self._under_way.discard(party)
            self._changed.notify_all()
