"""Sensor readings: read the sensors of this conductor's machines from time to time and send them as notifications.

The nodes are read in shares, so that the readings are spread over the interval; one statement finds the nodes of a
share, and no lock is taken. A share is only put into a queue, which a few workers empty: a machine that is slow or does
not answer occupies one of them, while the others go on. What waited for too long is left for its next turn. Machines
behind one BMC address are read one after another. A machine that could not be read is read less often until it can be,
and its failure is logged once.

The metrics of the conductor itself go the same way. Source: doc/contract/drivers.md#notifications
"""

import logging
import math
import random
import threading
import time
from collections import deque
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.power_reader import by_bmc, mine
from ironic.conductor.tasks import TaskFactory
from ironic.conf import CONF
from ironic.core import states
from ironic.core.context import service_context
from ironic.core.errors import NoFreeConductorWorker, UnsupportedDriverExtension
from ironic.db import Share
from ironic.integrations.metrics import METRICS
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.notifications.readings import READINGS

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

_PURPOSE: Final = "reading of sensors"

# Shares of the interval: short enough to spread the work, long enough that a share is worth a statement.
_SHARE_SECONDS: Final = 10.0

# A machine that could not be read is read in one of so many rounds.
_ROUNDS_AFTER_FAILURE: Final = 4

_ALL: Final = "all"


def jobs(tasks: TaskFactory, hash_ring: HashRingManager) -> tuple[PeriodicTask, ...]:
    """Return the periodic tasks of sensor readings, by the options as they are now."""
    options = CONF.sensor_data
    parts = max(1, math.ceil(options.interval / _SHARE_SECONDS))
    readings = SensorReadings(tasks, hash_ring, parts)
    for_nodes = options.send_sensor_data and options.enable_for_nodes
    for_conductor = options.send_sensor_data and options.enable_for_conductor
    return (
        PeriodicTask("sensor readings", for_nodes and options.interval / parts, readings, readings.stop),
        PeriodicTask("metrics of the conductor", for_conductor and options.interval, send_metrics),
    )


def send_metrics() -> None:
    """Send what was counted in this process, if it is kept here."""
    if READINGS.on and (wanted := of_types(METRICS.collected(), CONF.sensor_data.data_types)):
        READINGS.emit_conductor(wanted, _now())


def of_types(readings: Mapping[str, object], types: Collection[str]) -> dict[str, object]:
    """Return the readings of the named types of sensors, in any case; those of every type if one is ALL."""
    wanted = {name.strip().lower() for name in types}
    return {name: found for name, found in readings.items() if _ALL in wanted or name.lower() in wanted}


class _Waiting(NamedTuple):
    """Nodes behind one BMC that are to be read, and until when (monotonic seconds)."""

    until: float
    nodes: "list[NodeRecord]"


class SensorReadings:
    """Queues one share of the nodes at each call, and reads what is queued on workers."""

    def __init__(self, tasks: TaskFactory, hash_ring: HashRingManager, parts: int = 1) -> None:
        self._tasks, self._hash_ring, self._parts = tasks, hash_ring, parts
        self._next, self._round = random.randrange(parts), 0
        # Row ids of the nodes whose last reading failed.
        self._failing: set[int] = set()
        # Row ids of the nodes that are being read: a machine that never answers occupies one worker, not all.
        self._reading: set[int] = set()
        self._queue: deque[_Waiting] = deque()
        self._queue_lock = threading.Lock()
        self._running: list[Future[None]] = []
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Begin no further reading."""
        self._stopping.set()

    def __call__(self) -> None:
        """Queue the nodes of the next share; returns at once."""
        if not READINGS.on:
            return
        number, self._next = self._next, (self._next + 1) % self._parts
        if self._next == 0:
            self._round += 1
        # The BMCs of enrolled nodes were never verified.
        but_enrolled = CONF.sensor_data.enable_for_undeployed_nodes
        in_state = {"provision_state_not_in": {states.ENROLL}} if but_enrolled else {"provision_state": states.ACTIVE}
        filters = {"share": Share(self._parts, number), "maintenance": False, **in_state}
        nodes = mine(self._tasks.store.nodes.find(**filters), self._tasks, self._hash_ring)
        # A node that is gone or read no longer is forgotten.
        in_share = {node_id for node_id in self._failing.copy() if node_id % self._parts == number}
        self._failing.difference_update(in_share - {node.id for node in nodes})
        self._leave_overdue()
        until = time.monotonic() + _longest_wait()
        with self._queue_lock:
            self._queue.extend(_Waiting(until, group) for group in by_bmc(filter(self._is_due, nodes)))
        self._start_workers()

    def _is_due(self, node: "NodeRecord") -> bool:
        in_turn = (node.id // self._parts + self._round) % _ROUNDS_AFTER_FAILURE == 0
        return node.id not in self._reading and (in_turn or node.id not in self._failing)

    def _leave_overdue(self) -> None:
        """Drop from the queue what waited for too long."""
        left, now = 0, time.monotonic()
        with self._queue_lock:
            while self._queue and self._queue[0].until <= now:  # it is in the order of time
                left += len(self._queue.popleft().nodes)
        if left:
            LOG.warning(
                "The sensors of %d nodes are not read in this round, because they waited for more than %d seconds. "
                "Raise [sensor_data]workers or interval if this happens often",
                left,
                _longest_wait(),
            )

    def _start_workers(self) -> None:
        self._running = [run for run in self._running if not run.done()]
        number = min(CONF.sensor_data.workers - len(self._running), len(self._queue))
        try:
            for _ in range(number):
                slot = self._tasks.pool.take(_PURPOSE, background=True)
                self._running.append(slot.start(self._drain))
        except NoFreeConductorWorker:
            LOG.info("Only %d workers are free for sensor readings; the others are tried soon", len(self._running))

    def _drain(self) -> None:
        """Read what is queued, for a limited time: a worker that never ends would count as lost."""
        until = time.monotonic() + CONF.sensor_data.wait_timeout
        while time.monotonic() < until:
            with self._queue_lock:
                if not self._queue:
                    return
                waiting = self._queue.popleft()
            for node in waiting.nodes:
                if self._stopping.is_set():
                    return
                self._reading.add(node.id)
                try:
                    self._read(node)
                finally:
                    self._reading.discard(node.id)

    def _read(self, node: "NodeRecord") -> None:
        """Read one machine and send its readings; an error is logged once until the machine can be read again."""
        try:
            with self._tasks.observe(service_context(), node, purpose=_PURPOSE) as task:
                found = task.validated(task.management).get_sensors_data(task)
                readings = of_types(found, CONF.sensor_data.data_types)
        except (UnsupportedDriverExtension, NotImplementedError) as error:
            LOG.debug("Node %s has no sensors that can be read: %s", node.uuid, error)
        except Exception as error:
            is_new = node.id not in self._failing
            self._failing.add(node.id)
            text = "Node %s: its sensors can't be read: %s. They are read less often until they can be"
            LOG.log(logging.WARNING if is_new else logging.DEBUG, text, node.uuid, error or type(error).__name__)
        else:
            if node.id in self._failing:
                self._failing.discard(node.id)
                LOG.info("Node %s: its sensors can be read again", node.uuid)
            if readings:
                READINGS.emit_node(node, readings, _now())


def _longest_wait() -> int:
    # A machine whose next turn comes must not wait in the queue twice.
    seconds: int = min(CONF.sensor_data.wait_timeout, CONF.sensor_data.interval)
    return seconds


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
