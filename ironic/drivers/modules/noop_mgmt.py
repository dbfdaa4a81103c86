"""Management of a machine whose settings the service leaves alone.

Setting a boot device is accepted and does nothing: the machine is set up to boot from the network first and from its
disk otherwise. Everything optional is refused.
"""

from ironic.core.errors import InvalidParameterValue
from ironic.core.machine_documents import BootDevice
from ironic.drivers import boot_devices
from ironic.drivers.interfaces import ManagementInterface
from ironic.drivers.interfaces.base import unsupported
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.task import Task


class NoopManagement(Undemanding, ManagementInterface):
    """Changes nothing."""

    def get_supported_boot_devices(self, task: Task) -> list[str]:
        return [boot_devices.PXE, boot_devices.DISK]

    def set_boot_device(self, task: Task, device: str, persistent: bool = False) -> None:
        if device not in self.get_supported_boot_devices(task):
            raise InvalidParameterValue(err=f"Node {task.node.uuid} can't boot from {device!r}, only from pxe or disk.")

    def get_boot_device(self, task: Task) -> BootDevice:
        return {"boot_device": boot_devices.PXE, "persistent": True}

    def get_sensors_data(self, task: Task) -> dict[str, dict[str, dict[str, object]]]:
        raise unsupported(task, "management.get_sensors_data")
