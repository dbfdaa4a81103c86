"""Settings of a machine's firmware that take effect when it restarts, and who waits for them.

A restart takes minutes. Work that can be repeated, or a step that goes on by itself, restarts the machine, lets its
node wait and ends by `Suspended`; the management interface looks at the BMC until it reports the setting. Then the work
is done again, and finds the setting in effect. Any conductor can continue. In clean-ups, where no one waits, the
setting takes effect at the next start. Elsewhere, as on child nodes, the work itself waits.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from ironic.core.errors import IronicError
from ironic.core.flows import node_waits, states
from ironic.core.flows.flow import in_state
from ironic.core.flows.node_waits import Follows, NodeWait
from ironic.drivers.contract import waits
from ironic.drivers.contract.step_declarations import StepDone, StepFailed, Suspended
from ironic.drivers.contract.task import Node, Task, Waiter
from ironic.drivers.contract.waits import Ended

LOG = logging.getLogger(__name__)

KIND: Final = "awaited_setting"
# For so long after its end a wait is not overdue: the look may come late.
_GRACE: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedSetting:
    """A setting by the column of the node, and the power state before the restart."""

    column: str
    wanted: str | bool
    power: str | None = None


def is_restart_allowed(task: Task) -> bool:
    """Return whether the running work may restart the machine."""
    return task.waiter is not Waiter.NO_ONE


def suspend(task: Task, column: str, wanted: str | bool, seconds: int) -> None:
    """Restart the machine, let its node wait and raise Suspended, where the work need not wait; else do nothing.

    ``column`` is the field of the node for the setting, ``seconds`` how long it may take.
    """
    if task.waiter not in (Waiter.NODE, Waiter.STEP):
        return
    node = task.node
    if task.waiter is Waiter.STEP:
        follows = Follows.STEP
    else:
        follows = Follows.REQUEST if in_state(node.provision_state) is None else Follows.WORK
    setting = AwaitedSetting(column=column, wanted=wanted, power=task.power.get_power_state(task))
    what = f"the BMC to report {column} {wanted}"
    waits.begin(task, KIND, what, setting, interface="management", seconds=seconds, follows=follows)
    LOG.info("Node %s: waiting for %s", node.uuid, node_waits.text_of(node))
    node.save()
    try:
        task.change_power(states.REBOOT)
    except IronicError:
        node_waits.end(node, KIND)
        raise
    raise Suspended


def is_awaited(node: Node) -> bool:
    """Return whether the node waits for a setting."""
    return node_waits.is_open(node, KIND)


def is_overdue(wait: NodeWait, node: Node) -> bool:
    """Return whether the end of a wait should have been noticed long ago; in maintenance it has no end."""
    return not node.maintenance and wait.until is not None and node.now() >= wait.until + _GRACE


def check(task: Any, wait: NodeWait, is_so: Callable[[str, object], bool]) -> Ended | None:
    """Return how the wait of a node has ended, with the node locked; None while it goes on.

    ``is_so`` reads a setting without a lock: it gets the column of the node and the value. A BMC that does not answer,
    as the machine restarts, is read again.
    """
    node, setting = task.node, node_waits.decoded(AwaitedSetting, wait.memory)
    column, wanted = setting.column, setting.wanted
    try:
        is_there = is_so(column, wanted)
    except IronicError as error:
        LOG.info("Node %s: its BMC, which is to set %s, gave no answer: %s", node.uuid, column, error)
        is_there = False
    if not is_there and wait.until is not None and node.now() < wait.until:
        return None
    before = node.provision_state
    task.upgrade_lock("ending the wait for a setting", retry=False)
    node = task.node
    if not wait.is_same(waits.of(task, KIND)) or node.provision_state != before:
        return None  # another conductor or a user was faster
    if not is_there:
        return StepFailed(f"the BMC has accepted {column} {wanted}, but does not report it after a restart")
    LOG.info("Node %s: %s is %s now", node.uuid, column, wanted)
    setattr(node, column, wanted)
    if wait.follows is Follows.STEP:
        node_waits.end(node, KIND)
        node.save()
        return None
    if wait.follows is Follows.REQUEST and setting.power == states.POWER_OFF and not node.disable_power_off:
        task.change_power(states.POWER_OFF)
    return StepDone()
