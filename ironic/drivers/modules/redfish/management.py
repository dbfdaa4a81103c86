"""Management interface `redfish`: boot device, boot mode, secure boot, virtual media, indicators and sensors."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import sushy

from ironic.conf import CONF
from ironic.core.bmc_readings import BootDevice, Lights
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import FailedToGetSensorData, RedfishError
from ironic.core.flows.node_waits import NodeWait
from ironic.drivers.contract import awaited_setting
from ironic.drivers.contract.driver_periodics import periodic
from ironic.drivers.contract.interfaces import ManagementInterface
from ironic.drivers.contract.interfaces.base_interface import unsupported
from ironic.drivers.contract.step_declarations import clean_step, deploy_step, service_step, verify_step
from ironic.drivers.contract.task import Task
from ironic.drivers.contract.wait_declarations import Ordered, looks
from ironic.drivers.contract.waits import Ended
from ironic.drivers.modules.bmc.bmc_gateway import CallClass
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.orders import (
    bmc_clock,
    bmc_indicators,
    boot_mode,
    boot_override,
    firmware_list,
    firmware_updates,
    secure_boot,
    virtual_media,
)
from ironic.drivers.modules.redfish.orders.boot_override import DEVICES, MODES, SOURCES
from ironic.drivers.modules.redfish.orders.firmware_updates import UNNAMED_UPDATES
from ironic.drivers.modules.redfish.orders.resets import offered
from ironic.drivers.modules.redfish.tree import bmc_sensors
from ironic.drivers.modules.redfish.tree.certainty import value_at
from ironic.drivers.modules.redfish.tree.machine_state import health_of, vendor_of
from ironic.drivers.modules.redfish.tree.network_cards import enabled_addresses
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_system import System

# Under these names third-party plug-ins know both tables.
BOOT_DEVICE_MAP_REV: Final = SOURCES
BOOT_DEVICE_MAP: Final = DEVICES

_LEFTOVERS_SPACING: Final = 300.0


class RedfishManagement(ManagementInterface):
    """Changes and reads the settings of a machine through Redfish."""

    survey = SURVEY
    is_needed = True
    knows_bmc_address = True

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        access_of(task.node)

    def lacks(self, system: System) -> str | None:
        has_boot = value_at(system, "Boot", dict).shown(None)
        return None if has_boot else "no boot settings (Boot), so no boot device can be set"

    # Boot device

    def get_supported_boot_devices(self, task: Task) -> list[str]:
        return boot_override.supported_devices(task)

    def set_boot_device(self, task: Task, device: str, persistent: bool = False) -> None:
        _check_choice(task, "boot device", device, SOURCES)
        boot_override.set_device(task, device, persistent=persistent)

    def get_boot_device(self, task: Task) -> BootDevice:
        return boot_override.shown_device(task)

    # Boot mode and secure boot

    def get_supported_boot_modes(self, task: Task) -> list[str]:
        return list(MODES)

    def set_boot_mode(self, task: Task, mode: str) -> None:
        _check_choice(task, "boot mode", mode, MODES)
        boot_mode.change_mode(task, mode, self.get_boot_mode)

    def get_boot_mode(self, task: Task) -> str | None:
        return boot_mode.shown_mode(task)

    def get_secure_boot_state(self, task: Task) -> bool | None:
        return secure_boot.shown_state(task)

    def set_secure_boot_state(self, task: Task, state: bool) -> Ordered | None:
        return secure_boot.change_state(task, state, self.get_secure_boot_state)

    @looks(awaited_setting.KIND, interval=lambda: CONF.redfish.boot_mode_status_interval)
    def look_at_setting(self, task: Task, wait: NodeWait) -> Ended | None:
        """Return whether a setting has taken effect."""

        def is_set(column: str, wanted: object) -> bool:
            shown = self.get_boot_mode if column == "boot_mode" else self.get_secure_boot_state
            return shown(task) == wanted

        return awaited_setting.check(task, wait, is_set)

    @clean_step(priority=0)
    @deploy_step(priority=0)
    def reset_secure_boot_keys_to_default(self, task: Task) -> None:
        """Restore the secure boot keys that the machine was delivered with."""
        secure_boot.change_keys(task, sushy.SecureBootResetKeysType.RESET_ALL_KEYS_TO_DEFAULT)

    @clean_step(priority=0)
    @deploy_step(priority=0)
    def clear_secure_boot_keys(self, task: Task) -> None:
        """Delete all secure boot keys; the machine accepts new ones afterwards."""
        secure_boot.change_keys(task, sushy.SecureBootResetKeysType.DELETE_ALL_KEYS)

    # Firmware

    @clean_step(priority=0, argsinfo=firmware_list.IMAGES_ARGSINFO)
    @service_step(priority=0, argsinfo=firmware_list.IMAGES_ARGSINFO)
    def update_firmware(self, task: Task, firmware_images: Sequence[Mapping[str, object]]) -> str | None:
        """Update firmware from images in the given order, each with a restart of the machine."""
        return UNNAMED_UPDATES.update(task, firmware_list.checked_images(task.node.uuid, firmware_images))

    @looks(UNNAMED_UPDATES.kind, interval=lambda: CONF.redfish.firmware_update_status_interval)
    def look_at_firmware_update(self, task: Task, wait: NodeWait) -> Ended | None:
        """Continue the updates of a node; return how they have ended."""
        return UNNAMED_UPDATES.watch(task, wait)

    @periodic(spacing=_LEFTOVERS_SPACING)
    def clear_firmware_images(self, manager: Any, context: object) -> None:
        """Remove firmware images on this host that no update needs."""
        firmware_updates.remove_leftovers(manager.store)

    # The BMC's clock

    @clean_step(priority=0, argsinfo=bmc_clock.ARGSINFO)
    def set_bmc_clock(
        self, task: Task, target_datetime: str | None = None, datetime_local_offset: str | None = None
    ) -> None:
        """Set the clock of the BMC, by default to the time of the conductor."""
        bmc_clock.set_clock(task, target_datetime, datetime_local_offset)

    @verify_step(priority=1)
    def verify_bmc_clock(self, task: Task) -> None:
        """Set a clock that differs by more than a second, if an option wants that."""
        if CONF.redfish.enable_verify_bmc_clock:
            bmc_clock.correct_clock(task)

    # Observations

    def get_sensors_data(self, task: Task) -> dict[str, dict[str, dict[str, object]]]:
        try:
            return read(task, "reading the sensors", bmc_sensors.readings, kind=CallClass.TELEMETRY)
        except RedfishError as error:
            raise FailedToGetSensorData(node=task.node.uuid, error=error) from error

    def get_node_health(self, task: Task) -> str | None:
        return read(task, "reading the health", health_of, kind=CallClass.TELEMETRY)

    def detect_vendor(self, task: Task) -> str | None:
        return read(task, "reading the vendor", vendor_of)

    def get_mac_addresses(self, task: Task) -> list[str]:
        found = read(task, "reading the network interfaces", enabled_addresses)
        if found is None:
            raise unsupported(task, "get_mac_addresses")
        return found

    # Virtual media

    def get_virtual_media(self, task: Task) -> list[dict[str, object]]:
        return virtual_media.describe(task)

    def attach_virtual_media(self, task: Task, device_type: str, image_url: str) -> None:
        _check_choice(task, "virtual drive", device_type, virtual_media.MEDIA)
        virtual_media.insert(task, [virtual_media.MEDIA[device_type]], image_url)

    def detach_virtual_media(self, task: Task, device_types: Sequence[str] | None = None) -> None:
        media = None if device_types is None else [virtual_media.MEDIA[name] for name in device_types]
        virtual_media.eject(task, media)

    # Indicators and NMI

    def inject_nmi(self, task: Task) -> None:
        nmi = sushy.ResetType.NMI
        change(task, "sending an NMI", lambda system: system.reset_system(offered(task.node, system, nmi)))

    def get_supported_indicators(self, task: Task, component: str | None = None) -> Lights:
        return bmc_indicators.describe(task, component)

    def set_indicator_state(self, task: Task, component: str, indicator: str, state: str) -> None:
        bmc_indicators.set_state(task, component, indicator, state)

    def get_indicator_state(self, task: Task, component: str, indicator: str) -> str:
        return bmc_indicators.shown_state(task, component, indicator)


def _check_choice(task: Task, what: str, given: str, allowed: Collection[str]) -> None:
    """Raise InvalidParameterValue for a word of the user that no Redfish machine knows."""
    if given not in allowed:
        raise InvalidParameterValue(
            err=f"Node {task.node.uuid} has no {what} {given!r}; it supports {', '.join(allowed)}."
        )
