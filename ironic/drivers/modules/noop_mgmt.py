"""Management interface `noop`: for machines whose settings the service does not change.

Setting a boot device is accepted and has no effect: the machine is configured to boot from the network first and from
its disk otherwise. Optional features are refused.
"""

from ironic.core.bmc_readings import BootDevice
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.interfaces import ManagementInterface
from ironic.drivers.contract.interfaces.base_interface import unsupported
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.noop import NoProperties


class NoopManagement(NoProperties, ManagementInterface):
    """Accepts the boot devices pxe and disk and changes nothing."""

    def get_supported_boot_devices(self, task: Task) -> list[str]:
        return [boot_devices.PXE, boot_devices.DISK]

    def set_boot_device(self, task: Task, device: str, persistent: bool = False) -> None:
        if device not in self.get_supported_boot_devices(task):
            raise InvalidParameterValue(err=f"Node {task.node.uuid} can't boot from {device!r}, only from pxe or disk.")

    def get_boot_device(self, task: Task) -> BootDevice:
        return {"boot_device": boot_devices.PXE, "persistent": True}

    def get_sensors_data(self, task: Task) -> dict[str, dict[str, dict[str, object]]]:
        raise unsupported(task, "management.get_sensors_data")
