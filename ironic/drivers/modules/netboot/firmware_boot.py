"""The firmware's part in network boot: its boot device and boot mode, and the retry of a boot that failed.

Firmware sometimes fails to boot over the network. A machine whose agent has sent no heartbeat for
[pxe]boot_retry_timeout seconds after its last start is restarted. The time limit of the operation is not extended.
"""

import logging
from datetime import timedelta

from ironic.conf import CONF
from ironic.core.errors import UnsupportedDriverExtension
from ironic.core.errors.hardware_errors import BootModeUnknown, DriverOperationError
from ironic.core.memory.agent_memory import KnownAgent
from ironic.drivers.contract import awaited_setting, boot_devices
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.agent import ramdisk_boot
from ironic.drivers.modules.netboot.boot_variants import Variant
from ironic.drivers.modules.netboot.prepared_boot import PreparedBoot
from ironic.drivers.nodes import instance_capabilities
from ironic.drivers.nodes.node_attributes import is_boot_device_persistent

LOG = logging.getLogger(__name__)


def boot_from_network(task: Task, device: str, *, persistent: bool) -> None:
    """Set boot mode and boot device for network boot; where the BMC has no HTTP boot, the device is `pxe`.

    ``persistent`` is the default that the node's force_persistent_boot_device overrides.
    """
    set_wanted_boot_mode(task)
    _set_network_device(task, device, persistent=persistent)


def _set_network_device(task: Task, device: str, *, persistent: bool) -> None:
    node, management = task.node, task.management
    if device == boot_devices.UEFIHTTP and device not in management.get_supported_boot_devices(task):
        LOG.info("Node %s: its BMC does not support boot device %s; pxe is set instead", node.uuid, device)
        device = boot_devices.PXE
    management.set_boot_device(task, device, persistent=is_boot_device_persistent(node, default=persistent))


def set_wanted_boot_mode(task: Task) -> None:
    """Set the boot mode that instance or node name, unless the machine has it, or its BMC knows no boot modes."""
    if wanted := instance_capabilities.wanted_boot_mode(task.node):
        set_boot_mode(task, wanted)


def set_boot_mode(task: Task, wanted: str) -> None:
    """Set a boot mode, unless the machine has it, or its BMC knows no boot modes; raises BootModeUnknown."""
    node, management = task.node, task.management
    try:
        present = management.get_boot_mode(task)
    except UnsupportedDriverExtension:
        LOG.debug("Node %s: its management interface knows no boot mode, which should be %s", node.uuid, wanted)
        return
    if present == wanted:
        return
    try:
        management.set_boot_mode(task, wanted)
    except (UnsupportedDriverExtension, DriverOperationError) as error:
        if present is None:
            raise BootModeUnknown(node=node.uuid, wanted=wanted, reason=error) from error
        if isinstance(error, DriverOperationError):
            raise
        LOG.debug("Node %s: its BMC can't set the boot mode, which should be %s", node.uuid, wanted)


def boot_from_disk(task: Task) -> None:
    """Set the disk as the boot device, persistently, where the management interface supports it."""
    management = task.management
    if boot_devices.DISK in management.get_supported_boot_devices(task):
        persistent = is_boot_device_persistent(task.node, default=True)
        management.set_boot_device(task, boot_devices.DISK, persistent=persistent)


def is_retry_due(node: Node) -> bool:
    """Return whether [pxe]boot_retry_timeout has passed since the machine was started and no agent is known."""
    timeout, agent = CONF.pxe.boot_retry_timeout, KnownAgent(node.driver_internal_info)
    if not timeout or awaited_setting.is_awaited(node) or PreparedBoot.of(node) is None:
        return False
    if agent.is_known or agent.token:
        return False  # a ramdisk that has its token runs, and sends its first heartbeat later
    started = agent.power_changed_at
    return started is not None and node.now() - started > timedelta(seconds=timeout)


def retry_boot(task: Task, variant: Variant) -> None:
    """Restart the machine from the network; its boot mode was set when that was prepared."""
    LOG.warning(
        "Node %s: its ramdisk has not reported for %d seconds; the machine is booted again",
        task.node.uuid,
        CONF.pxe.boot_retry_timeout,
    )
    ramdisk_boot.switch_off(task)
    _set_network_device(task, variant.boot_device, persistent=False)
    ramdisk_boot.switch_on(task)
    task.node.save()
