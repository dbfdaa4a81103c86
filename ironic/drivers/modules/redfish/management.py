"""Management interface `redfish`: boot device, boot mode, secure boot, virtual media, indicators and sensors."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

import sushy
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.bmc_readings import BootDevice, Lights
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import FailedToGetSensorData, RedfishConnectionError, RedfishError
from ironic.core.flows import states
from ironic.core.flows.node_waits import NodeWait
from ironic.core.readings import Known
from ironic.drivers.contract import awaited_setting, boot_devices
from ironic.drivers.contract.driver_periodics import periodic
from ironic.drivers.contract.interfaces import ManagementInterface
from ironic.drivers.contract.interfaces.base_interface import unsupported
from ironic.drivers.contract.step_declarations import clean_step, deploy_step, service_step, verify_step
from ironic.drivers.contract.task import Task
from ironic.drivers.contract.wait_declarations import ORDERED, Ordered, looks
from ironic.drivers.contract.waits import Ended
from ironic.drivers.modules.bmc.bmc_gateway import CallClass
from ironic.drivers.modules.redfish.orders import (
    bmc_clock,
    bmc_indicators,
    boot_override,
    firmware_list,
    firmware_updates,
    virtual_media,
)
from ironic.drivers.modules.redfish.orders.bmc_tasks import read_task, task_begun_by
from ironic.drivers.modules.redfish.orders.boot_override import MODES, SOURCES
from ironic.drivers.modules.redfish.orders.firmware_updates import UNNAMED_UPDATES
from ironic.drivers.modules.redfish.orders.resets import check_restart, offered
from ironic.drivers.modules.redfish.tree import bmc_sensors
from ironic.drivers.modules.redfish.tree.bmc_survey import SURVEY, has_link
from ironic.drivers.modules.redfish.tree.boot_settings import boot_of, secure_boot_of
from ironic.drivers.modules.redfish.tree.certainty import certain_target, value_at
from ironic.drivers.modules.redfish.tree.machine_state import health_of, vendor_of
from ironic.drivers.modules.redfish.tree.network_cards import network_cards
from ironic.drivers.modules.redfish.tree.task_ends import BmcTask
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import System, change, connector_of, read

LOG = logging.getLogger(__name__)

# Under these names third-party plug-ins know both tables.
BOOT_DEVICE_MAP_REV: Final = SOURCES
BOOT_DEVICE_MAP: Final = {source: device for device, source in SOURCES.items()} | {
    # BMCs whose virtual media are a USB drive report this after "cdrom" was set.
    sushy.BootSource.USB_CD: boot_devices.CDROM,
}
_MODE_NAMES: Final = {mode: name for name, mode in MODES.items()}

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
        return (
            None
            if value_at(system, "Boot", dict).shown(None)
            else "no boot settings (Boot), so no boot device can be set"
        )

    # Boot device

    def get_supported_boot_devices(self, task: Task) -> list[str]:
        allowed = read(task, "reading the boot devices", lambda system: system.get_allowed_system_boot_source_values())
        return [device for device, source in SOURCES.items() if source in allowed]

    def set_boot_device(self, task: Task, device: str, persistent: bool = False) -> None:
        if device not in SOURCES:
            raise self._invalid(task, "boot device", device, list(SOURCES))
        boot_override.set_device(task, device, persistent=persistent)

    def get_boot_device(self, task: Task) -> BootDevice:
        boot = read(task, "reading the boot device", boot_of)
        enabled = boot.enabled.shown(None)
        if enabled in (None, sushy.BootSourceOverrideEnabled.DISABLED):
            return {"boot_device": None, "persistent": None}
        persistent = enabled == sushy.BootSourceOverrideEnabled.CONTINUOUS
        return {"boot_device": BOOT_DEVICE_MAP.get(boot.target.shown(None)), "persistent": persistent}

    # Boot mode and secure boot

    def get_supported_boot_modes(self, task: Task) -> list[str]:
        return list(MODES)

    def set_boot_mode(self, task: Task, mode: str) -> None:
        if mode not in MODES:
            raise self._invalid(task, "boot mode", mode, list(MODES))
        before = read(task, "reading the boot mode", boot_of).mode
        if isinstance(before, Known) and before.value != MODES[mode]:
            self._check_restart(task, f"setting boot mode {mode}")
        try:
            boot_override.set_mode(task, mode)
        except RedfishError as error:
            if not isinstance(before, Known) and not isinstance(error, RedfishConnectionError):
                LOG.info("Node %s: its BMC shows no boot mode and refuses to set one: %s", task.node.uuid, error)
                raise unsupported(task, "set_boot_mode") from error
            raise
        if not isinstance(before, Known) and self._shows_no_mode(task):
            LOG.warning("Node %s: boot mode %s is set, but its BMC does not report the mode", task.node.uuid, mode)
            return
        self._take_effect(task, f"boot mode {mode}", "boot_mode", mode)

    def _shows_no_mode(self, task: Task) -> bool:
        """Return whether the BMC has no boot mode to show; raise RedfishError where it shows one that can't be read."""
        return read(task, "reading the boot mode", lambda system: boot_of(system).mode.certain(), anew=True) is None

    def get_boot_mode(self, task: Task) -> str | None:
        return _MODE_NAMES.get(read(task, "reading the boot mode", boot_of).mode.shown(None))

    def get_secure_boot_state(self, task: Task) -> bool | None:
        def state(system: System) -> bool | None:
            try:
                return secure_boot_of(system).shown(None)
            except sushy_errors.MissingAttributeError:
                raise unsupported(task, "get_secure_boot_state") from None

        return read(task, "reading the secure boot state", state)

    def set_secure_boot_state(self, task: Task, state: bool) -> Ordered | None:
        operation = f"turning secure boot {'on' if state else 'off'}"

        def is_set(system: System) -> bool:
            try:
                shown = secure_boot_of(system).certain()
            except sushy_errors.MissingAttributeError:
                raise unsupported(task, "set_secure_boot_state") from None
            # Some BMCs refuse a change to the present state; where that is odd, no restart would show the wanted one.
            if shown == state:
                return True
            if state and boot_of(system).mode == Known(sushy.BootSourceOverrideMode.LEGACY):
                reason = "the machine boots in mode bios, which has no secure boot; set boot mode uefi first"
                raise RedfishError(node=task.node.uuid, operation=operation, error=reason)
            return False

        if read(task, operation, is_set, anew=True):
            return None
        self._check_restart(task, operation)
        change(task, operation, lambda system: system.secure_boot.set_enabled(state))
        return self._take_effect(task, f"secure boot {'on' if state else 'off'}", "secure_boot", state)

    def _check_restart(self, task: Task, operation: str) -> None:
        """Raise RedfishError when a restart may be needed for a setting and can't be ordered."""
        if CONF.redfish.boot_mode_config_timeout and awaited_setting.is_restart_allowed(task):
            check_restart(task, operation)

    def _take_effect(self, task: Task, what: str, column: str, wanted: str | bool) -> Ordered | None:
        """Restart the machine until the BMC reports a setting; raise RedfishError if it does not.

        The power state is as before afterwards. A BMC that fails to answer as it takes a setting over is read again.
        Work that does not wait itself ends with the restart; `look_at_setting` looks on.
        """
        seconds = CONF.redfish.boot_mode_config_timeout

        def is_reported() -> bool:
            try:
                return self._is_set(task, column, wanted)
            except RedfishError as error:
                LOG.debug("Node %s: whether %s has taken effect can't be read: %s", task.node.uuid, what, error)
                return False

        if not seconds or is_reported():
            return None
        if not awaited_setting.is_restart_allowed(task):
            return ORDERED
        LOG.info("Node %s: it is restarted, for %s to take effect", task.node.uuid, what)
        awaited_setting.suspend(task, column, wanted, seconds)
        before = task.power.get_power_state(task)
        task.change_power(states.REBOOT)
        if not task.clock.until(is_reported, timeout=seconds, interval=CONF.redfish.boot_mode_status_interval):
            reason = f"the BMC has accepted {what}, but does not report it within {seconds} seconds after a restart"
            raise RedfishError(node=task.node.uuid, operation=f"setting {what}", error=reason)
        if before == states.POWER_OFF and not task.node.disable_power_off:
            task.change_power(states.POWER_OFF)
        return None

    def _is_set(self, task: Task, column: str, wanted: object) -> bool:
        read_setting = self.get_boot_mode if column == "boot_mode" else self.get_secure_boot_state
        return read_setting(task) == wanted

    @looks(awaited_setting.KIND, interval=lambda: CONF.redfish.boot_mode_status_interval)
    def look_at_setting(self, task: Task, wait: NodeWait) -> Ended | None:
        """Return whether a setting has taken effect."""
        return awaited_setting.check(task, wait, lambda column, wanted: self._is_set(task, column, wanted))

    @clean_step(priority=0)
    @deploy_step(priority=0)
    def reset_secure_boot_keys_to_default(self, task: Task) -> None:
        """Restore the secure boot keys that the machine was delivered with."""
        self._reset_keys(task, sushy.SecureBootResetKeysType.RESET_ALL_KEYS_TO_DEFAULT)

    @clean_step(priority=0)
    @deploy_step(priority=0)
    def clear_secure_boot_keys(self, task: Task) -> None:
        """Delete all secure boot keys; the machine accepts new ones afterwards."""
        self._reset_keys(task, sushy.SecureBootResetKeysType.DELETE_ALL_KEYS)

    def _reset_keys(self, task: Task, how: sushy.SecureBootResetKeysType) -> None:
        operation = f"secure boot action {how.value}"

        def reset(system: System) -> str | None:
            secure_boot = system.secure_boot
            allowed = secure_boot.get_allowed_reset_keys_values()
            if how not in allowed:
                raise sushy_errors.InvalidParameterValueError(parameter="reset_type", value=how, valid_values=allowed)
            target = certain_target(secure_boot, "SecureBoot.ResetKeys")
            return task_begun_by(connector_of(system).post(target, data={"ResetKeysType": how.value}))

        if (monitor := change(task, operation, reset)) is None:
            return
        ends: list[BmcTask] = []

        def is_over() -> bool:
            ends[:] = [read(task, operation, lambda system: read_task(system, monitor), anew=True)]
            return ends[0].is_over

        seconds = CONF.redfish.boot_mode_config_timeout
        task.clock.until(is_over, timeout=seconds, interval=CONF.redfish.boot_mode_status_interval)
        if not ends[0].is_good:
            reason = ends[0].text or f"its task is not over after {seconds} seconds"
            raise RedfishError(node=task.node.uuid, operation=operation, error=reason)

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
        def mac_addresses(system: System) -> list[str] | None:
            cards = network_cards(system)
            if not cards and not has_link(system, "EthernetInterfaces"):
                return None
            return [card.mac_address for card in cards if card.is_enabled]

        found = read(task, "reading the network interfaces", mac_addresses)
        if found is None:
            raise unsupported(task, "get_mac_addresses")
        return found

    # Virtual media

    def get_virtual_media(self, task: Task) -> list[dict[str, object]]:
        return virtual_media.describe(task)

    def attach_virtual_media(self, task: Task, device_type: str, image_url: str) -> None:
        if device_type not in virtual_media.MEDIA:
            raise self._invalid(task, "virtual drive", device_type, list(virtual_media.MEDIA))
        virtual_media.insert(task, [virtual_media.MEDIA[device_type]], image_url)

    def detach_virtual_media(self, task: Task, device_types: Sequence[str] | None = None) -> None:
        media = None if device_types is None else [virtual_media.MEDIA[name] for name in device_types]
        virtual_media.eject(task, media)

    # Indicators and NMI

    def inject_nmi(self, task: Task) -> None:
        nmi = sushy.ResetType.NMI
        change(task, "sending an NMI", lambda system: system.reset_system(offered(task.node, system, nmi)))

    def get_supported_indicators(self, task: Task, component: str | None = None) -> Lights:
        if component is not None:
            bmc_indicators.check_component(task.node, component)
        return read(
            task, "reading the indicators", lambda system: bmc_indicators.describe_indicators(system, component)
        )

    def set_indicator_state(self, task: Task, component: str, indicator: str, state: str) -> None:
        bmc_indicators.check_component(task.node, component)
        change(
            task,
            f"setting indicator {indicator} of {component}",
            lambda system: bmc_indicators.set_indicator(system, task.node, component, indicator, state),
        )

    def get_indicator_state(self, task: Task, component: str, indicator: str) -> str:
        bmc_indicators.check_component(task.node, component)
        return read(
            task,
            f"reading indicator {indicator} of {component}",
            lambda system: bmc_indicators.indicator_state(
                bmc_indicators.find_indicator(system, task.node, component, indicator)
            ),
        )

    def _invalid(self, task: Task, what: str, given: str, allowed: list[str]) -> InvalidParameterValue:
        return InvalidParameterValue(
            err=f"Node {task.node.uuid} has no {what} {given!r}; it supports {', '.join(allowed) or 'none'}."
        )
