"""Rescue interface `agent`: the ramdisk serves as the rescue system, with a password from the user.

When the agent reports, it receives the hash of the password and then leaves the machine to the user. The stored
password and hash are deleted as soon as the agent has them.
"""

import logging
from typing import ClassVar

from ironic.core.errors import InstanceRescueFailure, IronicError
from ironic.core.errors.hardware_errors import AgentAPIError
from ironic.core.flows import flow, states
from ironic.drivers import info_keys
from ironic.drivers.contract.interfaces import RescueInterface
from ironic.drivers.contract.interfaces.networks import TENANT
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.agent import ramdisk_boot, ramdisk_logs
from ironic.drivers.modules.agent.agent_client import Agent

LOG = logging.getLogger(__name__)

_PASSWORDS = ("rescue_password", "hashed_rescue_password")


class AgentRescue(RescueInterface):
    """Rescues a machine with the agent's ramdisk."""

    requires_plain_password: ClassVar[bool] = False

    def get_properties(self) -> dict[str, str]:
        return dict(info_keys.AGENT)

    def validate(self, task: Task) -> None:
        boot = task.boot
        boot.validate(task)
        boot.validate_rescue(task)
        task.network.validate_rescue(task)

    def rescue(self, task: Task) -> str:
        ramdisk_boot.switch_off(task)
        task.boot.clean_up_instance(task)
        task.network.disconnect(task, TENANT)
        ramdisk_boot.boot_into(task, flow.RESCUE, ramdisk_boot.kernel_parameters())
        return states.RESCUEWAIT

    def finish_rescue(self, task: Task) -> None:
        node = task.node
        try:
            _send_password(node)
        except IronicError as error:
            ramdisk_logs.collect(task, "rescue", failed=True)
            raise InstanceRescueFailure(node=node.uuid, reason=error) from error
        _forget_passwords(task)
        ramdisk_boot.clean_up(task, flow.RESCUE, runs_on=True)
        task.network.connect(task, TENANT)
        node.save()

    def unrescue(self, task: Task) -> str:
        self.clean_up(task)
        task.network.connect(task, TENANT)
        task.boot.prepare_instance(task)
        task.node.save()
        ramdisk_boot.switch_on(task)
        return states.ACTIVE

    def clean_up(self, task: Task) -> None:
        """Switch the machine off, take away what its ramdisk runs from, and forget the passwords."""
        _forget_passwords(task)
        ramdisk_boot.switch_off(task)
        ramdisk_boot.clean_up(task, flow.RESCUE)
        task.node.save()


def _send_password(node: Node) -> None:
    """Send the hash of the password to the agent; to an agent that refuses it, the password where that is stored."""
    plain, hashed = (node.instance_info.get(name) for name in _PASSWORDS)
    try:
        Agent(node).execute("rescue.finalize_rescue", rescue_password=hashed, hashed=True)
    except AgentAPIError:
        if not plain:
            raise
        LOG.warning("Node %s: its agent does not accept the hash of a password; the password is sent", node.uuid)
        Agent(node).execute("rescue.finalize_rescue", rescue_password=plain)


def _forget_passwords(task: Task) -> None:
    for key in _PASSWORDS:
        task.node.instance_info.pop(key, None)
