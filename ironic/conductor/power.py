"""Changing the power of a machine, whoever asks: a user, a flow, a driver within one, the agent, synchronisation.

Listeners are notified of every change. A machine that may not be switched off stays on. The target is stored before
the order goes out, so that it is seen while the machine takes its time, and a failure is noted in node history. How a
BMC does it is the power interface's business. Sources: doc/contract/states.md#power, demand S57.
"""

import logging
from typing import TYPE_CHECKING, Final

from ironic.conductor import telling
from ironic.conductor.history import remember
from ironic.core import flow, node_rules, states
from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import TakenOver

if TYPE_CHECKING:
    from ironic.conductor.history import Task

LOG = logging.getLogger(__name__)

TOPIC: Final = "power"

_RESTARTS: Final = (states.POWER_OFF, states.SOFT_POWER_OFF, states.REBOOT, states.SOFT_REBOOT)


def change(task: "Task", target: str, timeout: int | None) -> None:
    """Bring the machine to a power state; see `ironic.drivers.task`."""
    node, shown_by_caller = task.node, task.node.target_power_state is not None
    try:
        with telling.power_set(task, target):
            was_ordered = _reach(task, target, timeout)
    except TakenOver:
        raise
    except Exception as error:
        node.target_power_state = None
        note_failure(task, target, str(error))
        raise
    node.power_state, node.target_power_state = states.POWER_TARGET[target], None
    node.timestamp_driver_internal_info("last_power_state_change")
    if was_ordered and not shown_by_caller and flow.in_state(node.provision_state) is None:
        # A target that stayed in the row would keep synchronisation away. Within a flow the next move stores the end.
        node.save()
    LOG.info("Node %s: power state is '%s' now", node.uuid, node.power_state)


def _reach(task: "Task", target: str, timeout: int | None) -> bool:
    """Order the change, unless the machine is there already; return whether anything was ordered."""
    node, power = task.node, task.power
    node_rules.check_power_off(node, target)
    try:
        restarts = target in (states.REBOOT, states.SOFT_REBOOT)
        if not restarts and power.get_power_state(task) == states.POWER_TARGET[target]:
            return False
        node.target_power_state = states.POWER_TARGET[target]
        node.save()
        if target == states.REBOOT:
            power.reboot(task, timeout=timeout)
        else:
            power.set_power_state(task, target, timeout=timeout)
        return True
    finally:
        # Afterwards, because it may be the agent that is told to restart the machine; however that went, it is gone.
        if target in _RESTARTS:
            AgentMemory(node).machine_restarts()


def failure_text(target: str, reason: str) -> str:
    """Say in words that the power did not change, and why."""
    return f"Changing the power state to '{target}' failed: {reason}"


def note_failure(task: "Task", target: str, reason: str) -> None:
    """Store the node with a line in its history that says why the power did not change."""
    text = failure_text(target, reason)
    LOG.error("Node %s: %s", task.node.uuid, text)

    def write(_connection: object) -> None:
        remember(task, TOPIC, text, severity="ERROR")
        task.node.save()

    task.store.run(write, repeatable=True)
