"""The boot override of a Redfish machine: device, duration and mode.

Some BMCs set a device for the next boot only. A persistent device is then remembered with the node, and the power
interface sets it again before each boot (`restore_device`).
"""

import logging
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import sushy

from ironic.conf import CONF
from ironic.core.bmc_readings import BootDevice
from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.readings import ABSENT, Known, Unreadable, Value
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.redfish.orders.stored_changes import is_stored_soon
from ironic.drivers.modules.redfish.tree.boot_settings import (
    BootSettings,
    boot_of,
    leave_out_lost_settings,
    shown_boots,
)
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_messages import reason_of
from ironic.drivers.modules.redfish.wire.bmc_system import System
from ironic.drivers.modules.redfish.wire.differences import Behaviour
from ironic.drivers.modules.redfish.wire.forms import Forms, in_one_form
from ironic.drivers.modules.redfish.wire.quirks import behaves, shows

LOG = logging.getLogger(__name__)

SOURCES: Final = {
    boot_devices.PXE: sushy.BootSource.PXE,
    boot_devices.DISK: sushy.BootSource.HDD,
    boot_devices.CDROM: sushy.BootSource.CD,
    boot_devices.BIOS: sushy.BootSource.BIOS_SETUP,
    boot_devices.SAFE: sushy.BootSource.DIAGS,
    boot_devices.FLOPPY: sushy.BootSource.FLOPPY,
    boot_devices.UEFIHTTP: sushy.BootSource.UEFI_HTTP,
}
DEVICES: Final = {source: device for device, source in SOURCES.items()} | {
    # BMCs whose virtual media are a USB drive report this after "cdrom" was set.
    sushy.BootSource.USB_CD: boot_devices.CDROM,
}
MODES: Final = {
    boot_devices.LEGACY_BIOS: sushy.BootSourceOverrideMode.LEGACY,
    boot_devices.UEFI: sushy.BootSourceOverrideMode.UEFI,
}

_REMEMBERED: Final = InternalKey("redfish_boot_device", str, "The boot device that Redfish sets before each start.")
_HTTP_URL: Final = InternalKey("redfish_uefi_http_url", str, "What the next start boots over HTTP, once.")
# "secret" keeps it out of the API: who knows the URL of an image has the image.
_REMEMBERED_URL: Final = InternalKey("secret_redfish_boot_url", str, "What is booted over HTTP at each start.")
# Names that earlier releases stored.
_FORMER_NAMES: Final = {"hdd": boot_devices.DISK, "cd": boot_devices.CDROM, "bios setup": boot_devices.BIOS}

_ONCE: Final = sushy.BootSourceOverrideEnabled.ONCE
_CONTINUOUS: Final = sushy.BootSourceOverrideEnabled.CONTINUOUS
_LONGEST_PAUSE: Final = 6


def supported_devices(task: Task) -> list[str]:
    """Return the boot devices that the BMC can set."""
    allowed = read(task, "reading the boot devices", lambda system: system.get_allowed_system_boot_source_values())
    return [device for device, source in SOURCES.items() if source in allowed]


def shown_device(task: Task) -> BootDevice:
    """Return the boot device that the BMC shows, and whether it is persistent; None for what is not set or known."""
    boot = read(task, "reading the boot device", boot_of)
    enabled = boot.enabled.shown(None)
    if enabled in (None, sushy.BootSourceOverrideEnabled.DISABLED):
        return {"boot_device": None, "persistent": None}
    return {"boot_device": DEVICES.get(boot.target.shown(None)), "persistent": enabled == _CONTINUOUS}


def set_device(task: Task, device: str, *, persistent: bool, url: str | None = None) -> None:
    """Set the boot device; one that the BMC sets for one boot only is remembered instead of set persistently.

    ``url`` is what the firmware boots over HTTP.
    """
    node = task.node
    url = url or _HTTP_URL.of(node)
    former = [key.delete(node) for key in (_REMEMBERED, _REMEMBERED_URL, _HTTP_URL)]
    if any(former):
        node.save()
    if _set(task, device, persistent=persistent, url=url):
        return
    LOG.warning(
        "Node %s: its BMC sets boot device %s for one boot only; it is set again before each start of the machine",
        node.uuid,
        device,
    )
    _REMEMBERED.set(node, device)
    if url:
        _REMEMBERED_URL.set(node, url)
    node.save()


def restore_device(task: Task) -> None:
    """Set a boot device that is remembered for the next boot; a failure is only logged."""
    device = _REMEMBERED.of(task.node)
    if device is None:
        return
    device = _FORMER_NAMES.get(device, device)
    if device not in SOURCES:
        LOG.warning("Node %s: boot device %r is remembered, which is none", task.node.uuid, device)
        return
    try:
        _set(task, device, persistent=False, url=_REMEMBERED_URL.of(task.node))
    except IronicError as error:
        LOG.warning("Node %s may boot from another device than %s: %s", task.node.uuid, device, error)


def set_mode(task: Task, mode: str) -> None:
    """Set the boot mode."""
    change(task, f"setting boot mode {mode}", lambda system: request_mode(task.node, system, mode))


def request_mode(node: Node, system: System, mode: str) -> None:
    """Send the boot mode, with all else that the BMC needs."""
    more: dict[str, Any] = {}
    if behaves(node, Behaviour.FULL_BOOT_REQUEST):
        boot = boot_of(system)
        more = {"target": boot.target.shown(sushy.BootSource.PXE), "enabled": boot.enabled.shown(_ONCE)}
    _set_options(system, mode=MODES[mode], **more)


def _set(task: Task, device: str, *, persistent: bool, url: str | None = None) -> bool:
    """Set the boot device; return False if a persistent one could be set for the next boot only."""
    node = task.node

    def act(system: System) -> bool:
        allowed = system.get_allowed_system_boot_source_values()
        if SOURCES[device] not in allowed:
            known = [name for name, source in SOURCES.items() if source in allowed]
            raise InvalidParameterValue(
                err=f"Node {node.uuid} has no boot device {device!r}; it supports {', '.join(known) or 'none'}."
            )
        mode_before = boot_of(system).mode

        def send(duration: _Duration) -> bool:
            _after_self_test(node, lambda: _send(node, system, device, duration, url))
            return not (persistent and duration.enabled is _ONCE)

        is_kept = in_one_form(_durations(node, persistent=persistent), send)
        is_kept = _is_stored(node, system, device, persistent=persistent) and is_kept
        if behaves(node, Behaviour.MODE_AFTER_DEVICE) and isinstance(mode_before, Known):
            system.refresh(force=True)
            if boot_of(system).mode != mode_before:
                _set_options(system, mode=mode_before.value)
        return is_kept

    return change(task, f"setting boot device {device}", act)


class _Duration(NamedTuple):
    """How long a boot device is set for, and whether that is said even if it does not change."""

    enabled: sushy.BootSourceOverrideEnabled
    is_said: bool


def _durations(node: Node, *, persistent: bool) -> Forms[_Duration]:
    error = yield _Duration(_CONTINUOUS if persistent else _ONCE, is_said=False)
    if persistent:
        LOG.info("Node %s: its BMC does not set a persistent boot device: %s", node.uuid, reason_of(error))
        yield _Duration(_ONCE, is_said=True)


def _is_stored(node: Node, system: System, device: str, *, persistent: bool) -> bool:
    """Return whether the BMC has stored the device for as long as was wanted; raise RedfishError if it has not at all.

    Some BMCs accept everything. Others show a change a little later, or in their settings only.
    """
    shown: list[BootSettings] = []

    def is_shown() -> bool:
        system.refresh(force=True)
        shown[:] = shown_boots(system)
        return not shown or any(_has(boot, device) for boot in shown)

    if not is_stored_soon(is_shown):
        target = shown[0].target
        reason = f"the BMC has accepted boot device {device} ({SOURCES[device].value}) and " + (
            f"can't say what it has stored: {target.error}"
            if isinstance(target, Unreadable)
            else f"has not stored it: it shows {_word(target) or 'no device'}, "
            f"{_word(shown[0].enabled) or 'for no boot'}"
        )
        raise RedfishError(node=node.uuid, operation=f"setting boot device {device}", error=reason)
    is_for_once = any(boot.enabled == Known(_ONCE) for boot in shown if _has(boot, device))
    return not (persistent and is_for_once)


def _word(value: Value[Any]) -> str:
    return str(value.value.value) if isinstance(value, Known) else "" if value is ABSENT else "a word that is not known"


def _set_options(system: System, **options: Any) -> None:
    """Have the library change the boot options, in the system itself where its settings can't be read."""
    leave_out_lost_settings(system)
    system.set_system_boot_options(**options)


def _has(boot: BootSettings, device: str) -> bool:
    # BMCs whose virtual media are a USB drive show that one.
    wanted = {SOURCES[device]} | ({sushy.BootSource.USB_CD} if device == boot_devices.CDROM else set())
    is_disabled = boot.enabled == Known(sushy.BootSourceOverrideEnabled.DISABLED)
    return boot.target.shown(None) in wanted and not is_disabled


def _send(node: Node, system: System, device: str, duration: _Duration, url: str | None) -> None:
    boot = boot_of(system)
    more: dict[str, Any] = {}
    full = behaves(node, Behaviour.FULL_BOOT_REQUEST)
    is_said = duration.is_said or full or behaves(node, Behaviour.DURATION_ALWAYS_SENT)
    if is_said or boot.enabled != Known(duration.enabled):
        more["enabled"] = duration.enabled
    if full:
        more["mode"] = boot.mode.shown(sushy.BootSourceOverrideMode.UEFI)
    if url:
        more["http_boot_uri"] = url
    _set_options(system, target=SOURCES[device], **more)


def _after_self_test(node: Node, send: Callable[[], None]) -> None:
    """Send a request again while the BMC refuses it because the machine runs its self-test."""
    options = CONF.redfish
    first: int = options.post_boot_retry_delay
    node.clock.retrying(
        options.post_boot_retry_attempts,
        lambda state: first * min(_LONGEST_PAUSE, 2.0 ** (state.attempt_number - 1)),
        lambda error: shows(error, Behaviour.REFUSES_DURING_POST),
        lambda error: LOG.debug("A machine runs its self-test, its boot device is set later: %s", error),
    )(send)
