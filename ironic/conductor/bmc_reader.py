"""Periodic readings of many machines, several at once.

Machines behind one BMC address are read one after another with a pause between; the others are spread over as many
workers as an option allows and are free. Machines that did not answer last time have half of them and hold up no
other. Owners take turns: the one with the fewest machines being read comes next. A stop ends a round between two
readings. Reading takes no lock.
"""

import logging
import math
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from ironic.conductor.tasks import TaskFactory
from ironic.core.clock import Clock
from ironic.core.errors import NoFreeConductorWorker
from ironic.core.projects.fair_shares import FairQueue, party_of
from ironic.inspection.bmc_addresses import server_of
from ironic.rpc.hash_ring import HashRingManager

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

# Seconds after which a reading is slow, and another worker takes the place of the one that waits for it.
_SLOW_SECONDS: Final = 2.0
# How many times more workers may read then, at most.
_MOST_WORKERS: Final = 4
# Seconds that a round waits for its last readings; a BMC that does not answer must not hold up the next share.
_PATIENCE_SECONDS: Final = 8.0
_LOOK_SECONDS: Final = 0.5
# Seconds after which a worker ends although machines wait: one that never ended would count as lost.
_LONGEST_RUN: Final = 300.0


def mine(nodes: "list[NodeRecord]", tasks: TaskFactory, hash_ring: HashRingManager) -> "list[NodeRecord]":
    """Return the nodes that this conductor owns."""
    return [node for node in nodes if hash_ring.is_mine(tasks.host, node.uuid, node.driver, node.conductor_group)]


class _Group(NamedTuple):
    """Nodes behind one BMC that wait to be read, and until when (monotonic seconds)."""

    nodes: "list[NodeRecord]"
    until: float


class _Worker:
    """One worker of a lane, with the time at which its present reading began (monotonic seconds)."""

    def __init__(self, clock: Clock) -> None:
        self.end, self.since = clock.event(), clock.monotonic()


class _Lane:
    """Nodes that wait to be read, in groups, and the workers that read them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.groups: FairQueue[_Group] = FairQueue()
        self.workers: list[_Worker] = []

    def free(self, limit: int) -> int:
        """Return how many more workers may read, of so many at once; those that wait for slow machines don't count."""
        self.workers = [worker for worker in self.workers if not worker.end.is_set()]
        return min(len(self.groups), limit - self._fast(), _MOST_WORKERS * limit - len(self.workers))

    def is_moving(self) -> bool:
        """Return whether a node waits for a worker, or is read and that is not slow yet."""
        return bool(self.workers) and (len(self.groups) > 0 or self._fast() > 0)

    def _fast(self) -> int:
        since = self._clock.monotonic() - _SLOW_SECONDS
        return sum(worker.since > since and not worker.end.is_set() for worker in self.workers)


class BmcReader:
    """Reads machines, several at once; ``read_node`` is called with each of them, on workers.

    A BMC that does not answer occupies a worker for half a minute. So a worker that waits is soon replaced by another
    one; machines whose last reading failed have a lane of their own with half of the workers; and a call returns after
    some seconds, while workers read what is left.
    """

    def __init__(
        self,
        tasks: TaskFactory,
        purpose: str,
        read_node: "Callable[[NodeRecord], None]",
        *,
        workers: Callable[[], int],
        pause: Callable[[], float] = lambda: 0.0,
        longest_wait: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """Use so many workers; ``pause`` and ``longest_wait`` are seconds, within a BMC and until a reading begins."""
        self._tasks, self._purpose, self._read_node, self._clock = tasks, purpose, read_node, tasks.clock
        self._workers, self._pause, self._longest_wait = workers, pause, longest_wait
        self._stopping = self._clock.event()
        self._sound, self._suspect = _Lane(tasks.clock), _Lane(tasks.clock)
        # Row ids of the nodes that wait or are being read, and of those that waited for too long.
        self._busy: set[int] = set()
        self._left: set[int] = set()

    def stop(self) -> None:
        """End a round that is under way after the present readings."""
        self._stopping.set()

    def read(self, nodes: Iterable["NodeRecord"], suspects: Collection[int] = ()) -> None:
        """Read all of them, but for those that are still being read; ``suspects`` are ids of nodes that may not answer.

        Returns when all readings were passed on, or after some seconds.
        """
        new = [node for node in nodes if node.id not in self._busy]
        self._busy.update(node.id for node in new)
        until = self._clock.monotonic() + self._longest_wait()
        for group in by_bmc(new):
            lane = self._suspect if any(node.id in suspects for node in group) else self._sound
            lane.groups.put(party_of(group[0].owner, group[0].lessee), _Group(group, until))
        self._start_workers()
        if not self._sound.workers:
            # No worker is free but this one.
            self._drain(self._sound, _Worker(self._clock))
        patience = self._clock.monotonic() + _PATIENCE_SECONDS
        while self._sound.is_moving() and self._clock.monotonic() < patience and not self._stopping.is_set():
            self._sound.workers[0].end.wait(_LOOK_SECONDS)
            self._start_workers()
        self._report()

    def _report(self) -> None:
        left, self._left = self._left, set()
        if left:
            LOG.warning(
                "%d nodes are left out of a round of %s, because they waited for more than %d seconds. Raise its "
                "workers or its interval if this happens often",
                len(left),
                self._purpose,
                self._longest_wait(),
            )

    def _start_workers(self) -> None:
        """Start as many workers as may read now."""
        limit = self._workers()
        half = limit // 2
        self._start(self._suspect, half or 1)
        self._start(self._sound, limit - half if half and self._suspect.workers else limit)

    def _start(self, lane: _Lane, limit: int) -> None:
        """Start the workers of a lane, fewer where not so many are free."""

        def drain(worker: _Worker) -> None:
            try:
                self._drain(lane, worker)
            finally:
                worker.end.set()

        try:
            for _ in range(lane.free(limit)):
                slot = self._tasks.pool.take(self._purpose, background=True)
                worker = _Worker(self._clock)
                slot.start(drain, worker)
                lane.workers.append(worker)
        except NoFreeConductorWorker:
            LOG.info("Only %d workers are free for %s; it takes longer", len(lane.workers) + 1, self._purpose)

    def _drain(self, lane: _Lane, worker: _Worker) -> None:
        """Read the machines of one group after another until the queue is empty or a stop is requested."""
        end = self._clock.monotonic() + _LONGEST_RUN
        while not self._stopping.is_set() and self._clock.monotonic() < end:
            if (found := lane.groups.take()) is None:
                return
            party, group = found
            try:
                self._read_group(group, worker)
            finally:
                lane.groups.done(party)
                self._busy.difference_update(node.id for node in group.nodes)

    def _read_group(self, group: _Group, worker: _Worker) -> None:
        if self._clock.monotonic() >= group.until:
            self._left.update(node.id for node in group.nodes)
            return
        for number, node in enumerate(group.nodes):
            if number and self._stopping.wait(self._pause()):
                break
            worker.since = self._clock.monotonic()
            try:
                self._read_node(node)
            except Exception:
                LOG.exception("Node %s: %s failed; it is read again in the next round", node.uuid, self._purpose)


def by_bmc(nodes: Iterable["NodeRecord"]) -> "list[list[NodeRecord]]":
    """Return the nodes in groups that share a BMC address."""
    groups: dict[str, list[NodeRecord]] = {}
    for node in nodes:
        address = server_of(node.driver_info) or node.uuid
        groups.setdefault(address, []).append(node)
    return list(groups.values())
