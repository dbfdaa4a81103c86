"""Rescue interface `agent`: the ramdisk becomes the rescue system, with a password of the user's.

The agent gets the password's hash when it has called, and leaves the machine to the user. What is kept of the password
goes as soon as it was handed over.
"""

import logging
from typing import ClassVar

from ironic.core import flow, states
from ironic.core.agent_errors import AgentAPIError
from ironic.core.errors import InstanceRescueFailure, IronicError
from ironic.drivers.interfaces import RescueInterface
from ironic.drivers.modules.agent import access, logs, machine, ramdisk
from ironic.drivers.modules.agent.client import Agent
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)

_PASSWORDS = ("rescue_password", "hashed_rescue_password")


class AgentRescue(RescueInterface):
    """Rescues with an agent."""

    wants_password: ClassVar[bool] = False

    def get_properties(self) -> dict[str, str]:
        return dict(access.PROPERTIES)

    def validate(self, task: Task) -> None:
        boot = task.boot
        boot.validate(task)
        boot.validate_rescue(task)
        task.network.validate_rescue(task)

    def rescue(self, task: Task) -> str:
        network = task.network
        machine.switch_off(task)
        task.boot.clean_up_instance(task)
        network.unconfigure_tenant_networks(task)
        machine.boot_into(task, flow.RESCUE, ramdisk.parameters())
        return states.RESCUEWAIT

    def finish_rescue(self, task: Task) -> None:
        node, network = task.node, task.network
        try:
            _hand_password_over(node)
        except IronicError as error:
            logs.collect(task, "rescue", failed=True)
            raise InstanceRescueFailure(node=node.uuid, reason=str(error)) from error
        _forget_passwords(task)
        task.boot.clean_up_ramdisk(task)
        machine.remove_network(task, flow.RESCUE)
        network.configure_tenant_networks(task)
        node.save()

    def unrescue(self, task: Task) -> str:
        machine.switch_off(task)
        self.clean_up(task)
        task.network.configure_tenant_networks(task)
        task.boot.prepare_instance(task)
        task.node.save()
        machine.switch_on(task)
        return states.ACTIVE

    def clean_up(self, task: Task) -> None:
        _forget_passwords(task)
        task.boot.clean_up_ramdisk(task)
        machine.remove_network(task, flow.RESCUE)
        task.node.save()


def _hand_password_over(node: Node) -> None:
    """Give the agent the password's hash, or to an old agent the password where that is kept."""
    plain, hashed = (node.instance_info.get(name) for name in _PASSWORDS)
    try:
        Agent(node).ask("rescue.finalize_rescue", rescue_password=hashed, hashed=True)
    except AgentAPIError:
        if not plain:
            raise
        LOG.warning("Node %s: its agent does not take the hash of a password; it gets the password", node.uuid)
        Agent(node).ask("rescue.finalize_rescue", rescue_password=plain)


def _forget_passwords(task: Task) -> None:
    for key in _PASSWORDS:
        task.node.instance_info.pop(key, None)
