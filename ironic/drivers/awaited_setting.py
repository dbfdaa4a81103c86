"""Settings of a machine's firmware that take effect when it restarts, and who waits for them.

A restart takes minutes, so work that can be repeated does not occupy a worker meanwhile. Within `suspendable`,
`suspend` remembers on the node what is awaited, restarts the machine and ends the work by `SettingAwaited`. The
conductor lets the node wait, or releases it. A periodic method of the interface polls the BMC through `check` and
reports the end; then the work is repeated, and finds the setting in effect. Any conductor can continue. Within
`suspendable_by_step` the step, which polls, goes on by itself.

Within `without_waiting`, as in clean-ups, the setting takes effect at the next start, and `SettingOrdered` says so.
Elsewhere, as on child nodes, the work itself waits.
"""

import contextvars
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Final

from ironic.core import states
from ironic.core.errors import IronicError
from ironic.core.flow import Flow, in_state
from ironic.core.values import utc_now
from ironic.drivers import awaited_event
from ironic.drivers.step_declarations import SettingAwaited, StepDone, StepFailed
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)

# Key in driver_internal_info, and the filters of the periodic method that polls for such nodes.
KEY: Final = "awaited_setting"
AWAITED: Final = {"reserved": False, "remembers": KEY}
# For so long after its end a wait is not overdue: the periodic method may come late.
_GRACE: Final = timedelta(minutes=5)


class _Waiter(Enum):
    """Who waits: the running work, the released node, a step that polls, or no one."""

    WORK = auto()
    NODE = auto()
    STEP = auto()
    NO_ONE = auto()


_WAITER: Final = contextvars.ContextVar("waiter", default=_Waiter.WORK)


class SettingOrdered(Exception):
    """The BMC has accepted the setting, which takes effect at the next start of the machine."""


def suspendable() -> AbstractContextManager[None]:
    """Allow `suspend` to end this block by SettingAwaited: its work can be repeated."""
    return _waiting(_Waiter.NODE)


def suspendable_by_step() -> AbstractContextManager[None]:
    """Do as `suspendable` in a step that polls: its flow does not continue when the setting is in effect."""
    return _waiting(_Waiter.STEP)


def without_waiting() -> AbstractContextManager[None]:
    """Have `suspend` raise SettingOrdered in this block, without a restart."""
    return _waiting(_Waiter.NO_ONE)


@contextmanager
def _waiting(waiter: _Waiter) -> Iterator[None]:
    before = _WAITER.set(waiter)
    try:
        yield
    finally:
        _WAITER.reset(before)


def is_restart_allowed() -> bool:
    """Return whether the running work may restart the machine: not within `without_waiting`."""
    return _WAITER.get() is not _Waiter.NO_ONE


def suspend(task: Task, column: str, wanted: object, seconds: int) -> None:
    """Restart the machine and raise SettingAwaited, if the running work is suspendable; else do nothing.

    ``column`` is the field of the node for the setting, ``seconds`` how long it may take. Within `without_waiting`
    nothing is restarted and SettingOrdered is raised.
    """
    if not is_restart_allowed():
        raise SettingOrdered
    if _WAITER.get() is _Waiter.WORK:
        return
    node, flow = task.node, in_state(task.node.provision_state)
    awaited = {
        "column": column,
        "wanted": wanted,
        "until": (utc_now() + timedelta(seconds=seconds)).isoformat(),
        "flow": flow.name if flow else None,
        "power": task.power.get_power_state(task),
        "in_step": _WAITER.get() is _Waiter.STEP,
    }
    node.set_driver_internal_info(KEY, awaited)
    awaited_event.announce(node, f"the BMC to report {column} {wanted}", seconds)
    LOG.info("Node %s: waiting for %s", node.uuid, awaited_event.text_of(node))
    node.save()
    try:
        task.change_power(states.REBOOT)
    except IronicError:
        forget(node)
        raise
    raise SettingAwaited


def is_awaited(node: Node) -> bool:
    """Return whether the node waits in its flow for a setting."""
    awaited, flow = node.driver_internal_info.get(KEY), in_state(node.provision_state)
    return bool(awaited and flow and awaited["flow"] == flow.name and node.provision_state == _state_of_wait(flow))


def is_watched(node: Node) -> bool:
    """Return whether the node waits in its flow for a setting, and no end of that wait is overdue."""
    if not is_awaited(node):
        return False
    until = datetime.fromisoformat(node.driver_internal_info[KEY]["until"])
    return bool(node.maintenance) or utc_now() < until + _GRACE


def _state_of_wait(flow: Flow) -> str:
    """Return the state of a node that waits; without a lock, a working state is one too."""
    return flow.waiting or flow.working


def forget(node: Node) -> bool:
    """Forget what is awaited; return whether anything was. The caller saves the node."""
    awaited_event.forget(node)
    is_known = KEY in node.driver_internal_info
    if is_known:
        node.del_driver_internal_info(KEY)
    return is_known


def check(task: Any, is_so: Callable[[str, object], bool]) -> StepDone | StepFailed | None:
    """Return how the wait of a node has ended, with the node locked; None while it goes on.

    ``is_so`` reads a setting without a lock: it gets the column of the node and the value. A BMC that does not answer,
    as the machine restarts, is read again.
    """
    node = task.node
    awaited, flow = node.driver_internal_info[KEY], in_state(node.provision_state)
    if awaited["flow"] != (flow.name if flow else None):
        # An operation has begun since, or has ended; it sets what it needs by itself.
        task.upgrade_lock("forgetting a setting", retry=False)
        if task.node.driver_internal_info.get(KEY) == awaited and forget(task.node):
            task.node.save()
        return None
    if flow is not None and (node.maintenance or node.provision_state != _state_of_wait(flow)):
        return None
    column, wanted = awaited["column"], awaited["wanted"]
    try:
        is_there = is_so(column, wanted)
    except IronicError as error:
        LOG.info("Node %s: its BMC, which is to set %s, gave no answer: %s", node.uuid, column, error)
        is_there = False
    if not is_there and utc_now() < datetime.fromisoformat(awaited["until"]):
        return None
    task.upgrade_lock("ending the wait for a setting", retry=False)
    node, before = task.node, node.provision_state
    if node.driver_internal_info.get(KEY) != awaited or node.provision_state != before:
        return None  # another conductor or a user was faster
    if not is_there:
        return StepFailed(f"the BMC has accepted {column} {wanted}, but does not report it after a restart")
    LOG.info("Node %s: %s is %s now", node.uuid, column, wanted)
    setattr(node, column, wanted)
    if awaited.get("in_step"):
        node.del_driver_internal_info(KEY)
        node.save()
        return None
    if flow is None and awaited["power"] == states.POWER_OFF and not node.disable_power_off:
        task.change_power(states.POWER_OFF)
    return StepDone()
