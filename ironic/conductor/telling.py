"""What a conductor tells those who listen to notifications of what it does to a machine: power, consoles.

It is told around the act. Callers ask nothing: when nobody listens, nothing is read or built here. State moves are
`telling_moves`'.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ironic.rpc import notifications
from ironic.rpc.notifications import END, ERROR, NOTICES, START, SUCCESS, Payload, subjects
from ironic.rpc.notifications.notices import CONDUCTOR

if TYPE_CHECKING:
    from ironic.drivers.task import Task


def power_corrected(task: "Task", before: str | None, now: str | None) -> None:
    """Tell that the recorded power state was not the machine's, and is now."""
    more = {"from_power": before, "power_state": now}
    _tell(task, "node.power_state_corrected", SUCCESS, notifications.NODE_CORRECTED_POWER, **more)


@contextmanager
def power_set(task: "Task", target: str) -> Iterator[None]:
    """Tell of a power change that happens in this block."""
    with _told(task, "node.power_set", notifications.NODE_SET_POWER, to_power=target):
        yield


@contextmanager
def console_set(task: "Task") -> Iterator[None]:
    """Tell of a console that is opened or closed in this block."""
    with _told(task, "node.console_set", notifications.NODE):
        yield


@contextmanager
def console_restored(task: "Task") -> Iterator[None]:
    """Tell of a console that is opened again in this block, because its node came to another conductor."""
    with _told(task, "node.console_restore", notifications.NODE):
        yield


@contextmanager
def _told(task: "Task", event: str, payload: Payload, **more: Any) -> Iterator[None]:
    _tell(task, event, START, payload, **more)
    try:
        yield
    except BaseException:
        _tell(task, event, ERROR, payload, **more)
        raise
    _tell(task, event, END, payload, **more)


def _tell(task: "Task", event: str, status: str, payload: Payload, **more: Any) -> None:
    if NOTICES.on:
        values = subjects.node(task.store, task.node) | more
        NOTICES.tell(CONDUCTOR, task.context, event, status, payload, values)
