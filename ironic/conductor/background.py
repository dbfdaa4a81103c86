"""Work that a user asked for and does not wait for, apart from power and provisioning.

It runs on a worker with the node locked. How it ended shows on the node: a failure in ``last_error`` and in the
history, a success in what was changed. The lock comes back in the same write.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.history import remember
from ironic.conductor.moves import shortened
from ironic.conductor.task import Task

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """What is done, in words that follow "... failed", and what it is filed under in node history."""

    what: str
    topic: str
    act: Callable[..., None]


def begin(task: Task, work: Work, *args: Any) -> None:
    """Have ``work.act(task, *args)`` called once the task's block has ended; what it changes on the node is saved."""
    task.spawn_after(_finish, task, work, *args)
    task.set_spawn_error_hook(_not_started, task, work)
    task.node.last_error = None
    task.node.save()


def _finish(task: Task, work: Work, *args: Any) -> None:
    answer = attempt(task, work.act, *args)
    task.store.run(lambda _: _write_end(task, work, answer), repeatable=True)


def _write_end(task: Task, work: Work, answer: object) -> None:
    if isinstance(answer, Failed):
        _note_failure(task, work, answer.reason)
    else:
        LOG.info("Node %s: %s is done", task.node.uuid, work.what)
    task.save_and_release()


def _not_started(error: BaseException, task: Task, work: Work) -> None:
    _note_failure(task, work, str(error))
    task.node.save()


def _note_failure(task: Task, work: Work, reason: str) -> None:
    text = f"{work.what[:1].upper()}{work.what[1:]} failed: {reason}"
    task.node.last_error = shortened(text)
    LOG.error("Node %s: %s", task.node.uuid, text)
    remember(task, work.topic, text, severity="ERROR")
