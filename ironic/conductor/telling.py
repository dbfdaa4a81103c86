"""What a conductor tells those who listen to notifications: states, power, consoles.

A state move is told once it is committed; the rest around the act. Callers ask nothing: when nobody listens, nothing is
read or built here.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ironic.core import states
from ironic.core.context import RequestContext
from ironic.rpc import notifications
from ironic.rpc.notifications import END, ERROR, NOTICES, START, SUCCESS, Payload, subjects
from ironic.rpc.notifications.notices import CONDUCTOR

if TYPE_CHECKING:
    from ironic.conductor.task import Task
    from ironic.conductor.transitions import Move
    from ironic.db import NodeRecord, Store

_FAILURES: Final = frozenset({"fail", "error"})


def provision_set(store: "Store", context: RequestContext, node: "NodeRecord", move: "Move") -> None:
    """Tell of a state move when the open transaction, in which it is written, is committed."""
    if not NOTICES.on:
        return
    values = subjects.node(store, node) | {
        "event": move.event,
        "previous_provision_state": move.old,
        "previous_target_provision_state": move.old_target,
    }
    tell = functools.partial(NOTICES.tell, CONDUCTOR, context, "node.provision_set", status_of(move))
    store.after_commit(lambda: tell(notifications.NODE_SET_PROVISION, values))


def status_of(move: "Move") -> str:
    """Return the status of a move: it failed, left a stable state, reached one, or went on in between."""
    if move.event in _FAILURES:
        return ERROR
    was, is_now = move.old in states.STABLE, move.new in states.STABLE
    return SUCCESS if was == is_now else START if was else END


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
