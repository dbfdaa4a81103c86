"""Deploy interface `ramdisk`: the machine runs a user's ramdisk or ISO image and nothing is written to its disks.

The boot interface has the machine start what instance_info names, now and whenever it restarts: ``kernel`` and
``ramdisk``, or ``boot_iso``. Cleaning and servicing are done by an agent as with any other machine.
"""

import logging
from typing import Any, ClassVar, Final

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.drivers.modules.agent import machine, wishes
from ironic.drivers.modules.agent.base import AgentBase
from ironic.drivers.steps import deploy_step
from ironic.drivers.task import Task

LOG = logging.getLogger(__name__)

BOOT_OPTION: Final = "ramdisk"

_ABLE: Final = "ramdisk_boot"
_ABLE_CONFIG_DRIVE: Final = "ramdisk_boot_configdrive"


class RamdiskDeploy(AgentBase):
    """Boots a ramdisk as the instance."""

    brings_agent: ClassVar[bool] = False

    def validate(self, task: Task) -> None:
        node, boot = task.node, task.boot
        if _ABLE not in boot.capabilities:
            raise InvalidParameterValue(
                err=f"The boot interface of node {node.uuid} can't start a user's ramdisk. Choose another one, or a "
                "deploy interface other than ramdisk."
            )
        wishes.check(node, BOOT_OPTION)
        if not _names_ramdisk(node.instance_info):
            raise MissingParameterValue(
                err=f"Node {node.uuid} needs boot_iso, or kernel and ramdisk, in its instance_info."
            )
        boot.validate(task)

    def supports_deploy(self, task: Task) -> bool:
        """Tell whether the instance is a ramdisk and nothing that is to be written to a disk."""
        info, boot = task.node.instance_info, task.boot
        return _ABLE in boot.capabilities and _names_ramdisk(info) and not info.get("image_source")

    def prepare(self, task: Task) -> None:
        node = task.node
        # What a boot interface looks at to know what the machine is to start.
        node.instance_info["capabilities"] = {**wishes.of(node), "boot_option": BOOT_OPTION}
        machine.switch_off(task)
        task.network.unconfigure_tenant_networks(task)
        node.save()

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        """Start the ramdisk in the user's network."""
        boot = task.boot
        if task.node.instance_info.get("configdrive") and _ABLE_CONFIG_DRIVE not in boot.capabilities:
            LOG.warning("Node %s: its boot interface hands no config drive to a ramdisk", task.node.uuid)
        machine.switch_off(task)
        with machine.powered_for_network(task):
            task.network.configure_tenant_networks(task)
        boot.prepare_instance(task)
        task.node.save()
        machine.switch_on(task)
        return None

    def take_over(self, task: Task) -> None:
        """Offer from this host what the machine starts from."""
        task.boot.prepare_instance(task)


def _names_ramdisk(info: Any) -> bool:
    return bool(info.get("boot_iso") or (info.get("kernel") and info.get("ramdisk")))
