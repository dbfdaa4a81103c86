"""Having a machine's firmware start from the network or from its disk, in the boot mode that its node asks for."""

import logging

from ironic.core.errors import UnsupportedDriverExtension
from ironic.drivers import boot_devices, node_facts
from ironic.drivers.lasting_boot_device import is_persistent
from ironic.drivers.modules.agent import wishes
from ironic.drivers.task import Task

LOG = logging.getLogger(__name__)


def boot_from_network(task: Task, device: str, *, for_good: bool) -> None:
    """Have the machine start over the network; a BMC that knows no HTTP boot is told plain network boot."""
    _set_mode(task)
    management = task.management
    if device == boot_devices.UEFIHTTP and device not in management.get_supported_boot_devices(task):
        LOG.info("Node %s: its BMC knows no boot device %s and is told pxe", task.node.uuid, device)
        device = boot_devices.PXE
    management.set_boot_device(task, device, persistent=is_persistent(task.node, default=for_good))


def boot_from_disk(task: Task) -> None:
    """Have the machine start from its disk from now on; one whose management can't say that stays as it is."""
    management = task.management
    if boot_devices.DISK in management.get_supported_boot_devices(task):
        persistent = is_persistent(task.node, default=True)
        management.set_boot_device(task, boot_devices.DISK, persistent=persistent)


def _set_mode(task: Task) -> None:
    """Bring the firmware into the mode that is asked for, where it is in another one and can be told."""
    wanted = wishes.of(task.node).get("boot_mode") or node_facts.capability(task.node, "boot_mode")
    if not wanted:
        return
    management = task.management
    try:
        if management.get_boot_mode(task) != wanted:
            management.set_boot_mode(task, wanted)
    except UnsupportedDriverExtension:
        LOG.debug("Node %s: its boot mode can't be told from here and should be %s", task.node.uuid, wanted)
