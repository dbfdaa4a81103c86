"""Firmware interface `redfish`: versions of components, and updates through the BMC's update service.

The BMC fetches an image by itself. The updates of one step run one after another. Between two looks of the periodic
method nothing is held; what is next is stored before it is done, so that another conductor can go on:

    sending   the order is being sent
    task      the BMC works on the update; BIOS and network cards need a restart of the machine for that
    restart   the machine is being restarted
    pause     the component needs time, as a BMC that restarts does
    settle    the BMC must answer again before the next update, or the end
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

import sushy
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue
from ironic.core.hardware_errors import RedfishError
from ironic.core.values import utc_now
from ironic.drivers.driver_periodics import node_periodic
from ironic.drivers.interfaces import FirmwareInterface
from ironic.drivers.interfaces.base_interface import unsupported
from ironic.drivers.modules.redfish import waiting_step
from ironic.drivers.modules.redfish.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.bmc_connection import System, change, optional, read
from ironic.drivers.modules.redfish.bmc_tasks import BmcTask, read_task
from ironic.drivers.modules.redfish.waiting_step import Ended, Memory, Verdict
from ironic.drivers.step_declarations import StepDone, StepFailed, clean_step, deploy_step, service_step
from ironic.drivers.task import Task

LOG = logging.getLogger(__name__)

KEY: Final = "redfish_fw_updates"

_BIOS: Final = "bios"
_BMC: Final = "bmc"
_NIC: Final = "nic:"
_ARGSINFO: Final = {
    "settings": {
        "description": "Updates in order, each with component (bios, bmc or nic:<serial number or id>), url (http or "
        "https) and optionally wait, the seconds to wait after the update.",
        "required": True,
    },
}
_LONGEST: Final = 255
_PROTOCOLS: Final = {
    "http": sushy.UpdateTransferProtocolType.HTTP,
    "https": sushy.UpdateTransferProtocolType.HTTPS,
}
# A network card that waits for a restart longer than this gets one.
_NIC_SECONDS: Final = 30.0


class RedfishFirmware(FirmwareInterface):
    """Firmware through Redfish."""

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        access_of(task.node)

    def cache_firmware_components(self, task: Task) -> None:
        """Store the versions that the BMC reports; raise UnsupportedDriverExtension when it reports none."""
        found = read(task, "reading the firmware components", _components)
        if not found:
            raise unsupported(task, "cache_firmware_components")
        known: dict[str, str | None] = dict(task.store.firmware.rows(("component", "current_version"), task.node.id))
        for item in found:
            name, version = item["component"], item["current_version"]
            if name in known and known[name] != version:
                item["last_version_flashed"] = version
        with task.writing():
            task.store.firmware.put(task.node.id, found)

    @clean_step(priority=0, argsinfo=_ARGSINFO)
    @deploy_step(priority=0, argsinfo=_ARGSINFO)
    @service_step(priority=0, argsinfo=_ARGSINFO, requires_ramdisk=False)
    def update(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        """Update components one after another."""
        updates = _checked(task.node.uuid, settings)
        memory: Memory = {"updates": updates, "began_at": utc_now().isoformat()}
        _send_next(task, memory)
        return waiting_step.begin(task)

    @node_periodic(
        purpose="watching a firmware update",
        spacing=lambda: CONF.redfish.firmware_update_status_interval,
        filters=waiting_step.WAITING,
        predicate=waiting_step.is_remembered(KEY),
    )
    def watch_firmware_update(self, task: Task, manager: object, context: object) -> Ended | None:
        """Continue the updates of a node, or its flow once they have ended."""
        ended = waiting_step.look(task, KEY, _judge, has_own_end=True)
        if ended is not None:
            try:
                self.cache_firmware_components(task)
            except RedfishError as error:
                LOG.warning("Node %s: its firmware versions are not stored: %s", task.node.uuid, error)
        return ended


# Components


def _components(system: System) -> list[dict[str, Any]]:
    found = [_item(_BIOS, system.bios_version)]
    nothing: list[Any] = []
    for manager in optional(lambda: list(system.managers), nothing)[:1]:
        found.append(_item(_BMC, manager.firmware_version, model=manager.model))
    # HPE answers with an error while the machine is off.
    for adapter in optional(lambda: list(_adapters(system)), nothing):
        name = adapter.serial_number or adapter.identity
        versions = [controller.firmware_package_version for controller in adapter.controllers or ()]
        version = next((version for version in versions if version), None)
        found.append(
            _item(
                f"{_NIC}{name}",
                version,
                model=adapter.model,
                vendor=adapter.manufacturer,
                serial_number=adapter.serial_number,
            )
        )
    return [item for item in found if item["current_version"]]


def _adapters(system: System) -> list[Any]:
    return [adapter for chassis in system.chassis[:1] for adapter in chassis.network_adapters.get_members()]


def _item(component: str, version: object, **more: object) -> dict[str, Any]:
    values = {"component": component, "current_version": version, **more}
    return {name: value[:_LONGEST] if isinstance(value, str) else None for name, value in values.items()}


# Arguments


def _checked(uuid: str, settings: object) -> list[dict[str, Any]]:
    """Return the updates, or raise InvalidParameterValue that names the wrong one."""
    if not isinstance(settings, list) or not settings:
        raise InvalidParameterValue(err=f"Firmware updates for node {uuid} must be a list, not empty.")
    for number, update in enumerate(settings, 1):
        if fault := _fault(update):
            raise InvalidParameterValue(err=f"Firmware update {number} for node {uuid} {fault}.")
    return [dict(update) for update in settings]


def _fault(update: object) -> str | None:
    if not isinstance(update, Mapping) or not {"component", "url"} <= update.keys() <= {"component", "url", "wait"}:
        return "must have component and url, and may have wait"
    component, url, wait = update["component"], update["url"], update.get("wait", 1)
    is_nic = isinstance(component, str) and component.startswith(_NIC) and component != _NIC
    if component not in (_BIOS, _BMC) and not is_nic:
        return "must be of component bios, bmc or nic:<serial number or id>"
    if not isinstance(url, str) or syntax.url_of(url, _PROTOCOLS) is None:
        return "must have an http or https URL, from which the BMC fetches the image"
    if not isinstance(wait, int) or isinstance(wait, bool) or wait < 1:
        return "must wait for a whole number of seconds, at least 1"
    return None


# One update


def _send_next(task: Task, memory: Memory) -> None:
    """Order the first of the remaining updates, and store which task the BMC does it in."""
    update = memory["updates"][0]
    url = str(update["url"])

    def send(system: System) -> str:
        root = system.root
        targets = None
        if len(root.get_system_collection().members_identities) > 1:
            targets = [system.path]
        monitor = root.get_update_service().simple_update(
            url, targets=targets, transfer_protocol=_PROTOCOLS[urlsplit(url).scheme.lower()]
        )
        return str(monitor.task_monitor_uri)

    kept: Memory = {
        name: memory[name] for name in ("updates", "began_at", "with_agent", "restarted_at") if name in memory
    }
    waiting_step.remember(task, KEY, {**kept, "phase": "sending"})
    uri = change(task, f"updating the firmware of {update['component']}", send)
    LOG.info("Node %s: the firmware of %s is being updated", task.node.uuid, update["component"])
    waiting_step.remember(task, KEY, {**kept, "phase": "task", "task": uri, "sent_at": utc_now().isoformat()})


def _judge(task: Task, memory: Memory) -> Verdict:
    """Return what is next; reads the BMC only."""
    limit = CONF.redfish.firmware_update_overall_timeout
    if limit and _age(memory, "began_at") > limit:
        component = memory["updates"][0]["component"]
        return StepFailed(f"the firmware updates took longer than {limit} seconds; {component} was under way")
    return _PHASES[memory["phase"]](task, memory)


def _judge_sending(task: Task, memory: Memory) -> Verdict:
    """Fail: a conductor ended as it sent the order, which must not be sent twice."""
    component = memory["updates"][0]["component"]
    return StepFailed(
        f"the conductor ended while it ordered the update of {component}; whether the BMC has begun it is not known"
    )


def _judge_task(task: Task, memory: Memory) -> Verdict:
    update = memory["updates"][0]
    state = read(task, "watching a firmware update", lambda system: read_task(system, memory["task"]), anew=True)
    if state.is_over and not state.is_good:
        return StepFailed(f"updating {update['component']} from {update['url']} failed: {state.text}")
    is_restarted = memory.get("restarted_for") == memory["task"]
    if not is_restarted and _wants_restart(update["component"], state, memory):
        return _restart
    if not state.is_over:
        return None
    seconds = update.get("wait")
    if seconds is None and update["component"] == _BMC:
        seconds = CONF.redfish.firmware_update_reboot_delay
    if not seconds:
        return lambda task, memory: _enter(task, memory, "settle")
    until = (utc_now() + timedelta(seconds=seconds)).isoformat()
    return lambda task, memory: _enter(task, memory, "pause", until=until)


def _wants_restart(component: str, state: BmcTask, memory: Memory) -> bool:
    """Return whether the machine must be restarted for an update to go on, or to take effect."""
    if component == _BMC:
        return False
    if state.is_over or component == _BIOS:
        return True
    # A card that is being written must not lose its power.
    return state.word != "Running" and _age(memory, "sent_at") > _NIC_SECONDS


def _restart(task: Task, memory: Memory) -> None:
    """Restart the machine for an update; it is stored before, so that the restart is not lost."""
    waiting_step.restart(task, KEY, {**memory, "phase": "restart"})
    _after_restart(task, dict(task.node.driver_internal_info[KEY]))


def _after_restart(task: Task, memory: Memory) -> None:
    _enter(task, {**memory, "restarted_for": memory["task"]}, "task")


def _judge_restart(task: Task, memory: Memory) -> Verdict:
    """Find out whether a conductor that died has restarted the machine: a second restart may harm an update."""

    def is_done(system: System) -> bool:
        state = read_task(system, memory["task"])
        since, last = memory.get("restarted_at") or "", syntax.moment_of(system.json.get("LastResetTime"))
        began = syntax.moment_of(since)
        return state.is_over or state.word == "Running" or bool(began and last and last >= began)

    return _after_restart if read(task, "watching a firmware update", is_done, anew=True) else _restart


def _judge_pause(task: Task, memory: Memory) -> Verdict:
    until = syntax.moment_of(memory.get("until"))
    if until is not None and utc_now() < until:
        return None
    return lambda task, memory: _enter(task, memory, "settle")


def _judge_settle(task: Task, memory: Memory) -> Verdict:
    for _ in range(CONF.redfish.firmware_update_required_successes):
        read(task, "looking whether the BMC answers after a firmware update", _touch, anew=True)
    if len(memory["updates"]) > 1:
        return lambda task, memory: _send_next(task, {**memory, "updates": memory["updates"][1:]})
    is_ready = "restarted_at" not in memory or waiting_step.has_booted(task.node, memory)
    return StepDone() if is_ready else None


def _touch(system: System) -> None:
    """Read what a BMC must be able to show before it gets another update."""
    for name in ("managers", "chassis"):
        try:
            list(getattr(system, name))
        except sushy_errors.MissingAttributeError:
            continue


def _enter(task: Task, memory: Memory, phase: str, **more: object) -> None:
    waiting_step.remember(task, KEY, {**memory, "phase": phase, **more})


def _age(memory: Memory, name: str) -> float:
    moment = syntax.moment_of(memory.get(name))
    return (utc_now() - moment).total_seconds() if moment else 0.0


_PHASES: Final = {
    "sending": _judge_sending,
    "task": _judge_task,
    "restart": _judge_restart,
    "pause": _judge_pause,
    "settle": _judge_settle,
}
