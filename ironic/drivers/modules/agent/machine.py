"""Power and networks around a ramdisk: the machine is brought to boot something else.

The network interface is told while the machine is off, where that is allowed, so that a system that still runs never
sees another network than its own. The caller saves the node.
"""

import logging
from collections.abc import Callable
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from ironic.core import states
from ironic.drivers.task import Task

LOG = logging.getLogger(__name__)


def boot_into(task: Task, add_network: Callable[[Task], Any], parameters: dict[str, Any]) -> None:
    """Have the machine boot a ramdisk in a network."""
    switch_off(task)
    add_network(task)
    task.driver.require("boot").prepare_ramdisk(task, parameters)
    task.node.save()
    switch_on(task)


def clean_up(task: Task, remove_network: Callable[[Task], Any]) -> None:
    """Undo what was prepared for the ramdisk; power is the caller's business."""
    task.driver.require("boot").clean_up_ramdisk(task)
    remove_network(task)


@contextmanager
def powered_for_network(task: Task) -> Any:
    """Have the machine on for a change of networks, if its network interface needs that; off again afterwards."""
    needed = task.driver.require("network").need_power_on(task) and not _is(task, states.POWER_ON)
    if needed:
        switch_on(task)
    yield
    if needed:
        switch_off(task)


def switch_off(task: Task) -> None:
    """Switch the machine off, unless its node forbids that."""
    if task.node.disable_power_off:
        LOG.info("Node %s stays on: its disable_power_off is set", task.node.uuid)
    elif not _is(task, states.POWER_OFF):
        task.driver.require("power").set_power_state(task, states.POWER_OFF)
        note(task, states.POWER_OFF)


def switch_on(task: Task) -> None:
    """Start the machine; one that could not be switched off is restarted."""
    if not _is(task, states.POWER_ON):
        task.driver.require("power").set_power_state(task, states.POWER_ON)
    elif task.node.disable_power_off:
        task.driver.require("power").reboot(task)
    note(task, states.POWER_ON)


def note(task: Task, state: str) -> None:
    """Write down what the machine's power is now."""
    now = datetime.now(UTC).replace(tzinfo=None)
    task.node.power_state = state
    task.node.set_driver_internal_info("last_power_state_change", now.isoformat())


def _is(task: Task, state: str) -> bool:
    return bool(task.driver.require("power").get_power_state(task) == state)
