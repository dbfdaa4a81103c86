"""Deploy interface `ramdisk`: the machine runs a user's ramdisk or ISO image and nothing is written to its disks.

The boot interface boots what instance_info names, now and whenever the machine restarts: ``kernel`` and ``ramdisk``, or
``boot_iso``. Cleaning and servicing use an agent as with any other machine.
"""

import logging
from typing import Any, ClassVar, Final

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.flows import states
from ironic.core.memory import own_values
from ironic.drivers.contract.interfaces.boot_and_deploy import ORIGINAL
from ironic.drivers.contract.interfaces.networks import TENANT
from ironic.drivers.contract.step_declarations import deploy_step
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.agent import ramdisk_boot
from ironic.drivers.modules.agent.agent_base import AgentBase
from ironic.drivers.nodes import instance_capabilities

LOG = logging.getLogger(__name__)

BOOT_OPTION: Final = "ramdisk"

_CAPABILITY: Final = "ramdisk_boot"
_CONFIG_DRIVE_CAPABILITY: Final = "ramdisk_boot_configdrive"


class RamdiskDeploy(AgentBase):
    """Boots the user's ramdisk or ISO image as the instance."""

    boots_agent: ClassVar[bool] = False

    def validate(self, task: Task) -> None:
        node, boot = task.node, task.boot
        if _CAPABILITY not in boot.capabilities:
            raise InvalidParameterValue(
                err=f"The boot interface of node {node.uuid} can't start a user's ramdisk. Choose another one, or a "
                "deploy interface other than ramdisk."
            )
        instance_capabilities.check_capabilities(node, BOOT_OPTION)
        if not _names_ramdisk(node.instance_info):
            raise MissingParameterValue(
                err=f"Node {node.uuid} needs boot_iso, or kernel and ramdisk, in its instance_info."
            )
        boot.validate(task)

    def supports_deploy(self, task: Task) -> bool:
        """Return whether the instance is a ramdisk and no image to write to a disk."""
        info, boot = task.node.instance_info, task.boot
        return _CAPABILITY in boot.capabilities and _names_ramdisk(info) and not info.get("image_source")

    def prepare(self, task: Task) -> None:
        node = task.node
        _set_boot_option(node)
        ramdisk_boot.switch_off(task)
        task.network.disconnect(task, TENANT)
        node.save()

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        """Boot the ramdisk in the tenant networks."""
        boot = task.boot
        if task.node.instance_info.get("configdrive") and _CONFIG_DRIVE_CAPABILITY not in boot.capabilities:
            LOG.warning("Node %s: its boot interface can't pass the config drive to the ramdisk", task.node.uuid)
        ramdisk_boot.switch_off(task)
        with ramdisk_boot.powered_for_network(task):
            task.network.connect(task, TENANT)
        boot.prepare_instance(task)
        task.node.save()
        ramdisk_boot.switch_on(task)
        return None

    def take_over(self, task: Task) -> None:
        """Prepare on this host what the machine boots."""
        _set_boot_option(task.node)
        task.boot.prepare_instance(task)
        task.node.save()

    def restore_interface(self, task: Task) -> None:
        """Restore the interface that was replaced by this one; earlier releases have left their boot option."""
        node = task.node
        if node.provision_state == states.ACTIVE and ORIGINAL.of(node):
            own_values.drop_capability(node, "instance_info", "boot_option", BOOT_OPTION)
        super().restore_interface(task)

    def validate_adoption(self, task: Task) -> None:
        """Check what the machine boots whenever it starts."""
        self.validate(task)


def _set_boot_option(node: Node) -> None:
    """Set the boot option in instance_info, where boot interfaces read it, until the next deployment."""
    instance_capabilities.requested_capabilities(node)
    own_values.write_capability(node, "instance_info", "boot_option", BOOT_OPTION)


def _names_ramdisk(info: Any) -> bool:
    return bool(info.get("boot_iso") or (info.get("kernel") and info.get("ramdisk")))


def is_deployed_by(node: Node) -> bool:
    """Return whether the node's instance is a ramdisk, by its deploy interface."""
    return bool(node.deploy_interface == BOOT_OPTION)


def boot_option(node: Node) -> str:
    """Return how the node's instance boots: from a ramdisk, or from its local disk."""
    return BOOT_OPTION if is_deployed_by(node) else "local"
