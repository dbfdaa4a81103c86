"""Sensor readings: read the sensors of this conductor's machines from time to time and send them as notifications.

The nodes are read in shares, so that the readings are spread over the interval; one statement finds the nodes of a
share, and no lock is taken. How they are read, several at once, is in `bmc_reader`. What waited for too long is left
for its next turn. A machine that could not be read is read less often until it can be, as is one that power
synchronisation could not read; its failure is logged once.

The metrics of the conductor itself go the same way. Source: doc/contract/drivers.md#notifications
"""

import functools
import json
import logging
import math
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Final

from ironic.conductor.bmc_reader import BmcReader, mine
from ironic.conductor.node_shares import NodeShares
from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.tasks import TaskFactory
from ironic.conf import CONF
from ironic.core.clock import CLOCK, Clock
from ironic.core.context import service_context
from ironic.core.errors import UnsupportedDriverExtension
from ironic.core.errors.hardware_errors import FailedToGetSensorData
from ironic.core.flows import states
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

# Bytes of the readings of a machine: many readings may wait for the broker. A thousand sensors take half of it.
_LARGEST: Final = 1024 * 1024

_ALL: Final = "all"


def jobs(tasks: TaskFactory, hash_ring: HashRingManager, silent: Collection[int]) -> tuple[PeriodicTask, ...]:
    """Return the periodic tasks of sensor readings, by the options as they are now.

    ``silent`` has the row ids of the nodes whose BMC is known not to answer; it may change at any time.
    """
    options = CONF.sensor_data
    parts = max(1, math.ceil(options.interval / _SHARE_SECONDS))
    shares = NodeShares(parts, options.interval / parts, tasks.clock.monotonic, tasks.clock.chance)
    readings = SensorReadings(tasks, hash_ring, shares, silent)
    for_nodes = options.send_sensor_data and options.enable_for_nodes
    for_conductor = options.send_sensor_data and options.enable_for_conductor
    return (
        PeriodicTask("sensor readings", for_nodes and options.interval / parts, readings, readings.stop),
        PeriodicTask(
            "metrics of the conductor",
            for_conductor and options.interval,
            functools.partial(send_metrics, tasks.clock),
        ),
    )


def send_metrics(clock: Clock = CLOCK) -> None:
    """Send what was counted in this process, if it is kept here."""
    if READINGS.on and (wanted := of_types(METRICS.collected(), CONF.sensor_data.data_types)):
        READINGS.emit_conductor(wanted, clock.now())


def of_types(readings: Mapping[str, object], types: Collection[str]) -> dict[str, object]:
    """Return the readings of the named types of sensors, in any case; those of every type if one is ALL."""
    wanted = {name.strip().lower() for name in types}
    return {name: found for name, found in readings.items() if _ALL in wanted or name.lower() in wanted}


class SensorReadings:
    """Reads the nodes of the shares that are due at each call, on workers."""

    def __init__(
        self,
        tasks: TaskFactory,
        hash_ring: HashRingManager,
        shares: NodeShares | None = None,
        silent: Collection[int] = (),
    ) -> None:
        self._tasks, self._hash_ring, self._shares = tasks, hash_ring, shares or NodeShares(1)
        # Row ids of the nodes whose last reading failed, and of those whose BMC does not answer to others.
        self._failing: set[int] = set()
        self._silent = silent
        options = CONF.sensor_data
        self._reader = BmcReader(
            tasks,
            _PURPOSE,
            self._read,
            workers=lambda: int(options.workers),
            # A machine whose next turn comes must not wait for the last one.
            longest_wait=lambda: float(min(options.wait_timeout, options.interval)),
        )
        self.stop: Callable[[], None] = self._reader.stop

    def __call__(self) -> None:
        """Read the shares that are due."""
        if not READINGS.on:
            return
        # The BMCs of enrolled nodes were never verified.
        but_enrolled = CONF.sensor_data.enable_for_undeployed_nodes
        in_state = {"provision_state_not_in": {states.ENROLL}} if but_enrolled else {"provision_state": states.ACTIVE}
        nodes: list[NodeRecord] = []
        for number in self._shares.due():
            filters = {"share": Share(self._shares.parts, number), "maintenance": False, **in_state}
            own = mine(self._tasks.store.nodes.find(**filters), self._tasks, self._hash_ring)
            nodes.extend(own)
            # A node that is gone or read no longer is forgotten.
            in_share = {node_id for node_id in self._failing.copy() if node_id % self._shares.parts == number}
            self._failing.difference_update(in_share - {node.id for node in own})
        suspects = self._failing | set(self._silent)
        turn = self._shares.round % _ROUNDS_AFTER_FAILURE
        self._reader.read(
            (
                node
                for node in nodes
                if node.id not in suspects or (node.id // self._shares.parts + turn) % _ROUNDS_AFTER_FAILURE == 0
            ),
            suspects,
        )

    def _read(self, node: "NodeRecord") -> None:
        """Read one machine and send its readings; an error is logged once until the machine can be read again."""
        try:
            with self._tasks.observe(service_context(), node, purpose=_PURPOSE) as task:
                found = task.validated(task.management).get_sensors_data(task)
                readings = of_types(found, CONF.sensor_data.data_types)
                if len(json.dumps(readings, default=str)) > _LARGEST:
                    raise FailedToGetSensorData(
                        node=node.uuid, error=f"they have more than {_LARGEST} bytes; see [sensor_data]data_types"
                    )
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
                READINGS.emit_node(node, readings, node.now())
