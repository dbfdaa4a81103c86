"""Boot a machine into a ramdisk and out of it: kernel parameters, power and provisioning networks.

Networks are changed while the machine is off, where that is allowed, so that a running system never sees a network
other than its own. Callers save the node.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.core.flows import states
from ironic.core.flows.flow import Flow
from ironic.core.memory.agent_memory import AgentMemory
from ironic.drivers.contract.power_reading import certain_power
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.agent.agent_client import Agent
from ironic.drivers.nodes import fast_track

LOG = logging.getLogger(__name__)


def kernel_parameters() -> dict[str, object]:
    """Return the kernel parameters by which an agent finds this service."""
    return {"ipa-api-url": service_url()}


def service_url() -> str:
    """Return the URL under which agents reach this service, or raise InvalidParameterValue when none is configured."""
    base = CONF.service_catalog.endpoint_override or CONF.api.public_endpoint
    if not base:
        raise InvalidParameterValue(
            err="No URL of this service for agents is known: set [service_catalog]endpoint_override."
        )
    return str(base).rstrip("/")


def boot_into(task: Task, flow: Flow, parameters: dict[str, object]) -> bool:
    """Boot the ramdisk in the network of a flow; return whether a running ramdisk is used instead (fast track)."""
    if runs_ramdisk(task):
        task.network.connect(task, flow.network)
        task.node.save()
        return True
    switch_off(task)
    task.network.connect(task, flow.network)
    task.boot.prepare_ramdisk(task, parameters)
    task.node.target_power_state = states.POWER_ON  # stored here, it need not be stored on its own
    task.node.save()
    switch_on(task)
    return False


def runs_ramdisk(task: Task) -> bool:
    """Return whether the operation continues with a running ramdisk; forget an agent that does not answer."""
    node = task.node
    if not fast_track.can_continue(node):
        return False
    try:
        Agent(node).commands()
    except IronicError as error:
        LOG.warning("Node %s: its agent does not answer, so its ramdisk is booted again: %s", node.uuid, error)
        AgentMemory(node).forget()
        return False
    LOG.info("Node %s: its ramdisk still runs and is not booted again", node.uuid)
    return True


def clean_up(task: Task, flow: Flow, *, runs_on: bool = False) -> None:
    """Undo the preparation of the ramdisk, as far as it needs it no more.

    The power state is not changed: switch the machine off before, or say that its ramdisk ``runs_on``.
    """
    try:
        if not needs_medium(task, runs_on=runs_on):
            task.boot.clean_up_ramdisk(task)
    finally:
        task.network.disconnect(task, flow.network)


def needs_medium(task: Task, *, runs_on: bool) -> bool:
    """Return whether what the ramdisk runs from stays until the machine is off, for the next operation to take away.

    Of a machine that is never switched off it is taken away when its work ends, unless the ramdisk ``runs_on``.
    """
    if not task.boot.holds_ramdisk or task.node.power_state == states.POWER_OFF:
        return False
    if stays_on(task) and not runs_on:
        return False
    LOG.info("Node %s: what its ramdisk runs from stays, as the machine is on", task.node.uuid)
    return True


@contextmanager
def powered_for_network(task: Task) -> Iterator[None]:
    """Keep the machine on while its networks change, if its network interface needs that; switch it off afterwards.

    Raise PowerStateFailure when it is not known whether the machine was off.
    """
    needed = task.network.need_power_on(task) and certain_power(task, states.POWER_ON) == states.POWER_OFF
    if needed:
        switch_on(task)
    yield
    if needed:
        switch_off(task)


def stays_on(task: Task) -> bool:
    """Return whether the machine can only be restarted: disable_power_off is set, or its power interface can't."""
    return task.node.disable_power_off or states.POWER_OFF not in task.power.get_supported_power_states(task)


def lock_down(task: Task) -> None:
    """Have the agent of a machine that must stay on end its services, so that the ramdisk is out of reach.

    The ramdisk would otherwise keep running in the networks that the machine gets next. Old agents can't do it.
    """
    node = task.node
    # An agent that restarts its machine itself is still needed.
    is_restarted_by_bmc = states.POWER_OFF in task.power.get_supported_power_states(task)
    if not (node.disable_power_off and is_restarted_by_bmc and AgentMemory(node).is_known):
        return
    try:
        Agent(node).execute("system.lockdown")
    except IronicError as error:
        LOG.warning("Node %s: its agent could not be locked down before the restart: %s", node.uuid, error)


def switch_off(task: Task) -> None:
    """Switch the machine off, unless it can only be restarted."""
    if stays_on(task):
        LOG.info("Node %s stays on: its disable_power_off is set, or its power interface can't", task.node.uuid)
    else:
        task.change_power(states.POWER_OFF)


def switch_on(task: Task) -> None:
    """Switch the machine on; restart one that could not be switched off, unless it certainly is off."""
    restarts = stays_on(task) and not _is(task, states.POWER_OFF)
    task.change_power(states.REBOOT if restarts else states.POWER_ON)


def _is(task: Task, state: str) -> bool:
    return task.power.get_power_state(task) == state
