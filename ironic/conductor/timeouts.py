"""Time-outs of waits: fail nodes whose ramdisk or driver did not call back in time, with a reason.

Every wait ends: nodes that wait longer than the option of their state says are failed. Only unlocked nodes of this
conductor are examined, each again under its lock. How a flow fails is its own business: a handler per state is given at
wiring; without one the node is failed without clean-up (and marked as S55 demands). A node in maintenance may wait for
ever: an operator works on it.

The reason names the last milestone and the one expected next. On its way a machine is started, its ramdisk looks its
node up (and gets a token), the agent sends heartbeats; all of that is read from what the node records anyway.
"""

import functools
import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from ironic.conductor import transitions
from ironic.conductor.locking import LockMode
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.conf import CONF
from ironic.core.context import service_context
from ironic.core.errors import NodeLocked, NodeNotFound, NoFreeConductorWorker, OwnersWorkersInUse, TemporaryFailure
from ironic.core.flows.flow import FLOWS, Wait, in_state
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.memory.agent_memory import KnownAgent
from ironic.rpc.hash_ring import HashRingManager

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

# Gets the exclusive task on a node and the reason.
Handler = Callable[[TaskManager, str], None]

WAITS: Final[Mapping[str, Wait]] = {flow.waiting: flow.wait for flow in FLOWS if flow.waiting and flow.wait}


class Timeouts:
    """The periodic task that ends overdue waits."""

    def __init__(self, tasks: TaskFactory, hash_ring: HashRingManager, handlers: Mapping[str, Handler]) -> None:
        self._tasks, self._hash_ring, self._handlers = tasks, hash_ring, handlers

    def __call__(self) -> None:
        """End the waits of this conductor's nodes that are overdue now."""
        try:
            for state, wait in WAITS.items():
                for uuid in self._overdue(state, wait) if _seconds(wait) else ():
                    self._end(uuid, state, wait, functools.partial(self._is_overdue, wait))
        except NoFreeConductorWorker:
            LOG.warning("No worker is free to end overdue waits on conductor %s; trying again later", self._tasks.host)

    def _overdue(self, state: str, wait: Wait) -> list[str]:
        """Return the UUIDs of this conductor's unlocked nodes that wait for too long."""
        filters: dict[str, Any] = {"provision_state": state, "reserved": False, "maintenance": False}
        if wait.since == "provision_updated_at":
            filters["provision_updated_before"] = self._limit(wait)
        rows = self._tasks.store.nodes.rows(("uuid", "driver", "conductor_group", wait.since), filters=filters)
        return [
            row[0]
            for row in rows
            if self._is_over(wait, row[3]) and self._hash_ring.is_mine(self._tasks.host, *row[:3])
        ]

    def _limit(self, wait: Wait) -> datetime:
        return self._tasks.store.clock.now() - timedelta(seconds=_seconds(wait))

    def _is_over(self, wait: Wait, since: datetime | None) -> bool:
        return since is not None and since < self._limit(wait)

    def _is_overdue(self, wait: Wait, node: "NodeRecord") -> bool:
        return self._is_over(wait, getattr(node, wait.since))

    def _end(self, uuid: str, state: str, wait: Wait, is_over: "Callable[[NodeRecord], bool]") -> None:
        """Lock the node, check again, and have the handler of its state end the wait on a worker."""
        try:
            purpose = f"ending an overdue '{state}'"
            with self._tasks.acquire(service_context(), uuid, LockMode.PERIODIC, purpose=purpose) as task:
                if task.node.provision_state == state and is_over(task.node):
                    task.spawn_after(self._handlers.get(state, fail_without_clean_up), task, reason(task.node, wait))
        except (NodeLocked, NodeNotFound, OwnersWorkersInUse) as error:
            LOG.debug("The wait of node %s is not ended in this run: %s", uuid, error)
        except TemporaryFailure:
            raise  # no worker is free, or the database is away, which concerns all nodes
        except Exception:
            LOG.exception("Node %s: its overdue wait can't be ended; the next run tries again", uuid)


def _seconds(wait: Wait) -> int:
    """Return how many seconds a node may wait; 0 is for ever."""
    seconds: int = CONF.conductor[wait.option]
    return seconds


def fail_without_clean_up(task: TaskManager, text: str) -> None:
    """Fail a node for a reason, leaving the machine as it is."""
    transitions.set_fault(task.node, text)
    task.finish("fail", last_error=text)


def reason(node: "NodeRecord", wait: Wait) -> str:
    """Return in words what the node waited for, since when, and the last milestone it reached."""
    flow = in_state(node.provision_state)
    step = StepCursor.of(node, flow).current if flow else None
    awaited = wait.expected + (f" about step {step.name}" if step else "")
    since = getattr(node, wait.since)
    last, following = last_and_next(node, since, awaited)
    return (
        f"Timed out after {_seconds(wait)} seconds in state '{node.provision_state}' (since {since} UTC). Last "
        f"milestone: {last}. Expected next: {following}. Look at the machine's console and network, then try again."
    )


def last_and_next(node: "NodeRecord", since: datetime | None, expected: str) -> tuple[str, str]:
    """Return the last milestone in words, and the next one on the way to what is ``expected`` in the end."""
    agent = KnownAgent(node.driver_internal_info)
    last_heartbeat = agent.last_heartbeat
    if last_heartbeat is not None and since is not None and last_heartbeat >= since:
        return f"its agent's last heartbeat came at {last_heartbeat} UTC", expected
    if agent.is_known:
        when = f" (last heartbeat at {last_heartbeat} UTC)" if last_heartbeat else ""
        return f"its agent runs since before the wait{when}", expected
    if agent.token:
        return "its ramdisk has looked its node up", expected
    changed = agent.power_changed_at
    started = (
        f"none (recorded power state: {node.power_state or 'unknown'})"
        if changed is None
        else f"its power state was set to '{node.power_state}' at {changed} UTC"
    )
    return started, f"its ramdisk to start and look its node up, then {expected}"
