"""Run on a worker what a user requests and does not wait for, other than power and provisioning.

The node stays locked meanwhile. A failure is stored in ``last_error`` and in node history, a success is seen by what
was changed. The lock is released in the same write.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from ironic.conductor.flows.outcomes import Again, Failed, attempt_repeatable
from ironic.conductor.node_events import add_history
from ironic.conductor.tasks import TaskManager
from ironic.conductor.transitions import shortened
from ironic.core.errors.failure_texts import Reason, failure_text
from ironic.core.flows import node_waits
from ironic.drivers.contract import awaited_setting

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
        answer = attempt_repeatable(task, work.act)

        def write(_connection: object) -> None:
            if isinstance(answer, Failed):
                _record_failure(task, work.what, work.topic, answer.reason)
            elif isinstance(answer, Again):
                LOG.info("Node %s: %s goes on while the machine restarts", task.node.uuid, work.what)
            else:
                LOG.info("Node %s: %s is done", task.node.uuid, work.what)
            task.save_and_release()

        task.store.run(write, repeatable=True)

    def not_started(error: BaseException) -> None:
        _record_failure(task, work.what, work.topic, error)
        task.node.save()

    task.spawn_after(run)
    task.set_spawn_error_hook(not_started)
    task.node.last_error = None
    task.node.save()


def end_awaited(task: TaskManager, reason: Reason | None) -> None:
    """End work that went on while the machine restarted; ``reason`` says why it failed, None that it did not."""
    node_waits.end(task.node, awaited_setting.KIND)
    if reason is not None:
        _record_failure(task, "changing a setting of the firmware", "boot mode", reason)
    task.node.save()


def _record_failure(task: TaskManager, what: str, topic: str, reason: Reason) -> None:
    text = failure_text(f"{what[:1].upper()}{what[1:]} failed", reason, task.node.uuid)
    task.node.last_error = shortened(text)
    LOG.error("Node %s: %s", task.node.uuid, text)
    add_history(task, topic, text, severity="ERROR")
