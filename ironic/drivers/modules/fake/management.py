"""Settings of a fake machine: it boots from the network and has two lights."""

from typing import Any, Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.machine_documents import BootDevice, Lights
from ironic.drivers import boot_devices, indicators
from ironic.drivers.interfaces import ManagementInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.task import Task

_BOOT_DEVICE: Final = "fake_boot_device"

_LIGHTS: Final[dict[str, dict[str, Any]]] = {
    indicators.CHASSIS: {"led-0": {"readonly": True, "states": [indicators.OFF, indicators.ON]}},
    indicators.SYSTEM: {
        "led": {"readonly": False, "states": [indicators.BLINKING, indicators.OFF, indicators.ON]},
    },
}


class FakeManagement(Undemanding, ManagementInterface):
    """Knows one boot device and remembers how it was set; its lights are on and stay on."""

    def get_supported_boot_devices(self, task: Task) -> list[str]:
        return [boot_devices.PXE]

    def set_boot_device(self, task: Task, device: str, persistent: bool = False) -> None:
        if device not in self.get_supported_boot_devices(task):
            raise InvalidParameterValue(err=f"Node {task.node.uuid} can't boot from {device!r}, only from pxe.")
        delay("management")
        task.node.set_driver_internal_info(_BOOT_DEVICE, {"boot_device": device, "persistent": persistent})
        task.node.save()

    def get_boot_device(self, task: Task) -> BootDevice:
        delay("management")
        remembered: BootDevice | None = task.node.driver_internal_info.get(_BOOT_DEVICE)
        return remembered or {"boot_device": boot_devices.PXE, "persistent": False}

    def get_sensors_data(self, task: Task) -> dict[str, dict[str, dict[str, object]]]:
        delay("management")
        return {}

    def get_supported_indicators(self, task: Task, component: str | None = None) -> Lights:
        delay("management")
        if component is None:
            return {name: dict(lights) for name, lights in _LIGHTS.items()}
        if component not in _LIGHTS:
            raise InvalidParameterValue(err=f"Node {task.node.uuid} has no lights on component {component!r}.")
        return {component: dict(_LIGHTS[component])}

    def get_indicator_state(self, task: Task, component: str, indicator: str) -> str:
        if indicator not in self.get_supported_indicators(task, component)[component]:
            raise InvalidParameterValue(err=f"Node {task.node.uuid} has no light {indicator!r} on {component}.")
        return indicators.ON
