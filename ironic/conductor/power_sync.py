"""Keeping record and machine of one mind about power, without getting in anybody's way.

The nodes of this conductor are read in shares, so that the readings are spread over the interval; one statement finds
the nodes of a share. Nothing is locked for reading, nor for writing down what was read: that is one UPDATE on the
condition that nobody has the node. Only bringing a machine back into its state takes the lock, at once or not at all,
and looks again first. What a reading means is core/power_readings.py's business. Where an operation owns the machine's
power (waiting and held states) nothing is read; doc/contract/states.md#power-synchronisation has the others.
"""

import logging
import math
import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from ironic.conductor import telling
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.history import remember
from ironic.conductor.jobs import Job
from ironic.conductor.power_readings import Readings, state_of
from ironic.conductor.task import Task
from ironic.conductor.tasks import Tasks
from ironic.conf import CONF
from ironic.core import power_readings, states
from ironic.core.errors import NodeLocked, NodeNotFound
from ironic.core.model.node import POWER_FAILURE
from ironic.core.power_readings import NOTHING, Limits, Memory, Verdict
from ironic.db import Share
from ironic.rpc.placement import Placement

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

_PURPOSE: Final = "power synchronisation"
_TOPIC: Final = "power"

# Shares of the interval: short enough to spread the work, long enough that a share is worth a statement.
_SHARE_SECONDS: Final = 10.0

# Differing readings that are waited for again; in a row like this the fault is not with single machines.
_MOST_DOUBTFUL: Final = 500

_UNTOUCHED: Final = ("power_state", "target_power_state", "provision_state", "maintenance", "reservation")


def jobs(tasks: Tasks, placement: Placement) -> tuple[Job, ...]:
    """Return the jobs of power synchronisation, by the options as they are now."""
    interval = CONF.conductor.sync_power_state_interval
    parts = max(1, math.ceil(interval / _SHARE_SECONDS))
    sync, recovery = PowerSync(tasks, placement, parts), Recovery(tasks, placement)
    return (
        Job("power synchronisation", interval / parts, sync, sync.stop),
        Job("recovery from power failures", CONF.conductor.power_failure_recovery_interval, recovery, recovery.stop),
    )


class PowerSync:
    """Compares one share of the nodes with their machines at each call."""

    def __init__(self, tasks: Tasks, placement: Placement, parts: int = 1) -> None:
        self._tasks, self._placement, self._parts = tasks, placement, parts
        self._next = random.randrange(parts)
        self._memories: dict[int, Memory] = {}
        self._readings = Readings(tasks, _PURPOSE, self._heard)
        self.stop: Callable[[], None] = self._readings.stop

    def __call__(self) -> None:
        """Read the next share, and again those whose last reading was doubtful."""
        number, self._next = self._next, (self._next + 1) % self._parts
        doubtful = [node_id for node_id, memory in self._memories.items() if memory.agreeing][:_MOST_DOUBTFUL]
        filters = {
            "share": Share(self._parts, number, doubtful),
            "reserved": False,
            "maintenance": False,
            "target_power_state": None,
            "provision_state_not_in": states.NO_POWER_SYNC,
        }
        nodes = self._tasks.store.nodes.find(**filters)
        self._forget_absent(doubtful, nodes)
        self._readings.take(mine(nodes, self._tasks, self._placement))

    def _forget_absent(self, doubtful: list[int], nodes: "list[NodeRecord]") -> None:
        """Forget doubts about nodes that are gone or in somebody's hands: what was seen there means nothing now."""
        for node_id in set(doubtful) - {node.id for node in nodes}:
            self._memories.pop(node_id, None)

    def _heard(self, task: Task, seen: str | None, why: str) -> None:
        if seen is None and not why:
            self._memories.pop(task.node_id, None)  # the BMC answers but does not tell, which proves nothing
            return
        verdict, memory = power_readings.judge(task.node.power_state, seen, self._memory(task), _limits(task.node))
        if verdict is Verdict.FINE:
            self._memories.pop(task.node_id, None)
        elif not _is_as_read(task):
            # Somebody was there in between, so the reading may be older than what is recorded.
            self._memories.pop(task.node_id, None)
        else:
            self._keep(task, memory)
            self._act(task, verdict, seen, why)

    def _memory(self, task: Task) -> Memory:
        return self._memories.get(task.node_id, NOTHING)

    def _keep(self, task: Task, memory: Memory) -> None:
        if memory == NOTHING:
            self._memories.pop(task.node_id, None)
        else:
            self._memories[task.node_id] = memory

    def _act(self, task: Task, verdict: Verdict, seen: str | None, why: str) -> None:
        node = task.node
        if verdict is Verdict.UNREADABLE:
            LOG.warning("Node %s: its power state can't be read: %s. It is tried again", node.uuid, why)
        elif verdict is Verdict.DOUBTFUL:
            LOG.info(
                "Node %s is '%s', recorded is '%s'; looking again before acting", node.uuid, seen, node.power_state
            )
        elif verdict is Verdict.RECORD:
            _record(task, seen)
        elif verdict is Verdict.FORCE:
            _bring_back(task)
        else:
            self._memories.pop(task.node_id, None)
            _give_up(task, seen, why)


class Recovery:
    """Ends the maintenance of nodes whose BMC answers again."""

    def __init__(self, tasks: Tasks, placement: Placement) -> None:
        self._tasks, self._placement = tasks, placement
        self._readings = Readings(tasks, "recovery from a power failure", self._heard)
        self.stop: Callable[[], None] = self._readings.stop

    def __call__(self) -> None:
        """Read all nodes with a power failure."""
        filters = {"fault": POWER_FAILURE, "maintenance": True, "reserved": False}
        nodes = self._tasks.store.nodes.find(**filters)
        self._readings.take(mine(nodes, self._tasks, self._placement))

    def _heard(self, task: Task, seen: str | None, why: str) -> None:
        if seen is None:
            LOG.debug("Node %s still has a power failure: %s", task.node.uuid, why)
            return
        healthy = {"maintenance": False, "maintenance_reason": None, "fault": None, "power_state": seen}
        text = f"The power state can be read again ('{seen}'); maintenance because of a power failure ends"
        _write(task, healthy, text, "INFO", where={"fault": POWER_FAILURE, "maintenance": True})


def mine(nodes: "list[NodeRecord]", tasks: Tasks, placement: Placement) -> "list[NodeRecord]":
    """Return the nodes that this conductor owns."""
    return [node for node in nodes if placement.is_mine(tasks.host, node.uuid, node.driver, node.conductor_group)]


def _limits(node: "NodeRecord") -> Limits:
    options = CONF.conductor
    # A machine that must not be powered off can only be followed.
    force = options.force_power_state_during_sync and not (
        node.disable_power_off and node.power_state == states.POWER_OFF
    )
    return Limits(options.sync_power_state_agreeing_readings, options.power_state_sync_max_retries, force)


def _is_as_read(task: Task) -> bool:
    try:
        return task.store.nodes.row(_UNTOUCHED, task.node_id) == tuple(getattr(task.node, name) for name in _UNTOUCHED)
    except NodeNotFound:
        return False


def _record(task: Task, seen: str | None) -> None:
    before = task.node.power_state
    if before is None:
        _write(task, {"power_state": seen}, None)
        return
    text = f"The machine was found '{seen}' although '{before}' was recorded"
    if _write(task, {"power_state": seen}, text, "WARNING"):
        telling.power_corrected(task, before, seen)


def _give_up(task: Task, seen: str | None, why: str) -> None:
    wrong = (
        f"can't be read: {why}" if seen is None else f"does not stay '{task.node.power_state}': it is '{seen}' again"
    )
    text = f"The power state {wrong}. Check the BMC and its credentials; maintenance ends by itself when it answers."
    broken = {
        "maintenance": True,
        "maintenance_reason": text,
        "fault": POWER_FAILURE,
        "power_state": "error" if seen is None else seen,
    }
    _write(task, broken, text, "ERROR")


def _write(
    task: Task,
    values: Mapping[str, object],
    event: str | None,
    severity: str = "INFO",
    where: Mapping[str, object] | None = None,
) -> bool:
    """Change the node without a lock if nobody has it and it is as it was read; tell history, and whether it was so."""
    node = task.node
    as_read = {name: getattr(node, name) for name in _UNTOUCHED}

    def write(_connection: object) -> bool:
        is_so = task.store.nodes.update(node.id, values, where=as_read | dict(where or {}))
        if is_so and event:
            remember(task, _TOPIC, event, severity)
        return is_so

    if not task.store.run(write):
        LOG.debug("Node %s was changed by somebody else meanwhile and is left alone", node.uuid)
        return False
    LOG.log(logging.WARNING if event else logging.INFO, "Node %s: %s", node.uuid, event or f"power is {values}")
    return True


def _bring_back(task: Task) -> None:
    """Take the lock if it is free, look again, and bring the machine into the recorded state."""
    recorded = task.node.power_state
    try:
        task.upgrade_lock(f"bringing the machine back to '{recorded}'", retry=False)
    except NodeLocked as error:
        LOG.debug("Node %s is left to its user: %s", task.node.uuid, error)
        return
    seen, _ = state_of(task)
    if recorded is not None and _is_due(task, recorded) and seen is not None and seen != recorded:
        _force(task, recorded, seen)


def _is_due(task: Task, recorded: str) -> bool:
    node = task.node
    free = not node.maintenance and node.target_power_state is None and node.provision_state not in states.NO_POWER_SYNC
    return free and node.power_state == recorded


def _force(task: Task, recorded: str, seen: str) -> None:
    node = task.node
    answer = attempt(task, Task.change_power, recorded)
    failed = f", which failed: {answer.reason}" if isinstance(answer, Failed) else ""
    text = f"The machine was found '{seen}' and was told to be '{recorded}' as recorded{failed}"
    LOG.warning("Node %s: %s", node.uuid, text)

    def write(_connection: object) -> None:
        remember(task, _TOPIC, text, "ERROR" if failed else "WARNING")
        task.save_and_release()

    task.store.run(write, repeatable=True)
