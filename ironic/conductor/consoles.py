"""Consoles of machines: open and close one, return how it is reached, and open it again on another conductor.

The node says whether its console is open. A console that is open may be opened again, which repairs a broken one. The
process that serves a serial console outlives its conductor, but no conductor relies on that: one that starts opens the
consoles of its nodes again, in place of those of its earlier process, and so does the conductor that a node comes to. A
console that ends by itself is opened again at once; one that ends again soon after is closed.
"""

import functools
import logging
from collections.abc import Container
from dataclasses import dataclass
from typing import Final

from ironic.conductor import background_work, node_events
from ironic.conductor.background_work import Work
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.locking import LockMode
from ironic.conductor.node_events import add_history
from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.conductor.transitions import shortened
from ironic.conf import CONF
from ironic.core.bmc_readings import Console
from ironic.core.context import service_context
from ironic.core.errors import NodeLocked, NodeNotFound, NoFreeConductorWorker
from ironic.core.errors.failure_texts import failure_text
from ironic.core.errors.hardware_errors import ConsoleContainerError, ConsoleError
from ironic.core.projects.fair_shares import party_of
from ironic.drivers.modules.console.console_servers import SERVERS, ConsoleEnd
from ironic.drivers.modules.graphical import containers
from ironic.rpc.hash_ring import HashRingManager

LOG = logging.getLogger(__name__)

_TOPIC: Final = "console"
# A console that ends twice within so many seconds is closed.
_SOON_SECONDS: Final = 60.0


@rpc_method
def change_console(task: TaskManager, enabled: bool) -> None:
    """Start to open or close the console on a worker; raises what the console interface lacks."""
    task.validated(task.console)

    def switch(task: TaskManager) -> None:
        console = task.console
        with node_events.console_set(task):
            (console.start_console if enabled else console.stop_console)(task)
            task.node.console_enabled = enabled
        task.consoles.add(task.node_id) if enabled else task.consoles.discard(task.node_id)

    what = "opening the console" if enabled else "closing the console"
    background_work.begin(task, Work(what, _TOPIC, switch))


@rpc_method
def get_console(task: TaskManager) -> Console:
    """Return how to reach the open console."""
    return task.validated(task.console).get_console(task)


def close_for_tear_down(task: TaskManager) -> None:
    """Close the console of an instance that is removed; it counts as open and opens again with the next instance."""
    if task.node.console_enabled:
        with node_events.console_stopped(task):
            task.console.stop_console(task)


def open_for_instance(task: TaskManager) -> str | None:
    """Open the console of a machine that was deployed; return why it is closed now, which fails no deployment."""
    return _open_again(task) if task.node.console_enabled else None


def close_for_deletion(task: TaskManager) -> None:
    """Close the console of a node that is deleted; a failure is logged only."""
    if task.node.console_enabled:

        def close(task: TaskManager) -> None:
            with node_events.console_set(task):
                task.console.stop_console(task)
                task.node.console_enabled = False

        attempt(task, close)
        task.consoles.discard(task.node_id)


def jobs(tasks: TaskFactory, hash_ring: HashRingManager) -> tuple[PeriodicTask, ...]:
    """Return the periodic task that restores consoles, by the options as they are now."""
    restorer = ConsoleRestorer(tasks, hash_ring)
    SERVERS.report_to(restorer.ended)
    return (PeriodicTask("consoles", CONF.conductor.check_provision_state_interval, restorer, at_once=True),)


@dataclass(frozen=True, slots=True, eq=False)
class _SeenEnd:
    """Why a console has ended by itself, and whether it had done so shortly before."""

    reason: str
    is_second: bool

    @property
    def refusal(self) -> str | None:
        """Why the console must not be opened again; None when it may."""
        return f"it has ended twice within {_SOON_SECONDS:.0f} seconds: {self.reason}" if self.is_second else None


class ConsoleRestorer:
    """Opens the consoles of this conductor's nodes that should be open and are not served by this process."""

    def __init__(self, tasks: TaskFactory, hash_ring: HashRingManager) -> None:
        self._tasks, self._hash_ring = tasks, hash_ring
        # By node, the last end of a console that is not open again, and when its console has ended last.
        self._ended: dict[str, _SeenEnd] = {}
        self._last_end: dict[str, float] = {}

    def __call__(self) -> None:
        """Open the consoles of nodes that came to this conductor; a locked node is visited in the next run."""
        rows = self._tasks.store.nodes.rows(
            ("id", "uuid", "driver", "conductor_group"), filters={"console_enabled": True}
        )
        mine = {row[0]: row[1] for row in rows if self._hash_ring.is_mine(self._tasks.host, *row[1:])}
        self._tasks.consoles.intersection_update(mine)
        needed = set(mine.values())
        is_needed = functools.partial(self._is_needed, needed)
        SERVERS.sweep(is_needed)
        try:
            containers.sweep(is_needed)
        except ConsoleContainerError as error:
            LOG.warning("Containers of consoles that need none here may be left: %s", error)
        for node_id, uuid in mine.items():
            if node_id not in self._tasks.consoles or uuid in self._ended:
                self._restore(uuid)
        for uuid in list(self._ended):
            if not is_needed(uuid):
                self._ended.pop(uuid, None)

    def _is_needed(self, known: Container[str], uuid: str) -> bool:
        """Return whether a console of a node should be here now, or is just being opened."""
        if uuid in known:
            return True
        try:
            columns = ("reservation", "console_enabled", "driver", "conductor_group")
            reservation, is_enabled, *whose = self._tasks.store.nodes.row(columns, uuid)
        except NodeNotFound:
            return False
        return reservation == self._tasks.host or (
            is_enabled and self._hash_ring.is_mine(self._tasks.host, uuid, *whose)
        )

    def ended(self, end: ConsoleEnd) -> None:
        """Open a console that has ended by itself again, on a worker; without a free one the next run does it."""
        LOG.warning("Node %s: its console has ended by itself: %s", end.uuid, end.reason)
        now = self._tasks.clock.monotonic()
        self._last_end = {uuid: at for uuid, at in self._last_end.items() if now - at < _SOON_SECONDS}
        self._ended[end.uuid] = _SeenEnd(end.reason, is_second=end.uuid in self._last_end)
        self._last_end[end.uuid] = now
        try:
            party = party_of(*self._tasks.store.nodes.row(("owner", "lessee"), end.uuid))
            slot = self._tasks.pool.take(f"opening the console of node {end.uuid} again", party, background=True)
            slot.start(self._restore, end.uuid)
        except (NodeNotFound, NoFreeConductorWorker) as error:
            LOG.info("Node %s: its console is opened again in the next run: %s", end.uuid, error)

    def _restore(self, uuid: str) -> None:
        try:
            purpose = "opening the console again"
            with self._tasks.acquire(service_context(), uuid, LockMode.PERIODIC, purpose=purpose) as task:
                node, end = task.node, self._ended.get(uuid)
                is_mine = self._hash_ring.is_mine(task.host, uuid, node.driver, node.conductor_group)
                if node.console_enabled and is_mine:
                    _open_again(task, end.refusal if end else None)
                    task.save_and_release()
                # A console that has ended once more meanwhile is visited again.
                if end is not None and self._ended.get(uuid) is end:
                    self._ended.pop(uuid, None)
        except (NodeLocked, NodeNotFound) as error:
            LOG.debug("The console of node %s is not opened in this run: %s", uuid, error)
        except Exception:
            LOG.exception("The console of node %s could not be opened again; the next run tries again", uuid)


def _open_again(task: TaskManager, refusal: str | None = None) -> str | None:
    """Open the console unless something is against it.

    A failure closes it for good, with a line in node history, and is returned in words.
    """

    def restore(task: TaskManager) -> None:
        console = task.validated(task.console)
        with node_events.console_restored(task):
            if refusal:
                console.stop_console(task)
                raise ConsoleError(node=task.node.uuid, error=refusal)
            console.start_console(task)

    answer = attempt(task, restore)
    if not isinstance(answer, Failed):
        task.consoles.add(task.node_id)
        LOG.info("Node %s: its console is open again", task.node.uuid)
        return None
    headline = "Opening the console again failed, and it is closed; correct the cause and open it"
    text = failure_text(headline, answer.reason, task.node.uuid)
    task.node.console_enabled, task.node.last_error = False, shortened(text)
    task.consoles.discard(task.node_id)
    LOG.error("Node %s: %s", task.node.uuid, text)
    add_history(task, _TOPIC, text, severity="ERROR")
    return text
