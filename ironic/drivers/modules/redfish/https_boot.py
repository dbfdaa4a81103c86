"""Boot interface `redfish-https`: the firmware of the machine boots an ISO image from a URL that its BMC hands it.

The machine has to support UEFI HTTP boot, and its firmware has to reach the web server of this host.
"""

from typing import ClassVar

import sushy

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import UnsupportedHardwareFeature
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.redfish.iso_boot import RamdiskFromIso
from ironic.drivers.modules.redfish.orders import boot_override, ramdisk_images
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.drivers.nodes import instance_capabilities, node_attributes


class RedfishHttpsBoot(RamdiskFromIso):
    """Boots an ISO image by UEFI HTTP boot."""

    capabilities: ClassVar[list[str]] = ["ramdisk_boot"]

    def validate(self, task: Task) -> None:
        """Check the settings, then ask the BMC whether the machine supports UEFI HTTP boot."""
        super().validate(task)
        if instance_capabilities.boot_mode(task.node) != boot_devices.UEFI:
            raise InvalidParameterValue(
                err=f"Node {task.node.uuid} starts through a BIOS, which can't boot over HTTP. Choose another boot "
                "interface, or boot mode uefi."
            )
        allowed = read(
            task,
            "reading the boot devices",
            lambda system: system.get_allowed_system_boot_source_values(),
            seconds=CONF.bmc.validation_timeout or None,
        )
        if sushy.BootSource.UEFI_HTTP not in allowed:
            raise UnsupportedHardwareFeature(node=task.node.uuid, feature="UEFI HTTP boot")

    def clean_up_ramdisk(self, task: Task) -> None:
        self.withdraw(task)

    def boot(self, task: Task, url: str, *, persistent: bool) -> None:
        lasting = node_attributes.is_boot_device_persistent(task.node, default=persistent)
        boot_override.set_device(task, boot_devices.UEFIHTTP, persistent=lasting, url=url)

    def withdraw(self, task: Task) -> None:
        ramdisk_images.withdraw(task.node)
