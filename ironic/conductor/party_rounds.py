"""Rounds over nodes, one after another, in which the machines of one owner hold up its own nodes only."""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from typing import Any, Final

from ironic.conductor.fair_shares import Party
from ironic.conductor.tasks import TaskFactory
from ironic.core.errors import NoFreeConductorWorker

LOG = logging.getLogger(__name__)

# Columns that a caller reads for `PartyRounds.visit`, besides the UUID.
OWNERS: Final = ("owner", "lessee")

# Seconds that a call waits for its rounds; those that take longer go on, and the next call leaves their owners out.
_PATIENCE_SECONDS: Final = 8.0


class PartyRounds:
    """Visits the nodes of each party on a worker of its own; ``act`` gets the UUIDs of one party."""

    def __init__(self, tasks: TaskFactory, purpose: str, act: Callable[[list[str]], object]) -> None:
        self._tasks, self._purpose, self._act = tasks, purpose, act
        self._under_way: dict[Party, Future[Any]] = {}

    def visit(self, nodes: Iterable[tuple[str, Party]]) -> None:
        """Visit nodes, given by UUID and party, but those of a party whose last round has not ended.

        Returns when all rounds have ended, or after some seconds.
        """
        self._under_way = {party: run for party, run in self._under_way.items() if not run.done()}
        parties: dict[Party, list[str]] = {}
        for uuid, party in nodes:
            if party not in self._under_way:
                parties.setdefault(party, []).append(uuid)
        for party, uuids in parties.items():
            try:
                slot = self._tasks.pool.take(self._purpose, party, background=True)
                self._under_way[party] = slot.start(self._act, uuids)
            except NoFreeConductorWorker as error:
                LOG.info("%d nodes are left out of a round of %s: %s", len(uuids), self._purpose, error)
        wait(list(self._under_way.values()), _PATIENCE_SECONDS)
