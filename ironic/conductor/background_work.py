"""Run on a worker what a user requests and does not wait for, other than power and provisioning.

The node stays locked meanwhile. A failure is stored in ``last_error`` and in node history, a success is seen by what
was changed. The lock is released in the same write.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.node_events import add_history
from ironic.conductor.tasks import TaskManager
from ironic.conductor.transitions import shortened

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """What is done, in words that "failed" can follow, its topic in node history, and the function that does it."""

    what: str
    topic: str
    act: Callable[[TaskManager], None]


def begin(task: TaskManager, work: Work) -> None:
    """Call ``work.act(task)`` on a worker once the task's block has ended; its changes of the node are saved."""

    def run() -> None:
        answer = attempt(task, work.act)

        def write(_connection: object) -> None:
            if isinstance(answer, Failed):
                _record_failure(task, work, answer.reason)
            else:
                LOG.info("Node %s: %s is done", task.node.uuid, work.what)
            task.save_and_release()

        task.store.run(write, repeatable=True)

    def not_started(error: BaseException) -> None:
        _record_failure(task, work, str(error))
        task.node.save()

    task.spawn_after(run)
    task.set_spawn_error_hook(not_started)
    task.node.last_error = None
    task.node.save()


def _record_failure(task: TaskManager, work: Work, reason: str) -> None:
    text = f"{work.what[:1].upper()}{work.what[1:]} failed: {reason}"
    task.node.last_error = shortened(text)
    LOG.error("Node %s: %s", task.node.uuid, text)
    add_history(task, work.topic, text, severity="ERROR")
