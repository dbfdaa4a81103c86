"""Opening and closing the console of a machine, and where it is reached.

The node says whether its console is open; a console that is open already may be opened again, which repairs one that
broke. What serves a console ends with its conductor, so consoles that should be open are opened again by a conductor
that starts, and by the one a node comes to.
"""

import logging
from typing import Final

from ironic.conductor import background, telling
from ironic.conductor.answering import answers
from ironic.conductor.background import Work
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.history import remember
from ironic.conductor.jobs import Job
from ironic.conductor.moves import shortened
from ironic.conductor.task import Task
from ironic.conductor.tasks import Tasks
from ironic.conf import CONF
from ironic.core.context import service_context
from ironic.core.errors import NodeLocked, NodeNotFound
from ironic.core.machine_documents import Console
from ironic.rpc.placement import Placement

LOG = logging.getLogger(__name__)

_TOPIC: Final = "console"


@answers
def change_console(task: Task, enabled: bool) -> None:
    """Begin to open or close the console, or refuse it."""
    task.validated(task.console)
    what = "opening the console" if enabled else "closing the console"
    background.begin(task, Work(what, _TOPIC, _switch), enabled)


@answers
def get_console(task: Task) -> Console:
    """Return how to reach the open console."""
    return task.validated(task.console).get_console(task)


def _switch(task: Task, enabled: bool) -> None:
    console = task.console
    with telling.console_set(task):
        (console.start_console if enabled else console.stop_console)(task)
        task.node.console_enabled = enabled
    task.consoles.add(task.node_id) if enabled else task.consoles.discard(task.node_id)


def jobs(tasks: Tasks, placement: Placement) -> tuple[Job, ...]:
    """Return the job that looks after consoles, by the options as they are now."""
    reopening = Reopening(tasks, placement)
    return (Job("consoles", CONF.conductor.check_provision_state_interval, reopening, at_once=True),)


class Reopening:
    """Opens the consoles of this conductor's nodes that should be open and were not opened by this process."""

    def __init__(self, tasks: Tasks, placement: Placement) -> None:
        self._tasks, self._placement = tasks, placement

    def __call__(self) -> None:
        """Open what came here since the last call; a node that is busy has to wait for the next one."""
        rows = self._tasks.store.nodes.rows(
            ("id", "uuid", "driver", "conductor_group"), filters={"console_enabled": True}
        )
        mine = {row[0]: row[1] for row in rows if self._placement.is_mine(self._tasks.host, *row[1:])}
        self._tasks.consoles.intersection_update(mine)
        for node_id in mine.keys() - self._tasks.consoles:
            self._visit(mine[node_id])

    def _visit(self, uuid: str) -> None:
        try:
            with self._tasks.acquire(
                service_context(), uuid, purpose="opening the console again", retry=False, background=True, unasked=True
            ) as task:
                if task.node.console_enabled:
                    _open_again(task)
        except (NodeLocked, NodeNotFound) as error:
            LOG.debug("The console of node %s is not opened again now: %s", uuid, error)
        except Exception:
            LOG.exception("The console of node %s could not be looked after; its turn comes again", uuid)


def _open_again(task: Task) -> None:
    answer = attempt(task, _restore)
    if not isinstance(answer, Failed):
        task.consoles.add(task.node_id)
        LOG.info("Node %s: its console is open again", task.node.uuid)
        task.save_and_release()
        return
    text = f"Opening the console again failed: {answer.reason} It counts as closed; open it when that is mended."
    task.node.console_enabled, task.node.last_error = False, shortened(text)
    LOG.error("Node %s: %s", task.node.uuid, text)

    def write(_connection: object) -> None:
        remember(task, _TOPIC, text, severity="ERROR")
        task.save_and_release()

    task.store.run(write, repeatable=True)


def _restore(task: Task) -> None:
    console = task.validated(task.console)
    with telling.console_restored(task):
        console.start_console(task)
