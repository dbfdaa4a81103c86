"""Soft power changes whose machine shuts down while no worker waits and the node is not locked.

What is awaited is on the node (`power.AWAITED`), so that any conductor ends the change. Another power change replaces
it. A machine that has to come up again is switched on by the worker that ends the change.
"""

import logging
from typing import Any, Final

from ironic.conductor import node_events, power
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.locking import LockMode
from ironic.conductor.party_rounds import OWNERS, PartyRounds
from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.core import states, syntax
from ironic.core.context import service_context
from ironic.core.errors import IronicError, NodeLocked, NodeNotFound, NoFreeConductorWorker
from ironic.core.fair_shares import Party, party_of
from ironic.core.values import utc_now
from ironic.rpc.hash_ring import HashRingManager

LOG = logging.getLogger(__name__)

_SECONDS: Final = 5.0
_PURPOSE: Final = "waiting for a shutdown"


def jobs(tasks: TaskFactory, hash_ring: HashRingManager) -> tuple[PeriodicTask, ...]:
    """Return the periodic task that ends such changes."""
    return (PeriodicTask("awaited shutdowns", _SECONDS, AwaitedShutdowns(tasks, hash_ring)),)


class AwaitedShutdowns:
    """The periodic task that looks at machines that shut down."""

    def __init__(self, tasks: TaskFactory, hash_ring: HashRingManager) -> None:
        self._tasks, self._hash_ring = tasks, hash_ring
        self._rounds = PartyRounds(tasks, _PURPOSE, lambda uuids: list(map(self._visit, uuids)))

    def __call__(self) -> None:
        """Look at each machine of this conductor once."""
        found: list[tuple[str, Party]] = []
        for target in (states.POWER_OFF, states.POWER_ON):
            # Few nodes have a target and no lock; to search the text of all nodes here would cost a database seconds.
            filters: dict[str, Any] = {"target_power_state": target, "reserved": False}
            columns = ("uuid", "driver", "conductor_group", *OWNERS)
            found.extend(
                (uuid, party_of(owner, lessee))
                for uuid, driver, group, owner, lessee in self._tasks.store.nodes.rows(columns, filters=filters)
                if self._hash_ring.is_mine(self._tasks.host, uuid, driver, group)
            )
        self._rounds.visit(found)

    def _visit(self, uuid: str) -> None:
        try:
            with self._tasks.acquire(service_context(), uuid, LockMode.PERIODIC_SHARED, purpose=_PURPOSE) as task:
                _look(task)
        except (NodeLocked, NodeNotFound, NoFreeConductorWorker) as error:
            LOG.debug("The shutdown of node %s is looked at later: %s", uuid, error)
        except Exception:
            LOG.exception("Node %s: looking at its shutdown failed", uuid)


def _look(task: TaskManager) -> None:
    """End the change if the machine is off, or if its time is over; a BMC that does not answer is asked again."""
    awaited = task.node.driver_internal_info.get(power.AWAITED)
    if awaited is None:
        return
    try:
        is_off = task.power.get_power_state(task) == states.POWER_OFF
    except IronicError as error:
        LOG.info("Node %s: whether it has shut down can't be read: %s", task.node.uuid, error)
        is_off = False
    until = syntax.moment_of(awaited["until"])
    if is_off or until is None or utc_now() >= until:
        task.upgrade_lock("ending a soft power change", retry=False)
        if task.node.driver_internal_info.get(power.AWAITED) == awaited:
            task.spawn_after(_end, task, awaited["target"], is_off)


def _end(task: TaskManager, target: str, is_off: bool) -> None:
    answer = attempt(task, power.end_shutdown, target, is_off)
    if isinstance(answer, Failed):
        power.set_error(task.node, power.failure_text(task.node.uuid, target, answer.reason))
    node_events.power_was_set(task, target, has_failed=isinstance(answer, Failed))
    task.save_and_release()
