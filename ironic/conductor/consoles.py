"""Consoles of machines: open and close one, return how it is reached, and open it again on another conductor.

The node says whether its console is open. A console that is open may be opened again, which repairs a broken one. The
process that serves a console ends with its conductor: a conductor that starts opens the consoles of its nodes again,
and so does the conductor that a node comes to.
"""

import logging
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
from ironic.core.errors import NodeLocked, NodeNotFound
from ironic.rpc.hash_ring import HashRingManager

LOG = logging.getLogger(__name__)

_TOPIC: Final = "console"


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


def jobs(tasks: TaskFactory, hash_ring: HashRingManager) -> tuple[PeriodicTask, ...]:
    """Return the periodic task that restores consoles, by the options as they are now."""
    restorer = ConsoleRestorer(tasks, hash_ring)
    return (PeriodicTask("consoles", CONF.conductor.check_provision_state_interval, restorer, at_once=True),)


class ConsoleRestorer:
    """Opens the consoles of this conductor's nodes that should be open and were not opened by this process."""

    def __init__(self, tasks: TaskFactory, hash_ring: HashRingManager) -> None:
        self._tasks, self._hash_ring = tasks, hash_ring

    def __call__(self) -> None:
        """Open the consoles of nodes that came to this conductor; a locked node is visited in the next run."""
        rows = self._tasks.store.nodes.rows(
            ("id", "uuid", "driver", "conductor_group"), filters={"console_enabled": True}
        )
        mine = {row[0]: row[1] for row in rows if self._hash_ring.is_mine(self._tasks.host, *row[1:])}
        self._tasks.consoles.intersection_update(mine)
        for node_id in mine.keys() - self._tasks.consoles:
            uuid = mine[node_id]
            try:
                purpose = "opening the console again"
                with self._tasks.acquire(service_context(), uuid, LockMode.PERIODIC, purpose=purpose) as task:
                    if task.node.console_enabled:
                        _open_again(task)
            except (NodeLocked, NodeNotFound) as error:
                LOG.debug("The console of node %s is not opened in this run: %s", uuid, error)
            except Exception:
                LOG.exception("The console of node %s could not be opened again; the next run tries again", uuid)


def _open_again(task: TaskManager) -> None:
    """Open the console; a failure closes it for good, with a line in node history."""

    def restore(task: TaskManager) -> None:
        console = task.validated(task.console)
        with node_events.console_restored(task):
            console.start_console(task)

    answer = attempt(task, restore)
    if not isinstance(answer, Failed):
        task.consoles.add(task.node_id)
        LOG.info("Node %s: its console is open again", task.node.uuid)
        task.save_and_release()
        return
    text = f"Opening the console again failed: {answer.reason} The console is closed; correct the cause and open it."
    task.node.console_enabled, task.node.last_error = False, shortened(text)
    LOG.error("Node %s: %s", task.node.uuid, text)

    def write(_connection: object) -> None:
        add_history(task, _TOPIC, text, severity="ERROR")
        task.save_and_release()

    task.store.run(write, repeatable=True)
