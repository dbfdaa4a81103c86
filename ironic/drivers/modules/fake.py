"""Fake interfaces of every kind, which simulate a machine without any hardware, network or other service.

Every operation succeeds at once, or after the delays of [fake]. Power and RAID are stored in the node's own columns,
the other settings under keys of ``driver_internal_info``.
"""

import logging
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar, Final

from ironic.conf import CONF
from ironic.core.bmc_readings import BootDevice, Console, Lights
from ironic.core.clock import Clock
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.flows import states
from ironic.core.keys.info_keys import Holds, Property
from ironic.core.keys.internal_keys import InternalKey
from ironic.drivers.contract import boot_devices, indicators
from ironic.drivers.contract.interfaces import (
    BIOSInterface,
    BootInterface,
    ConsoleInterface,
    DeployInterface,
    FirmwareInterface,
    InspectInterface,
    ManagementInterface,
    PowerInterface,
    RAIDInterface,
    RescueInterface,
    StorageInterface,
    VendorInterface,
)
from ironic.drivers.contract.interfaces.bios_and_firmware import cache_bios_settings, cache_firmware_components
from ironic.drivers.contract.interfaces.passthru import passthru
from ironic.drivers.contract.step_declarations import clean_step, deploy_step, service_step
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.graphical.graphical_console import GraphicalConsole
from ironic.drivers.modules.noop import NoProperties
from ironic.drivers.nodes import volumes

LOG = logging.getLogger(__name__)

__all__ = [
    "FakeBIOS",
    "FakeBoot",
    "FakeConsole",
    "FakeDeploy",
    "FakeFirmware",
    "FakeGraphicalConsole",
    "FakeInspect",
    "FakeManagement",
    "FakePower",
    "FakeRAID",
    "FakeRescue",
    "FakeStorage",
    "FakeVendorA",
    "FakeVendorB",
]


def simulate_delay(clock: Clock, kind: str) -> None:
    """Wait as long as [fake]<kind>_delay says."""
    seconds = delay_seconds(CONF.fake[f"{kind}_delay"], clock.chance)
    if seconds:
        clock.sleep(seconds)


def delay_seconds(text: str, chance: Random) -> float:
    """Return the seconds of a delay option: "5" is five, "5,9" a random time from five to nine, more often near five.

    Raise InvalidParameterValue for any other text.
    """
    try:
        low, high = (float(part) for part in (text.split(",") if "," in text else (text, text)))
    except ValueError:
        low = high = -1.0
    if not 0 <= low <= high:
        raise InvalidParameterValue(
            err=f"A delay of the [fake] options must be seconds, or two with a comma, the smaller one first: {text!r}."
        )
    return chance.triangular(low, high, low)


class FakePower(NoProperties, PowerInterface):
    """Power that reaches every state; the node's record is the power state, at first as [fake]reports_power says."""

    def get_power_state(self, task: Task) -> str | None:
        simulate_delay(task.clock, "power")
        state: str | None = task.node.power_state
        return state or (states.POWER_OFF if CONF.fake.reports_power else None)

    def set_power_state(self, task: Task, power_state: str, timeout: int | None = None) -> None:
        if power_state not in states.POWER_TARGET:
            raise InvalidParameterValue(err=f"Node {task.node.uuid} has no power state {power_state!r}.")
        simulate_delay(task.clock, "power")
        task.node.power_state = states.POWER_TARGET[power_state]

    def reboot(self, task: Task, timeout: int | None = None) -> None:
        self.set_power_state(task, states.REBOOT, timeout)

    def get_supported_power_states(self, task: Task) -> list[str]:
        return list(states.POWER_TARGET)


_BOOT_DEVICE: Final = InternalKey("fake_boot_device", dict[str, Any], "The boot device of a fake machine.")
# Images in virtual drives: type of drive -> URL.
_DRIVES: Final = InternalKey("fake_virtual_media", dict[str, str], "The images in the drives of a fake machine.")

_LIGHTS: Final[dict[str, dict[str, Any]]] = {
    indicators.CHASSIS: {"led-0": {"readonly": True, "states": [indicators.OFF, indicators.ON]}},
    indicators.SYSTEM: {
        "led": {"readonly": False, "states": [indicators.BLINKING, indicators.OFF, indicators.ON]},
    },
}


class FakeManagement(NoProperties, ManagementInterface):
    """One boot device and images in virtual drives, stored on the node, and two indicators, which are always on."""

    def get_supported_boot_devices(self, task: Task) -> list[str]:
        return [boot_devices.PXE]

    def set_boot_device(self, task: Task, device: str, persistent: bool = False) -> None:
        if device not in self.get_supported_boot_devices(task):
            raise InvalidParameterValue(err=f"Node {task.node.uuid} can't boot from {device!r}, only from pxe.")
        simulate_delay(task.clock, "management")
        _BOOT_DEVICE.set(task.node, {"boot_device": device, "persistent": persistent})
        task.node.save()

    def get_boot_device(self, task: Task) -> BootDevice:
        simulate_delay(task.clock, "management")
        remembered = _BOOT_DEVICE.of(task.node) or {"boot_device": boot_devices.PXE, "persistent": False}
        return {"boot_device": remembered["boot_device"], "persistent": remembered["persistent"]}

    def get_sensors_data(self, task: Task) -> dict[str, dict[str, dict[str, object]]]:
        simulate_delay(task.clock, "management")
        return {}

    def get_supported_indicators(self, task: Task, component: str | None = None) -> Lights:
        simulate_delay(task.clock, "management")
        if component is None:
            return {name: dict(lights) for name, lights in _LIGHTS.items()}
        if component not in _LIGHTS:
            raise InvalidParameterValue(err=f"Node {task.node.uuid} has no indicators on component {component!r}.")
        return {component: dict(_LIGHTS[component])}

    def get_indicator_state(self, task: Task, component: str, indicator: str) -> str:
        if indicator not in self.get_supported_indicators(task, component)[component]:
            raise InvalidParameterValue(err=f"Node {task.node.uuid} has no indicator {indicator!r} on {component}.")
        return indicators.ON

    def attach_virtual_media(self, task: Task, device_type: str, image_url: str) -> None:
        simulate_delay(task.clock, "management")
        images = _DRIVES.of(task.node) or {}
        _DRIVES.set(task.node, {**images, device_type: image_url})
        task.node.save()

    def detach_virtual_media(self, task: Task, device_types: Sequence[str] | None = None) -> None:
        simulate_delay(task.clock, "management")
        images = _DRIVES.of(task.node) or {}
        kept = {drive: url for drive, url in images.items() if device_types is not None and drive not in device_types}
        _DRIVES.set(task.node, kept)
        task.node.save()


class FakeBoot(NoProperties, BootInterface):
    """Boot without any preparation; the boot of an inspection can't be managed and must be started by other means."""

    capabilities: ClassVar[list[str]] = ["ipxe_boot", "pxe_boot"]

    def prepare_ramdisk(self, task: Task, ramdisk_params: Mapping[str, object]) -> None:
        simulate_delay(task.clock, "boot")

    def clean_up_ramdisk(self, task: Task) -> None:
        simulate_delay(task.clock, "boot")

    def prepare_instance(self, task: Task) -> None:
        simulate_delay(task.clock, "boot")

    def clean_up_instance(self, task: Task) -> None:
        simulate_delay(task.clock, "boot")


class FakeInspect(NoProperties, InspectInterface):
    """An inspection that ends at once and finds nothing."""

    def inspect_hardware(self, task: Task) -> str:
        simulate_delay(task.clock, "inspect")
        return states.MANAGEABLE


class FakeDeploy(NoProperties, DeployInterface):
    """A deployment of one step, without an agent; it changes the power where [fake]reports_power wants that."""

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        simulate_delay(task.clock, "deploy")
        self._switch(task, states.POWER_ON)
        return None

    def tear_down(self, task: Task) -> str | None:
        simulate_delay(task.clock, "deploy")
        self._switch(task, states.POWER_OFF)
        return states.DELETED

    @staticmethod
    def _switch(task: Task, target: str) -> None:
        if CONF.fake.reports_power and not (target == states.POWER_OFF and task.node.disable_power_off):
            task.change_power(target)

    def prepare(self, task: Task) -> None:
        simulate_delay(task.clock, "deploy")

    def clean_up(self, task: Task) -> None:
        simulate_delay(task.clock, "deploy")

    def take_over(self, task: Task) -> None:
        simulate_delay(task.clock, "deploy")


class FakeRescue(NoProperties, RescueInterface):
    """Rescue mode that begins and ends at once."""

    def rescue(self, task: Task) -> str:
        simulate_delay(task.clock, "rescue")
        return states.RESCUE

    def unrescue(self, task: Task) -> str:
        simulate_delay(task.clock, "rescue")
        return states.ACTIVE


_BIOS_SETTINGS: Final = InternalKey("fake_bios", dict[Any, Any], "The changed BIOS settings of a fake machine.")


class FakeBIOS(NoProperties, BIOSInterface):
    """BIOS settings that accept any name and value; after a factory reset there are none."""

    @clean_step(
        priority=0,
        argsinfo={"settings": {"description": "Settings to apply, each with a name and a value.", "required": True}},
    )
    @cache_bios_settings
    def apply_configuration(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        try:
            changes = {setting["name"]: setting["value"] for setting in settings}
        except (TypeError, KeyError) as error:
            raise InvalidParameterValue(
                err=f"BIOS settings for node {task.node.uuid} must be a list, each with name and value."
            ) from error
        simulate_delay(task.clock, "bios")
        _BIOS_SETTINGS.set(task.node, {**self._settings(task), **changes})
        task.node.save()
        return None

    @clean_step(priority=0)
    @deploy_step(priority=0)
    @service_step(priority=0)
    def factory_reset(self, task: Task) -> str | None:
        simulate_delay(task.clock, "bios")
        _BIOS_SETTINGS.delete(task.node)
        task.node.save()
        self._store(task)
        return None

    @clean_step(priority=0)
    def cache_bios_settings(self, task: Task) -> None:
        """Store the simulated settings in the table of BIOS settings."""
        simulate_delay(task.clock, "bios")
        if _BIOS_SETTINGS.of(task.node) is not None:
            self._store(task)

    def _store(self, task: Task) -> None:
        known = self._settings(task).items()
        settings = [{"name": name, "value": None if value is None else str(value)} for name, value in known]
        with task.writing():
            task.store.bios_settings.sync(task.node.id, settings)

    def _settings(self, task: Task) -> dict[str, object]:
        return dict(_BIOS_SETTINGS.of(task.node) or {})


_FIRMWARE_UPDATES: Final = InternalKey(
    "fake_firmware", dict[Any, Any], "The versions that the firmware of a fake machine was updated to."
)
_LONGEST_VERSION: Final = 255


class FakeFirmware(NoProperties, FirmwareInterface):
    """Firmware updates of any component; the version is the file name in the update's URL."""

    @clean_step(
        priority=0,
        argsinfo={"settings": {"description": "Updates to apply, each with a component and a URL.", "required": True}},
    )
    @cache_firmware_components
    def update(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        try:
            updates = {setting["component"]: setting["url"] for setting in settings}
        except (TypeError, KeyError) as error:
            raise InvalidParameterValue(
                err=f"Firmware updates for node {task.node.uuid} must be a list, each with component and url."
            ) from error
        simulate_delay(task.clock, "firmware")
        known = _FIRMWARE_UPDATES.of(task.node) or {}
        _FIRMWARE_UPDATES.set(task.node, {**known, **updates})
        task.node.save()
        return None

    def cache_firmware_components(self, task: Task) -> None:
        """Store the version of each component: that of its last update."""
        simulate_delay(task.clock, "firmware")
        updates = _FIRMWARE_UPDATES.of(task.node) or {}
        if not updates:
            return
        components = []
        for component, url in updates.items():
            version = url.rstrip("/").rpartition("/")[2][:_LONGEST_VERSION]
            components.append({"component": component, "current_version": version, "last_version_flashed": version})
        with task.writing():
            task.store.firmware.sync(task.node.id, components)


class FakeRAID(RAIDInterface):
    """RAID that creates any configuration."""

    def create_configuration(
        self,
        task: Task,
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = True,
    ) -> str | None:
        node = task.node
        if not node.target_raid_config:
            raise MissingParameterValue(err=f"Node {node.uuid} has no target RAID configuration to create.")
        simulate_delay(task.clock, "raid")
        selected = {True: create_root_volume, False: create_nonroot_volumes}
        disks: list[Any] = [] if delete_existing else list(node.raid_config.get("logical_disks", ()))
        for disk in node.target_raid_config["logical_disks"]:
            if selected[bool(disk.get("is_root_volume"))]:
                disks.append(disk)
        node.raid_config = {"logical_disks": disks}
        node.save()
        return None

    def delete_configuration(self, task: Task) -> str | None:
        simulate_delay(task.clock, "raid")
        task.node.raid_config = {}
        task.node.save()
        return None


_ATTACHED: Final = InternalKey("fake_attached_volumes", list[str], "The volumes of a fake machine.")


class FakeStorage(NoProperties, StorageInterface):
    """Storage that attaches any volume at once; the IDs of attached volumes are stored on the node."""

    def attach_volumes(self, task: Task) -> None:
        simulate_delay(task.clock, "storage")
        targets = task.store.volume_targets.rows(("volume_id",), filters={"node_id": task.node.id})
        if targets:
            _ATTACHED.set(task.node, [volume_id for (volume_id,) in targets])
            task.node.save()

    def detach_volumes(self, task: Task) -> None:
        simulate_delay(task.clock, "storage")
        if _ATTACHED.delete(task.node) is not None:
            task.node.save()

    def should_write_image(self, task: Task) -> bool:
        return not volumes.boots_from_volume(task)


class FakeConsole(NoProperties, ConsoleInterface):
    """A console that can be opened and closed, and has no address."""

    def start_console(self, task: Task) -> None:
        pass

    def stop_console(self, task: Task) -> None:
        pass

    def get_console(self, task: Task) -> Console:
        return {}


class FakeGraphicalConsole(NoProperties, GraphicalConsole):
    """A graphical console with a test picture."""

    app_name = "fake"

    def app_info(self, task: Task) -> Mapping[str, object]:
        return {}


class _BarVendor(VendorInterface):
    """Base of vendor interfaces whose methods require the argument ``bar`` and check whether it is "meow"."""

    methods_with_bar: ClassVar[frozenset[str]] = frozenset()

    def validate(self, task: Task, method: str | None = None, **kwargs: Any) -> None:
        if method in self.methods_with_bar and not kwargs.get("bar"):
            raise MissingParameterValue(err=f"Vendor method {method} of node {task.node.uuid} needs the parameter bar.")

    def _is_meow(self, task: Task, bar: str) -> bool:
        simulate_delay(task.clock, "vendor")
        return bar == "meow"


def _examples(letter: str) -> dict[str, str]:
    return {
        f"{letter}{number}": Property(Holds.SETTING, f"{which} example of a property. Required.")
        for number, which in ((1, "First"), (2, "Second"))
    }


class FakeVendorA(_BarVendor):
    """The small example; it has no entry point and is used by drivers that combine vendor interfaces."""

    methods_with_bar: ClassVar[frozenset[str]] = frozenset({"first_method"})

    def get_properties(self) -> dict[str, str]:
        return _examples("A")

    @passthru(["POST"], description="Checks in the background whether bar is 'meow'.")
    def first_method(self, task: Task, http_method: str, bar: str) -> bool:
        return self._is_meow(task, bar)


class FakeVendorB(_BarVendor):
    """The large example: synchronous and asynchronous methods, a shared lock, steps."""

    methods_with_bar: ClassVar[frozenset[str]] = frozenset(
        {"second_method", "third_method_sync", "fourth_method_shared_lock"}
    )

    def get_properties(self) -> dict[str, str]:
        return _examples("B")

    @passthru(["POST"], description="Checks in the background whether bar is 'meow'.")
    def second_method(self, task: Task, http_method: str, bar: str) -> bool:
        return self._is_meow(task, bar)

    @passthru(["POST"], async_call=False, description="Checks whether bar is 'meow'.")
    def third_method_sync(self, task: Task, http_method: str, bar: str) -> bool:
        return self._is_meow(task, bar)

    @passthru(
        ["POST"], require_exclusive_lock=False, description="Checks whether bar is 'meow' while others use the node."
    )
    def fourth_method_shared_lock(self, task: Task, http_method: str, bar: str) -> bool:
        return self._is_meow(task, bar)

    @clean_step(priority=1)
    @service_step(priority=0, requires_ramdisk=False)
    @passthru(["POST"], description="Writes a line with the names of its arguments to the log.")
    def log_passthrough(self, task: Task, **kwargs: Any) -> None:
        simulate_delay(task.clock, "vendor")
        LOG.info("Node %s: vendor method log_passthrough was called with arguments %s", task.node.uuid, sorted(kwargs))

    @service_step(priority=0)
    def trigger_servicewait(self, task: Task) -> str:
        """Leave the node in state service wait, for a heartbeat that never arrives."""
        simulate_delay(task.clock, "vendor")
        return states.SERVICEWAIT
