"""Changing the power of a machine: for users in the background, for flows at once.

Which changes are refused and what a user sees meanwhile is decided here; how a BMC does it is the power interface's
business. Sources: facts/state_machine.yaml (power_states, permissions.power_change), demand S57.
"""

import logging
from typing import Any, Final

from ironic.conductor import telling
from ironic.conductor.answering import answers
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.flows.step_history import remember
from ironic.conductor.moves import shortened
from ironic.conductor.task import Task
from ironic.core import node_rules, states
from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import InvalidParameterValue, PowerStateFailure

LOG = logging.getLogger(__name__)

_TOPIC: Final = "power"

_OFF: Final = (states.POWER_OFF, states.SOFT_POWER_OFF)
_RESTARTS: Final = (*_OFF, states.REBOOT, states.SOFT_REBOOT)


@answers
def change_node_power_state(task: Task, target: str, timeout: int | None) -> None:
    """Accept a user's power change, or refuse it; it goes on in the background."""
    _check(task, target)
    node = task.node
    task.spawn_after(_finish, task, target, timeout)
    task.set_spawn_error_hook(_not_started, task, target)
    node.target_power_state, node.last_error = states.POWER_TARGET[target], None
    node.save()


def change(task: Task, target: str, timeout: int | None = None) -> None:
    """Bring the machine to a power state, now; the caller saves the node."""
    with telling.power_set(task, target):
        _change(task, target, timeout)


def _change(task: Task, target: str, timeout: int | None) -> None:
    node, power = task.node, task.power
    node_rules.check_power_off(node, target)
    try:
        _act(task, power, target, timeout)
    finally:
        # Afterwards, because it may be the agent that is told to restart the machine; however that went, it is gone.
        if target in _RESTARTS:
            AgentMemory(node).machine_restarts()
    node.power_state = states.POWER_TARGET[target]
    node.timestamp_driver_internal_info("last_power_state_change")
    LOG.info("Node %s: power state is '%s' now", node.uuid, node.power_state)


def _act(task: Task, power: Any, target: str, timeout: int | None) -> None:
    if target == states.REBOOT:
        power.reboot(task, timeout=timeout)
    elif not _is_so_already(task, power, target):
        power.set_power_state(task, target, timeout=timeout)


def read(task: Task) -> None:
    """Take over the machine's power state as it is; the caller saves the node."""
    power = task.validated(task.power)
    task.node.power_state = power.get_power_state(task)
    if task.node.power_state == "error":
        raise PowerStateFailure(target="any state", reason="the BMC reports an error as power state")


def _is_so_already(task: Task, power: Any, target: str) -> bool:
    return target != states.SOFT_REBOOT and power.get_power_state(task) == states.POWER_TARGET[target]


def _check(task: Task, target: str) -> None:
    node = task.node
    node_rules.check_power(node, target)
    power = task.validated(task.power)
    supported = power.get_supported_power_states(task)
    if target not in supported:
        raise InvalidParameterValue(
            err=f"The power interface of node {node.uuid} can't do '{target}'. It can do: {', '.join(supported)}."
        )


def _finish(task: Task, target: str, timeout: int | None) -> None:
    """Do a user's power change on a worker."""
    answer = attempt(task, change, target, timeout)
    task.node.target_power_state = None
    task.store.run(lambda _: _write_end(task, target, answer), repeatable=True)


def _write_end(task: Task, target: str, answer: Any) -> None:
    if isinstance(answer, Failed):
        _note_failure(task, target, answer.reason)
    task.save_and_release()


def _not_started(error: BaseException, task: Task, target: str) -> None:
    task.node.target_power_state = None
    _note_failure(task, target, str(error))
    task.node.save()


def _note_failure(task: Task, target: str, reason: str) -> None:
    text = f"Changing the power state to '{target}' failed: {reason}"
    task.node.last_error = shortened(text)
    LOG.error("Node %s: %s", task.node.uuid, text)
    remember(task, _TOPIC, text, severity="ERROR")
