"""Readings of the power state of many machines, several at once.

Machines behind one BMC address are read one after another with a pause between; the others are spread over as many
workers as the option allows and are free. Machines that did not answer last time have half of them and hold up no
other. A stop ends a round between two readings. Reading takes no lock.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.conf import CONF
from ironic.core.bmc_readings import KNOWN
from ironic.core.context import service_context
from ironic.core.errors import IronicError, NoFreeConductorWorker
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


def mine(nodes: "list[NodeRecord]", tasks: TaskFactory, hash_ring: HashRingManager) -> "list[NodeRecord]":
    """Return the nodes that this conductor owns."""
    return [node for node in nodes if hash_ring.is_mine(tasks.host, node.uuid, node.driver, node.conductor_group)]


# Gets the shared task on a node and what ``state_of`` returned.
OnReading = Callable[[TaskManager, str | None, str], None]

_Group = list["NodeRecord"]


class _Worker:
    """One worker of a lane, with the time at which its present reading began (monotonic seconds)."""

    def __init__(self) -> None:
        self.end, self.since = threading.Event(), time.monotonic()


class _Lane:
    """Nodes that wait to be read, in groups, and the workers that read them."""

    def __init__(self, most: int = 1) -> None:
        """Have up to ``most`` times the workers while readings are slow."""
        self.groups: SimpleQueue[_Group] = SimpleQueue()
        self.workers: list[_Worker] = []
        self._most = most

    def free(self, limit: int) -> int:
        """Return how many more workers may read, of so many at once."""
        self.workers = [worker for worker in self.workers if not worker.end.is_set()]
        counted = self._fast() if self._most > 1 else len(self.workers)
        return min(self.groups.qsize(), limit - counted, self._most * limit - len(self.workers))

    def is_moving(self) -> bool:
        """Return whether a node waits for a worker, or is read and that is not slow yet."""
        return bool(self.workers) and (self.groups.qsize() > 0 or self._fast() > 0)

    def _fast(self) -> int:
        since = time.monotonic() - _SLOW_SECONDS
        return sum(worker.since > since and not worker.end.is_set() for worker in self.workers)


class PowerReader:
    """Reads the power state of machines, several at once, and passes the readings on.

    A BMC that does not answer occupies a worker for half a minute. So a worker that waits is soon replaced by another
    one; machines whose last reading failed have a lane of their own with half of the workers; and no call waits long:
    what is left is read while the next call comes.
    """

    def __init__(self, tasks: TaskFactory, purpose: str, on_reading: OnReading) -> None:
        self._tasks, self._purpose, self._on_reading = tasks, purpose, on_reading
        self._stopping = threading.Event()
        self._sound, self._suspect = _Lane(_MOST_WORKERS), _Lane()
        # Row ids of the nodes that wait or are being read.
        self._busy: set[int] = set()

    def stop(self) -> None:
        """End a round that is under way after the present readings."""
        self._stopping.set()

    def read(self, nodes: Iterable["NodeRecord"], suspects: Collection[int] = ()) -> None:
        """Read all of them, but for those that are still being read; ``suspects`` are ids of nodes that may not answer.

        Returns when all readings were passed on, or after some seconds.
        """
        new = [node for node in nodes if node.id not in self._busy]
        self._busy.update(node.id for node in new)
        for group in by_bmc(new):
            lane = self._suspect if any(node.id in suspects for node in group) else self._sound
            lane.groups.put(group)
        self._start_workers()
        if not self._sound.workers:
            # No worker is free but this one.
            self._drain(self._sound, _Worker())
        until = time.monotonic() + _PATIENCE_SECONDS
        while self._sound.is_moving() and time.monotonic() < until and not self._stopping.is_set():
            self._sound.workers[0].end.wait(_LOOK_SECONDS)
            self._start_workers()

    def _start_workers(self) -> None:
        """Start as many workers as may read now."""
        limit = CONF.conductor.sync_power_state_workers
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
                worker = _Worker()
                slot.start(drain, worker)
                lane.workers.append(worker)
        except NoFreeConductorWorker:
            LOG.info("Only %d workers are free for %s; it takes longer", len(lane.workers) + 1, self._purpose)

    def _drain(self, lane: _Lane, worker: _Worker) -> None:
        """Read the machines of one group after another until the queue is empty or a stop is requested."""
        while not self._stopping.is_set():
            try:
                group = lane.groups.get_nowait()
            except Empty:
                return
            try:
                self._read_group(group, worker)
            finally:
                self._busy.difference_update(node.id for node in group)

    def _read_group(self, group: _Group, worker: _Worker) -> None:
        for number, node in enumerate(group):
            if number and self._stopping.wait(CONF.conductor.sync_power_state_bmc_interval):
                break
            worker.since = time.monotonic()
            try:
                with self._tasks.observe(service_context(), node, purpose=self._purpose) as task:
                    power = task.driver.power
                    if power is not None and power.supports_power_sync(task):
                        self._on_reading(task, *state_of(task))
            except Exception:
                LOG.exception("Node %s: %s failed; it is read again in the next round", node.uuid, self._purpose)


def by_bmc(nodes: Iterable["NodeRecord"]) -> list[_Group]:
    """Return the nodes in groups that share a BMC address."""
    groups: dict[str, _Group] = {}
    for node in nodes:
        address = server_of(node.driver_info) or node.uuid
        groups.setdefault(address, []).append(node)
    return list(groups.values())


def state_of(task: "TaskManager") -> tuple[str | None, str]:
    """Return the machine's power state and "", or None and the error; None and "" if the BMC names no known state."""
    try:
        power = task.power
        power.validate(task)
        state = power.get_power_state(task)
    except IronicError as error:
        return None, str(error)
    except Exception as error:
        LOG.exception("Node %s: reading the power state raised an unexpected error", task.node.uuid)
        return None, f"unexpected {type(error).__name__}: {error}"
    if state == "error":
        return None, "the BMC reports an error as power state"
    return (state if state in KNOWN else None), ""
