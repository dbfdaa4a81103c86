"""Power and networks around a ramdisk: the machine is brought to boot something else.

The network interface is told while the machine is off, where that is allowed, so that a system that still runs never
sees another network than its own. The caller saves the node.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from ironic.core import states
from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import IronicError
from ironic.core.flow import Flow
from ironic.drivers import fast_track
from ironic.drivers.modules.agent.client import Agent
from ironic.drivers.task import Task

LOG = logging.getLogger(__name__)


def boot_into(task: Task, flow: Flow, parameters: dict[str, object]) -> bool:
    """Have the machine boot a ramdisk in the network of a flow; return whether it goes on with one that runs."""
    if runs_ramdisk(task):
        add_network(task, flow)
        task.node.save()
        return True
    switch_off(task)
    add_network(task, flow)
    task.boot.prepare_ramdisk(task, parameters)
    task.node.save()
    switch_on(task)
    return False


def runs_ramdisk(task: Task) -> bool:
    """Tell whether a ramdisk runs that the operation goes on with; one that does not answer is forgotten."""
    node = task.node
    if not fast_track.can_go_on(node):
        return False
    try:
        Agent(node).commands()
    except IronicError as error:
        LOG.warning("Node %s: its ramdisk was heard of lately, but it is booted again: %s", node.uuid, error)
        AgentMemory(node).forget()
        return False
    LOG.info("Node %s: its ramdisk still runs and is not booted again", node.uuid)
    return True


def clean_up(task: Task, flow: Flow) -> None:
    """Undo what was prepared for the ramdisk; power is the caller's business."""
    task.boot.clean_up_ramdisk(task)
    remove_network(task, flow)


def add_network(task: Task, flow: Flow) -> None:
    """Have the machine in the network that the ramdisk of a flow works in."""
    getattr(task.network, f"add_{flow.network}_network")(task)


def remove_network(task: Task, flow: Flow) -> None:
    """Have the machine in that network no longer."""
    getattr(task.network, f"remove_{flow.network}_network")(task)


@contextmanager
def powered_for_network(task: Task) -> Iterator[None]:
    """Have the machine on for a change of networks, if its network interface needs that; off again afterwards."""
    needed = task.network.need_power_on(task) and not _is(task, states.POWER_ON)
    if needed:
        switch_on(task)
    yield
    if needed:
        switch_off(task)


def stays_on(task: Task) -> bool:
    """Tell whether the machine can only be restarted: its node forbids switching it off, or nobody but people could."""
    return task.node.disable_power_off or states.POWER_OFF not in task.power.get_supported_power_states(task)


def switch_off(task: Task) -> None:
    """Switch the machine off, unless it stays on."""
    if stays_on(task):
        LOG.info("Node %s stays on: its disable_power_off is set, or its power interface can't", task.node.uuid)
    else:
        task.change_power(states.POWER_OFF)


def switch_on(task: Task) -> None:
    """Start the machine; one that could not be switched off is restarted."""
    restarts = stays_on(task) and _is(task, states.POWER_ON)
    task.change_power(states.REBOOT if restarts else states.POWER_ON)


def _is(task: Task, state: str) -> bool:
    return task.power.get_power_state(task) == state
