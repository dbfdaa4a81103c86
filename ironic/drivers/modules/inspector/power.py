"""Power of a machine during its inspection.

Interfaces can't use the conductor's power flow, which stands above them; this does the little that is needed: the BMC
is asked first, a node that must not be switched off is restarted instead, and the record says what the machine is.
"""

import logging

from ironic.core import states
from ironic.inspection.task import Task

LOG = logging.getLogger(__name__)


def switch_off(task: Task) -> None:
    """Switch the machine off, unless its node forbids that; the caller saves the node."""
    if task.node.disable_power_off:
        LOG.info("Node %s stays on: its disable_power_off is set", task.node.uuid)
    else:
        _bring_to(task, states.POWER_OFF)


def start(task: Task) -> None:
    """Start the machine; one that could not be switched off is restarted. The caller saves the node."""
    if task.node.disable_power_off and _is(task, states.POWER_ON):
        task.driver.require("power").reboot(task)
        _note(task, states.POWER_ON)
    else:
        _bring_to(task, states.POWER_ON)


def _bring_to(task: Task, state: str) -> None:
    if not _is(task, state):
        task.driver.require("power").set_power_state(task, state)
    _note(task, state)


def _is(task: Task, state: str) -> bool:
    return bool(task.driver.require("power").get_power_state(task) == state)


def _note(task: Task, state: str) -> None:
    task.node.power_state = state
    task.node.timestamp_driver_internal_info("last_power_state_change")
