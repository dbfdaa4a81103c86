"""What a conductor records about a node for others: node history, and notifications of power and console changes.

Node history has lines about a node that users can read later, if the operator wants them kept. Notifications are sent
around the act, here as context managers; without a listener nothing is read or built. The notifications of state moves
are sent by `transitions`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ironic.conf import CONF
from ironic.drivers.contract.task import SHUTS_DOWN
from ironic.rpc import notifications
from ironic.rpc.notifications import END, ERROR, NOTIFIER, START, SUCCESS, Payload, subjects
from ironic.rpc.notifications.notifier import CONDUCTOR

if TYPE_CHECKING:
    from ironic.drivers.contract.task import Task

    class HostTask(Task, Protocol):
        """A task that knows its conductor."""

        @property
        def host(self) -> str: ...


def add_history(
    task: "HostTask", topic: str, event: str, severity: str = "INFO", *, seconds: int | None = None
) -> None:
    """Add one line to node history, if history is kept; ``seconds`` is how long the event took."""
    if not CONF.conductor.node_history:
        return
    task.store.history.add(
        task.node.id,
        event=event,
        event_type=topic,
        severity=severity,
        conductor=task.host,
        user=task.context.user_id,
        project=task.context.project_id,
        state=task.node.provision_state,
        target=task.node.target_provision_state,
        seconds=seconds,
    )


def power_corrected(task: "Task", before: str | None, now: str | None) -> None:
    """Notify that the recorded power state differed from the machine's and was corrected."""
    more = {"from_power": before, "power_state": now}
    _notify(task, "node.power_state_corrected", SUCCESS, notifications.NODE_CORRECTED_POWER, **more)


@contextmanager
def power_set(task: "Task", target: str) -> Iterator[None]:
    """Notify of a power change that happens in this block, but for the end of one that goes on after it."""
    payload, more = notifications.NODE_SET_POWER, {"to_power": target}
    _notify(task, "node.power_set", START, payload, **more)
    try:
        yield
    except BaseException:
        _notify(task, "node.power_set", ERROR, payload, **more)
        raise
    if task.notes.get(SHUTS_DOWN) is None:
        _notify(task, "node.power_set", END, payload, **more)


def power_was_set(task: "Task", target: str, *, has_failed: bool) -> None:
    """Notify of the end of a power change that went on after its block."""
    _notify(task, "node.power_set", ERROR if has_failed else END, notifications.NODE_SET_POWER, to_power=target)


@contextmanager
def console_set(task: "Task") -> Iterator[None]:
    """Notify of a console that is opened or closed in this block."""
    with _notified(task, "node.console_set", notifications.NODE):
        yield


@contextmanager
def console_restored(task: "Task") -> Iterator[None]:
    """Notify of a console that is opened again in this block, because its node came to another conductor."""
    with _notified(task, "node.console_restore", notifications.NODE):
        yield


@contextmanager
def console_stopped(task: "Task") -> Iterator[None]:
    """Notify of a console that is closed in this block, because the instance is removed."""
    with _notified(task, "node.console_stop", notifications.NODE):
        yield


@contextmanager
def _notified(task: "Task", event: str, payload: Payload, **more: Any) -> Iterator[None]:
    _notify(task, event, START, payload, **more)
    try:
        yield
    except BaseException:
        _notify(task, event, ERROR, payload, **more)
        raise
    _notify(task, event, END, payload, **more)


def _notify(task: "Task", event: str, status: str, payload: Payload, **more: Any) -> None:
    if NOTIFIER.on:
        values = subjects.node(task.store, task.node) | more
        NOTIFIER.emit(CONDUCTOR, task.context, event, status, payload, values)
