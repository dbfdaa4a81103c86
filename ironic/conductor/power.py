"""Change the power of a machine, on request of a user, a flow, a driver, the agent or power synchronisation.

Listeners are notified of every change. A machine that may not be switched off stays on. The target is stored before
the power interface is called, so that users see it while the machine takes its time; a caller that stores the node
anyway may set the target first, which saves an UPDATE. A failure is recorded in node history. How a BMC does it is the
power interface's business. Sources: doc/contract/states.md#power, demand S57.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironic.conductor import node_events
from ironic.conductor.node_events import add_history
from ironic.conductor.transitions import shortened
from ironic.core import node_rules
from ironic.core.errors import PowerStateFailure, TakenOver
from ironic.core.errors import failure_texts as texts
from ironic.core.errors.failure_texts import Reason
from ironic.core.flows import flow, node_waits, states
from ironic.core.flows.node_waits import Follows
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.memory.agent_memory import POWER_CHANGED, AgentMemory
from ironic.drivers.contract import waits
from ironic.drivers.contract.task import SHUTS_DOWN
from ironic.drivers.nodes import volumes

if TYPE_CHECKING:
    from ironic.conductor.node_events import HostTask
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

TOPIC: Final = "power"

# The kind of a wait for a machine that shuts down in a soft change of its power.
SHUTDOWN: Final = "awaited_shutdown"

_ERROR: Final = InternalKey(
    "power_error", str, "The last_error that is about the power alone, and ends when the power is as recorded."
)

# What power synchronisation advises in last_error, too; it stores no other column of an unlocked node for that.
ADVICE: Final = "Check the BMC and its credentials; maintenance ends by itself when it answers"

# The note of a task on the state of its machine.
_STATE: Final = "power state"

_RESTARTS: Final = (states.POWER_OFF, states.SOFT_POWER_OFF, states.REBOOT, states.SOFT_REBOOT)


@dataclass(frozen=True, slots=True)
class AwaitedShutdown:
    """A soft change, by its target."""

    target: str


def change(task: "HostTask", target: str, timeout: int | None, prepare: Callable[[], None] | None = None) -> None:
    """Bring the machine to a power state, see `ironic.drivers.contract.task`.

    ``prepare`` is called before an order, and may refuse it.
    """
    node, reached = task.node, states.POWER_TARGET[target]
    node_waits.end(node, SHUTDOWN)  # this change replaces it
    known = task.notes.get(_STATE)
    task.notes.put(_STATE, None)
    task.notes.put(SHUTS_DOWN, None)
    stored_by_caller = node.target_power_state == reached
    try:
        with node_events.power_set(task, target):
            was_ordered = _reach(task, target, timeout, known, prepare, is_stored=stored_by_caller)
    except TakenOver:
        raise
    except Exception as error:
        node.target_power_state = None
        note_failure(task, target, error)
        raise
    if (seconds := task.notes.get(SHUTS_DOWN)) is None:
        _arrive(task, reached, was_ordered=was_ordered, is_stored=stored_by_caller)
        return
    soft = AwaitedShutdown(target)
    what = "the machine to shut down"
    waits.begin(task, SHUTDOWN, what, soft, interface=None, seconds=seconds, follows=Follows.REQUEST)
    node.save()
    LOG.info("Node %s: power change to '%s' goes on: waiting for %s", node.uuid, target, node_waits.text_of(node))


def end_shutdown(task: "HostTask", target: str, is_off: bool) -> None:
    """End a soft change whose machine has shut down, or has not in time; the caller saves the node.

    Raises PowerStateFailure, and what switching the machine on raises where it has to come up again.
    """
    node = task.node
    node_waits.end(node, SHUTDOWN)
    if not is_off:
        node.target_power_state = None
        reason = "its operating system did not shut down in time. Switch it off, or allow it more time."
        failure = PowerStateFailure(node=node.uuid, target=target, reason=reason)
        note_failure(task, target, failure)
        raise failure
    _arrive(task, states.POWER_OFF, was_ordered=True, is_stored=True)
    if states.POWER_TARGET[target] == states.POWER_ON:
        change(task, states.POWER_ON, None)


def _arrive(task: "HostTask", reached: str, *, was_ordered: bool, is_stored: bool) -> None:
    """Record that the machine is in a power state; ``is_stored``: its caller has stored the target, and saves."""
    node = task.node
    node.power_state = reached
    task.notes.put(_STATE, reached)
    if was_ordered:
        POWER_CHANGED.set(node, node.now().isoformat())
    if node.target_power_state == reached:
        node.target_power_state = None
    if was_ordered and node.power_state == states.POWER_OFF and node.provision_state == states.ACTIVE:
        try:
            volumes.detach(task)
        except TakenOver:
            raise
        except Exception as error:
            LOG.warning("Node %s is off and its volumes could not be detached: %s", node.uuid, error)
    if was_ordered and not is_stored and flow.in_state(node.provision_state) is None:
        # A target that stayed in the row would keep synchronisation away. Within a flow the next move stores the end.
        node.save()
    LOG.info("Node %s: power state is '%s' now", node.uuid, node.power_state)


def _reach(
    task: "HostTask",
    target: str,
    timeout: int | None,
    known: str | None,
    prepare: Callable[[], None] | None,
    *,
    is_stored: bool,
) -> bool:
    """Order the change, unless the machine is there already; return whether anything was ordered.

    ``known`` is the state in which this task left the machine a moment ago: reading it may take a BMC many seconds.
    """
    node, power = task.node, task.power
    node_rules.check_power_off(node, target)
    try:
        restarts = target in (states.REBOOT, states.SOFT_REBOOT)
        if not restarts and (known or power.get_power_state(task)) == states.POWER_TARGET[target]:
            return False
        if prepare is not None:
            prepare()
        if not is_stored:
            node.target_power_state = states.POWER_TARGET[target]
            node.save()
        if target == states.POWER_ON and node.provision_state == states.ACTIVE:
            volumes.attach(task)
        if target == states.REBOOT:
            power.reboot(task, timeout=timeout)
        else:
            power.set_power_state(task, target, timeout=timeout)
        return True
    finally:
        # Afterwards, because the restart may be a command to the agent, which is gone then, even after a failure.
        if target in _RESTARTS:
            AgentMemory(node).forget_on_restart()


def set_error(node: "NodeRecord", text: str) -> None:
    """Set last_error to why the power did not change, for as long as the machine differs from its record."""
    node.last_error = shortened(text)
    _ERROR.set(node, node.last_error)


def is_error_over(node: "NodeRecord") -> bool:
    """Return whether last_error is about the power alone, so that a reading that agrees with the record ends it."""
    error = node.last_error
    return error is not None and (error == _ERROR.of(node) or ADVICE in error)


def failure_text(node: str, target: str, reason: Reason) -> str:
    """Return in words that the power did not change, and why."""
    headline = f"Changing the power state to '{target}' failed"
    return texts.failure_text(headline, reason, node, [(PowerStateFailure.text, {"target": target})])


def note_failure(task: "HostTask", target: str, reason: Reason) -> None:
    """Save the node, with a line in its history on why the power did not change."""
    text = failure_text(task.node.uuid, target, reason)
    LOG.error("Node %s: %s", task.node.uuid, text)

    def write(_connection: object) -> None:
        add_history(task, TOPIC, text, severity="ERROR")
        task.node.save()

    task.store.run(write, repeatable=True)
