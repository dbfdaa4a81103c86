"""Power synchronisation: read the power state of many machines, compare it with the record, correct one of them.

The nodes of this conductor are read in shares, so that the readings are spread over the interval; one statement finds
the nodes of a share. How they are read, several at once, is in `bmc_reader`.

Reading takes no lock, and neither does storing what was read: that is one UPDATE on the condition that the node is
unlocked and unchanged. Only bringing a machine back into its state takes the lock, at once or not at all, and reads
again first. What a reading means is decided in core/bmc_readings.py. Nodes in waiting and held states are not read,
because an operation owns the machine's power; doc/contract/states.md#power-synchronisation has the other states.
"""

import logging
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from ironic.conductor import node_events
from ironic.conductor.bmc_reader import BmcReader, mine
from ironic.conductor.bmc_refresh import MONITORING, Readings, health_event
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.node_events import add_history
from ironic.conductor.node_shares import NodeShares
from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.power import ADVICE, is_error_over
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.conductor.transitions import shortened
from ironic.conf import CONF
from ironic.core import bmc_readings
from ironic.core.bmc_readings import KNOWN, NO_READINGS, PowerReadings, ReadingLimits, Verdict
from ironic.core.context import service_context
from ironic.core.errors import IronicError, NodeLocked, NodeNotFound
from ironic.core.errors.failure_texts import Reason, failure_text, in_words
from ironic.core.flows import states
from ironic.core.model.node import POWER_FAILURE
from ironic.db import Share
from ironic.drivers.contract.power_reading import odd_state_text
from ironic.integrations import metric_table
from ironic.rpc.hash_ring import HashRingManager

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)


_PURPOSE: Final = "power synchronisation"
_TOPIC: Final = "power"

# Shares of the interval: short enough to spread the work, long enough that a share is worth a statement.
_SHARE_SECONDS: Final = 10.0

# Doubtful readings that are repeated in the next share; so many at once mean a fault that is not of single machines.
_MOST_DOUBTFUL: Final = 500

# The settings of a machine are read once in so many rounds; nodes take turns, so that no round reads many.
_ROUNDS_BETWEEN_SETTINGS: Final = 60

# Columns that must be as they were when the node was read, for a reading to be stored.
_UNTOUCHED: Final = ("power_state", "target_power_state", "provision_state", "maintenance", "reservation")


def jobs(tasks: TaskFactory, hash_ring: HashRingManager, silent: set[int]) -> tuple[PeriodicTask, ...]:
    """Return the periodic tasks of power synchronisation, by the options as they are now.

    ``silent`` is kept up to date: the row ids of the nodes whose BMC did not answer last time.
    """
    interval = CONF.conductor.sync_power_state_interval
    parts = max(1, math.ceil(interval / _SHARE_SECONDS))
    shares = NodeShares(parts, interval / parts, tasks.clock.monotonic, tasks.clock.chance)
    sync = PowerSync(tasks, hash_ring, shares, silent)
    recovery = Recovery(tasks, hash_ring)
    return (
        PeriodicTask("power synchronisation", interval / parts, sync, sync.stop),
        PeriodicTask(
            "recovery from power failures", CONF.conductor.power_failure_recovery_interval, recovery, recovery.stop
        ),
    )


class PowerSync:
    """Compares the nodes of the shares that are due with their machines at each call."""

    def __init__(
        self,
        tasks: TaskFactory,
        hash_ring: HashRingManager,
        shares: NodeShares | None = None,
        silent: set[int] | None = None,
    ) -> None:
        self._tasks, self._hash_ring, self._shares = tasks, hash_ring, shares or NodeShares(1)
        # Row ids of the nodes whose last reading failed; others may read this set.
        self._silent = set() if silent is None else silent
        self._first_turn = tasks.clock.chance.randrange(_ROUNDS_BETWEEN_SETTINGS)
        # Row ids of the nodes whose last refresh failed, so that the failure is logged once.
        self._unrefreshed: set[int] = set()
        # By row id, what was read of nodes whose last reading did not agree with the record.
        self._readings: dict[int, PowerReadings] = {}
        # By number of the share, how many nodes of this conductor it had.
        self._counts: dict[int, int] = {}
        self._reader = _power_reader(tasks, _PURPOSE, self._compare)
        self.stop: Callable[[], None] = self._reader.stop

    def __call__(self) -> None:
        """Read the shares that are due, and again the nodes whose last reading was doubtful."""
        doubtful = [node_id for node_id, readings in self._readings.copy().items() if readings.agreeing]
        del doubtful[_MOST_DOUBTFUL:]
        again = doubtful
        filters = {
            "reserved": False,
            "maintenance": False,
            "target_power_state": None,
            "provision_state_not_in": states.NO_POWER_SYNC,
        }
        nodes: dict[int, NodeRecord] = {}
        for number in self._shares.due():
            share = Share(self._shares.parts, number, again)
            own = mine(self._tasks.store.nodes.find(share=share, **filters), self._tasks, self._hash_ring)
            nodes |= {node.id: node for node in own}
            self._counts[number], again = len(own), []
            # What is read no longer, because it is gone, in maintenance or changing, is not silent.
            in_share = {node_id for node_id in self._silent.copy() if node_id % self._shares.parts == number}
            self._silent.difference_update(in_share - nodes.keys())
        # What was read of a node that is gone, locked or another conductor's now proves nothing any more.
        for node_id in set(doubtful) - nodes.keys():
            self._readings.pop(node_id, None)
        metric_table.SYNCHRONISED_NODES.send(sum(self._counts.values()))
        self._reader.read(nodes.values(), self._silent.copy())

    def _compare(self, task: TaskManager, seen: str | None, why: Reason) -> None:
        (self._silent.add if why else self._silent.discard)(task.node_id)
        if seen is None and not why:
            self._readings.pop(task.node_id, None)  # the BMC answers without a power state, which proves nothing
            return
        options = CONF.conductor
        # A machine that must not be powered off can only be followed.
        must_stay_on = task.node.disable_power_off and task.node.power_state == states.POWER_OFF
        limits = ReadingLimits(
            options.sync_power_state_agreeing_readings,
            options.power_state_sync_max_retries,
            options.force_power_state_during_sync and not must_stay_on,
        )
        verdict, readings = bmc_readings.judge_power_reading(
            task.node.power_state, seen, self._readings.get(task.node_id, NO_READINGS), limits
        )
        if verdict is Verdict.FINE or not _is_as_read(task):
            # A node that was changed meanwhile may have a record that is newer than the reading.
            self._readings.pop(task.node_id, None)
            if verdict is Verdict.FINE:
                if is_error_over(task.node):
                    _write(task, *_without_error(task))
                self._refresh(task)
            return
        if readings == NO_READINGS:
            self._readings.pop(task.node_id, None)
        else:
            self._readings[task.node_id] = readings
        self._act(task, verdict, seen, why)

    def _refresh(self, task: TaskManager) -> None:
        """Read the health of a machine whose BMC answers, and in its turn the other columns; store what changed."""
        readings, node = Readings(task), task.node
        health = readings.health()
        in_turn = (
            node.id // self._shares.parts - self._shares.round - self._first_turn
        ) % _ROUNDS_BETWEEN_SETTINGS == 0
        columns = readings.columns() if in_turn else {}
        if not readings.failures:
            self._unrefreshed.discard(node.id)
        elif node.id not in self._unrefreshed:
            self._unrefreshed.add(node.id)
            LOG.warning("Node %s: not refreshed from the BMC: %s", node.uuid, readings.failures)
        if health and health["health"] != node.health:
            _record_health(task, health["health"])
        if any(getattr(node, name) != value for name, value in columns.items()):
            _record_settings(task, columns)

    def _act(self, task: TaskManager, verdict: Verdict, seen: str | None, why: Reason) -> None:
        node = task.node
        if verdict is Verdict.UNREADABLE:
            LOG.warning("Node %s: its power state can't be read: %s. It is read again", node.uuid, why)
        elif verdict is Verdict.DOUBTFUL:
            LOG.info(
                "Node %s is '%s', recorded is '%s'; it is read again before the conductor acts",
                node.uuid,
                seen,
                node.power_state,
            )
        elif verdict is Verdict.RECORD:
            _record(task, seen)
        elif verdict is Verdict.FORCE:
            _bring_back(task)
        else:
            self._readings.pop(task.node_id, None)
            _set_power_failure(task, seen, why)


class Recovery:
    """Ends the maintenance of nodes whose BMC answers again."""

    def __init__(self, tasks: TaskFactory, hash_ring: HashRingManager) -> None:
        self._tasks, self._hash_ring = tasks, hash_ring
        self._reader = _power_reader(tasks, "recovery from a power failure", _end_power_failure)
        self.stop: Callable[[], None] = self._reader.stop

    def __call__(self) -> None:
        """Read all nodes with a power failure."""
        filters = {"fault": POWER_FAILURE, "maintenance": True, "reserved": False}
        own = mine(self._tasks.store.nodes.find(**filters), self._tasks, self._hash_ring)
        metric_table.POWER_FAILURES.send(len(own))
        self._reader.read(own)


# Reading


def _power_reader(
    tasks: TaskFactory, purpose: str, on_reading: Callable[[TaskManager, str | None, Reason], None]
) -> BmcReader:
    """Return a reader of power states; ``on_reading`` gets the shared task on a node and what ``state_of`` returned."""

    def read(node: "NodeRecord") -> None:
        with tasks.observe(service_context(), node, purpose=purpose) as task:
            power = task.driver.power
            if power is not None and power.supports_power_sync(task):
                on_reading(task, *state_of(task))

    options = CONF.conductor
    return BmcReader(
        tasks,
        purpose,
        read,
        workers=lambda: int(options.sync_power_state_workers),
        pause=lambda: float(options.sync_power_state_bmc_interval),
    )


def state_of(task: TaskManager) -> tuple[str | None, Reason]:
    """Return the machine's power state and "", or None and the error; None and "" if the BMC names no known state."""
    try:
        power = task.power
        power.validate(task)
        state = power.get_power_state(task)
    except Exception as error:
        if not isinstance(error, IronicError):
            LOG.exception("Node %s: reading the power state raised an unexpected error", task.node.uuid)
        return None, error
    if state == "error":
        return None, odd_state_text(task)
    return (state if state in KNOWN else None), ""


# Storing a reading, without a lock


def _is_as_read(task: TaskManager) -> bool:
    try:
        return task.store.nodes.row(_UNTOUCHED, task.node_id) == tuple(getattr(task.node, name) for name in _UNTOUCHED)
    except NodeNotFound:
        return False


def _without_error(task: TaskManager) -> tuple[dict[str, object], dict[str, object]]:
    """Return what to store, and on which condition, of a machine that is as recorded: an error of its power ends."""
    return ({"last_error": None}, {"last_error": task.node.last_error}) if is_error_over(task.node) else ({}, {})


def _record(task: TaskManager, seen: str | None) -> None:
    before = task.node.power_state
    values, where = _without_error(task)
    values["power_state"] = seen
    if before is None:
        _write(task, values, where)
        return
    text = f"The machine was found '{seen}' although '{before}' was recorded"
    if _write(task, values, where, text, "WARNING"):
        node_events.power_corrected(task, before, seen)


def _record_health(task: TaskManager, health: str | None) -> None:
    event, severity = health_event(task.node.health, health)
    _write(task, {"health": health}, {}, event, severity, topic=MONITORING)


def _record_settings(task: TaskManager, columns: Mapping[str, object]) -> None:
    """Store columns as the BMC reports them, except those that changed meanwhile; a node in use waits for its turn."""
    node = task.node
    before = {name: getattr(node, name) for name in columns}
    try:
        task.upgrade_lock("storing what the BMC reports", retry=False)
    except NodeLocked as error:
        LOG.debug("Node %s is in use and not refreshed: %s", node.uuid, error)
        return
    for name, value in columns.items():
        if getattr(node, name) == before[name]:
            setattr(node, name, value)
    task.save_and_release()


def _set_power_failure(task: TaskManager, seen: str | None, why: Reason) -> None:
    if seen is None:
        text = failure_text(f"The power state can't be read. {ADVICE}", why, task.node.uuid)
    else:
        text = f"The power state does not stay '{task.node.power_state}': it is '{seen}' again. {ADVICE}."
    broken: dict[str, object] = {
        "maintenance": True,
        "maintenance_reason": shortened(text),
        "last_error": shortened(text),
        "fault": POWER_FAILURE,
        "power_state": "error" if seen is None else seen,
    }
    if seen is None:
        broken["health"] = None  # what a BMC has said before it fell silent says nothing of the machine now
    _write(task, broken, {}, text, "ERROR")


def _end_power_failure(task: TaskManager, seen: str | None, why: Reason) -> None:
    if seen is None:
        LOG.debug("Node %s still has a power failure: %s", task.node.uuid, why)
        return
    healthy, where = _without_error(task)
    healthy |= {"maintenance": False, "maintenance_reason": None, "fault": None, "power_state": seen}
    where |= {"fault": POWER_FAILURE, "maintenance": True}
    text = f"The power state can be read again ('{seen}'); maintenance because of a power failure ends"
    _write(task, healthy, where, text)


def _write(
    task: TaskManager,
    values: Mapping[str, object],
    where: Mapping[str, object],
    event: str | None = None,
    severity: str = "INFO",
    *,
    topic: str = _TOPIC,
) -> bool:
    """Change an unlocked node that is as it was read, with a line of history; return whether it was changed.

    ``where`` has further columns that must be as they were.
    """
    node = task.node
    as_read = {name: getattr(node, name) for name in _UNTOUCHED}

    def write(_connection: object) -> bool:
        is_changed = task.store.nodes.update(node.id, values, where=as_read | dict(where))
        if is_changed and event:
            add_history(task, topic, event, severity)
        return is_changed

    if not task.store.run(write):
        LOG.debug("Node %s was changed since it was read, so its reading is dropped", node.uuid)
        return False
    is_notable = event is not None and (topic == _TOPIC or severity != "INFO")
    LOG.log(logging.WARNING if is_notable else logging.INFO, "Node %s: %s", node.uuid, event or f"power is {values}")
    return True


# Correcting the machine, with the lock


def _bring_back(task: TaskManager) -> None:
    """Take the lock if it is free, read again, and bring the machine into the recorded state."""
    node, recorded = task.node, task.node.power_state
    try:
        task.upgrade_lock(f"bringing the machine back to '{recorded}'", retry=False)
    except NodeLocked as error:
        LOG.debug("Node %s is in use and not brought back to its power state: %s", node.uuid, error)
        return
    seen, _ = state_of(task)
    is_unchanged = node.power_state == recorded and node.target_power_state is None
    is_due = is_unchanged and not node.maintenance and node.provision_state not in states.NO_POWER_SYNC
    if not is_due or recorded is None or seen is None or seen == recorded:
        return
    answer = attempt(task, TaskManager.change_power, recorded)
    failed = f", which failed: {in_words(answer.reason)}" if isinstance(answer, Failed) else ""
    text = f"The machine was found '{seen}' and was ordered to be '{recorded}' as recorded{failed}"
    LOG.warning("Node %s: %s", node.uuid, text)

    def write(_connection: object) -> None:
        add_history(task, _TOPIC, text, "ERROR" if failed else "WARNING")
        task.save_and_release()

    task.store.run(write, repeatable=True)
