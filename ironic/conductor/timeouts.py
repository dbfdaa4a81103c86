"""Every wait ends: nodes that wait for their ramdisk longer than the option says are failed, with a reason.

The reason names the last thing that happened and the one that was expected next. Only unlocked nodes of this
conductor are looked at, and each again under its lock. What failing means is the flow's business: a handler per state
is given at wiring; without one the node is failed plainly (and marked as S55 demands). A node in maintenance may wait
as long as it likes, somebody is looking after it.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from ironic.conductor import faults, milestones
from ironic.conductor.task import Task
from ironic.conductor.tasks import Tasks
from ironic.conf import CONF
from ironic.core.context import service_context
from ironic.core.errors import NodeLocked, NodeNotFound, NoFreeConductorWorker
from ironic.core.flow import FLOWS, Wait, in_state
from ironic.core.step_cursor import StepCursor
from ironic.rpc.placement import Placement

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

Handler = Callable[[Task, str], None]


WAITS: Final[Mapping[str, Wait]] = {flow.waiting: flow.wait for flow in FLOWS if flow.waiting and flow.wait}


class Timeouts:
    """The job that ends overdue waits."""

    def __init__(self, tasks: Tasks, placement: Placement, handlers: Mapping[str, Handler]) -> None:
        self._tasks, self._placement, self._handlers = tasks, placement, handlers

    def __call__(self) -> None:
        """End the waits of this conductor's nodes that are overdue now."""
        try:
            for state, wait in WAITS.items():
                for uuid in self._overdue(state, wait) if _seconds(wait) else ():
                    self._expire(uuid, state, wait)
        except NoFreeConductorWorker:
            LOG.warning("No worker is free to end overdue waits on conductor %s; trying again later", self._tasks.host)

    def _overdue(self, state: str, wait: Wait) -> list[str]:
        columns = ("uuid", "driver", "conductor_group", wait.since)
        filters: dict[str, Any] = {"provision_state": state, "reserved": False, "maintenance": False}
        if wait.since == "provision_updated_at":
            filters["provision_updated_before"] = self._limit(wait)
        rows = self._tasks.store.nodes.rows(columns, filters=filters)
        return [row[0] for row in rows if self._is_over(wait, row[3]) and self._is_mine(*row[:3])]

    def _limit(self, wait: Wait) -> datetime:
        return self._tasks.store.clock() - timedelta(seconds=_seconds(wait))

    def _is_over(self, wait: Wait, since: datetime | None) -> bool:
        return since is not None and since < self._limit(wait)

    def _is_mine(self, uuid: str, driver: str, group: str) -> bool:
        return self._placement.is_mine(self._tasks.host, uuid, driver, group)

    def _expire(self, uuid: str, state: str, wait: Wait) -> None:
        try:
            with self._tasks.acquire(
                service_context(),
                uuid,
                purpose=f"ending an overdue '{state}'",
                retry=False,
                background=True,
                unasked=True,
            ) as task:
                if task.node.provision_state == state and self._is_over(wait, getattr(task.node, wait.since)):
                    task.spawn_after(self._handlers.get(state, fail_plainly), task, reason(task.node, wait))
        except (NodeLocked, NodeNotFound) as error:
            LOG.debug("Node %s is left alone for now: %s", uuid, error)


def _seconds(wait: Wait) -> int:
    """Return how long a node may wait; 0 is for ever."""
    seconds: int = CONF.conductor[wait.option]
    return seconds


def reason(node: "NodeRecord", wait: Wait) -> str:
    """Say what was waited for, since when, and what was heard last."""
    flow = in_state(node.provision_state)
    step = StepCursor.of(node, flow).current if flow else None
    awaited = wait.expected + (f" about step {step.name}" if step else "")
    since = getattr(node, wait.since)
    last, following = milestones.last_and_next(node, since, awaited)
    return (
        f"Timed out after {_seconds(wait)} seconds in state '{node.provision_state}' (since {since} UTC). Last "
        f"milestone: {last}. Expected next: {following}. Look at the machine's console and network, then try again."
    )


def fail_plainly(task: Task, text: str) -> None:
    """Fail a node for a reason, leaving the machine as it is."""
    faults.mark(task.node, text)
    task.finish("fail", last_error=text)
