"""Settings and observations of a machine with a Redfish BMC."""

from typing import Final

import sushy
from sushy import exceptions as sushy_errors

from ironic.core.errors import InvalidParameterValue
from ironic.core.machine_documents import BootDevice, Lights
from ironic.core.management_errors import FailedToGetSensorData, RedfishError
from ironic.drivers import boot_devices, boot_modes
from ironic.drivers.interfaces import ManagementInterface
from ironic.drivers.interfaces.base import unsupported
from ironic.drivers.modules.redfish import lights, sensors
from ironic.drivers.modules.redfish.access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.connection import System, change, read
from ironic.drivers.steps import clean_step, deploy_step
from ironic.drivers.task import Task

_SOURCES: Final = {
    boot_devices.PXE: sushy.BootSource.PXE,
    boot_devices.DISK: sushy.BootSource.HDD,
    boot_devices.CDROM: sushy.BootSource.CD,
    boot_devices.BIOS: sushy.BootSource.BIOS_SETUP,
    boot_devices.SAFE: sushy.BootSource.DIAGS,
    boot_devices.FLOPPY: sushy.BootSource.FLOPPY,
    boot_devices.UEFIHTTP: sushy.BootSource.UEFI_HTTP,
}
_DEVICES: Final = {source: device for device, source in _SOURCES.items()} | {
    # Where virtual media show up as a USB drive, this is what setting "cdrom" leads to.
    sushy.BootSource.USB_CD: boot_devices.CDROM,
}
_MODES: Final = {
    boot_modes.LEGACY_BIOS: sushy.BootSourceOverrideMode.LEGACY,
    boot_modes.UEFI: sushy.BootSourceOverrideMode.UEFI,
}
_MODE_NAMES: Final = {mode: name for name, mode in _MODES.items()}


class RedfishManagement(ManagementInterface):
    """Boot device, boot mode, secure boot, lights, sensors."""

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        access_of(task.node)

    # Boot device

    def get_supported_boot_devices(self, task: Task) -> list[str]:
        allowed = read(
            task.node, "reading the boot devices", lambda system: system.get_allowed_system_boot_source_values()
        )
        return [device for device, source in _SOURCES.items() if source in allowed]

    def set_boot_device(self, task: Task, device: str, persistent: bool = False) -> None:
        if device not in _SOURCES:
            raise self._invalid(task, "boot device", device, list(_SOURCES))
        how_long = sushy.BootSourceOverrideEnabled.CONTINUOUS if persistent else sushy.BootSourceOverrideEnabled.ONCE

        def order(system: System) -> None:
            if _SOURCES[device] not in system.get_allowed_system_boot_source_values():
                raise self._invalid(task, "boot device", device, _allowed(system))
            system.set_system_boot_options(_SOURCES[device], enabled=how_long)

        change(task.node, f"setting boot device {device}", order)

    def get_boot_device(self, task: Task) -> BootDevice:
        boot = read(task.node, "reading the boot device", lambda system: system.boot)
        if boot is None or boot.enabled in (None, sushy.BootSourceOverrideEnabled.DISABLED):
            return {"boot_device": None, "persistent": None}
        persistent = boot.enabled == sushy.BootSourceOverrideEnabled.CONTINUOUS
        return {"boot_device": _DEVICES.get(boot.target), "persistent": persistent}

    # Boot mode and secure boot

    def get_supported_boot_modes(self, task: Task) -> list[str]:
        return list(_MODES)

    def set_boot_mode(self, task: Task, mode: str) -> None:
        if mode not in _MODES:
            raise self._invalid(task, "boot mode", mode, list(_MODES))
        change(task.node, f"setting boot mode {mode}", lambda system: system.set_system_boot_options(mode=_MODES[mode]))

    def get_boot_mode(self, task: Task) -> str | None:
        boot = read(task.node, "reading the boot mode", lambda system: system.boot)
        return _MODE_NAMES.get(boot.mode) if boot is not None else None

    def get_secure_boot_state(self, task: Task) -> bool:
        def question(system: System) -> bool | None:
            try:
                return bool(system.secure_boot.enabled)
            except sushy_errors.MissingAttributeError:
                return None

        enabled = read(task.node, "reading the secure boot state", question)
        if enabled is None:
            raise unsupported(task, "get_secure_boot_state")
        return enabled

    def set_secure_boot_state(self, task: Task, state: bool) -> None:
        def order(system: System) -> None:
            # Some BMCs refuse what is already so.
            if system.secure_boot.enabled != state:
                system.secure_boot.set_enabled(state)

        change(task.node, f"turning secure boot {'on' if state else 'off'}", order)

    @clean_step(priority=0)
    @deploy_step(priority=0)
    def reset_secure_boot_keys_to_default(self, task: Task) -> None:
        """Put the keys back that the machine came with."""
        self._reset_keys(task, sushy.SecureBootResetKeysType.RESET_ALL_KEYS_TO_DEFAULT)

    @clean_step(priority=0)
    @deploy_step(priority=0)
    def clear_secure_boot_keys(self, task: Task) -> None:
        """Remove all keys; the machine accepts new ones then."""
        self._reset_keys(task, sushy.SecureBootResetKeysType.DELETE_ALL_KEYS)

    def _reset_keys(self, task: Task, how: sushy.SecureBootResetKeysType) -> None:
        change(task.node, f"secure boot action {how.value}", lambda system: system.secure_boot.reset_keys(how))

    # Observations

    def get_sensors_data(self, task: Task) -> dict[str, dict[str, dict[str, object]]]:
        try:
            return read(task.node, "reading the sensors", sensors.readings)
        except RedfishError as error:
            raise FailedToGetSensorData(node=task.node.uuid, error=str(error)) from error

    def get_node_health(self, task: Task) -> str | None:
        status = read(task.node, "reading the health", lambda system: system.status)
        health = None if status is None else (status.health_rollup or status.health)
        return None if health is None else str(health.value).upper()

    def detect_vendor(self, task: Task) -> str | None:
        vendor: str | None = read(task.node, "reading the manufacturer", lambda system: system.manufacturer)
        return vendor

    def get_mac_addresses(self, task: Task) -> list[str]:
        found = read(task.node, "reading the network interfaces", _mac_addresses)
        if found is None:
            raise unsupported(task, "get_mac_addresses")
        return found

    # Lights and signals

    def inject_nmi(self, task: Task) -> None:
        change(task.node, "sending an NMI", lambda system: system.reset_system(sushy.ResetType.NMI))

    def get_supported_indicators(self, task: Task, component: str | None = None) -> Lights:
        if component is not None:
            lights.check_component(task.node, component)
        return read(task.node, "reading the lights", lambda system: lights.describe(system, component))

    def set_indicator_state(self, task: Task, component: str, indicator: str, state: str) -> None:
        lights.check_component(task.node, component)
        led = lights.wanted(task.node, state)
        change(
            task.node,
            f"switching light {indicator} of {component}",
            lambda system: lights.find(system, task.node, component, indicator).set_indicator_led(led),
        )

    def get_indicator_state(self, task: Task, component: str, indicator: str) -> str:
        lights.check_component(task.node, component)
        return read(
            task.node,
            f"reading light {indicator} of {component}",
            lambda system: lights.shown(lights.find(system, task.node, component, indicator)),
        )

    def _invalid(self, task: Task, what: str, given: str, allowed: list[str]) -> InvalidParameterValue:
        return InvalidParameterValue(
            err=f"Node {task.node.uuid} has no {what} {given!r}; it knows {', '.join(allowed) or 'none'}."
        )


def _allowed(system: System) -> list[str]:
    allowed = system.get_allowed_system_boot_source_values()
    return [device for device, source in _SOURCES.items() if source in allowed]


def _mac_addresses(system: System) -> list[str] | None:
    """Return the addresses of enabled interfaces, None when the BMC tells of none at all.

    A BMC that says nothing about the state of an interface has it enabled.
    """
    found = []
    try:
        interfaces = system.ethernet_interfaces.get_members()
    except sushy_errors.MissingAttributeError:
        return None
    for interface in interfaces:
        state = interface.status.state if interface.status is not None else None
        if interface.mac_address and state in (None, sushy.STATE_ENABLED):
            found.append(interface.mac_address.lower())
    return found
