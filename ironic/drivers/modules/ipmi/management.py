"""Management interface `ipmitool`: boot device, vendor, sensors and NMI."""

import re
from typing import Final

from ironic.conf import CONF
from ironic.core.bmc_readings import BootDevice
from ironic.core.errors.hardware_errors import FailedToGetSensorData, FailedToParseSensorData, IPMIFailure
from ironic.core.readings import ABSENT, Known, Unreadable, Value
from ironic.drivers.contract.interfaces import ManagementInterface
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.bmc.bmc_gateway import CallClass
from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.ipmi import boot_device, sensors
from ironic.drivers.modules.ipmi.bmc_access import PROPERTIES, access_of, flag_of
from ironic.drivers.modules.ipmi.command_line import check_tool
from ironic.drivers.modules.ipmi.conversation import change, read

_VENDOR: Final = "Manufacturer Name"
# What ipmitool writes in place of a name that it does not know.
_NAMELESS: Final = re.compile(r"(?i)unspecified|unknown( \(0x[0-9a-f]{1,8}\))?", re.ASCII)


class IPMIManagement(ManagementInterface):
    """Changes and reads the settings of a machine through ipmitool."""

    def __init__(self) -> None:
        check_tool()

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        access_of(task.node)
        flag_of(task.node, "force_boot_device", default=False)
        flag_of(task.node, "disable_boot_timeout", default=CONF.ipmi.disable_boot_timeout)

    def get_supported_boot_devices(self, task: Task) -> list[str]:
        return list(boot_device.CODES)

    def set_boot_device(self, task: Task, device: str, persistent: bool = False) -> None:
        boot_device.set_device(task, device, persistent=persistent)

    def get_boot_device(self, task: Task) -> BootDevice:
        return boot_device.get_device(task)

    def detect_vendor(self, task: Task) -> str | None:
        return _vendor(task).certain()

    def get_sensors_data(self, task: Task) -> sensors.Readings:
        try:
            text = read(task, ("sdr", "-v"), kind=CallClass.TELEMETRY, is_long=True)
        except IPMIFailure as error:
            raise FailedToGetSensorData(node=task.node.uuid, error=error) from error
        found = sensors.readings(text)
        if text.strip() and not found:
            raise FailedToParseSensorData(node=task.node.uuid, error="the BMC reports no sensor with a reading")
        return found

    def inject_nmi(self, task: Task) -> None:
        change(task, ("power", "diag"), once=True)


def _vendor(task: Task) -> Value[str]:
    """Return the manufacturer in lower case, absent where ipmitool has no name for its number."""
    shown = read(task, ("mc", "info"))
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in shown.splitlines())}
    if vendor := fields.get(_VENDOR):
        return ABSENT if _NAMELESS.fullmatch(vendor) else Known(vendor.lower())
    access = access_of(task.node)
    said = safe_text(shown.strip(), access.password) or "nothing"
    reason = f"the BMC does not say who made it: ipmitool writes {said}. Set properties.vendor, or look at the BMC"
    return Unreadable(IPMIFailure(node=task.node.uuid, address=access.address, operation="mc info", error=reason))
