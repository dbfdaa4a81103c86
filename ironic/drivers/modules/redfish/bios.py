"""BIOS interface `redfish`: settings are stored in the database, changed through the BMC's pending attributes.

Most changes take effect when the machine starts. A step therefore restarts it and waits, without a worker, until the
BMC reports the requested values.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import sushy
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import node_waits
from ironic.core.flows.node_waits import NodeWait
from ironic.core.readings import Unreadable
from ironic.drivers.contract.interfaces import BIOSInterface
from ironic.drivers.contract.interfaces.base_interface import unsupported
from ironic.drivers.contract.step_declarations import StepDone, StepFailed, clean_step, deploy_step, service_step
from ironic.drivers.contract.task import Task
from ironic.drivers.contract.wait_declarations import looks
from ironic.drivers.contract.waits import Ended
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.orders import waiting_step
from ironic.drivers.modules.redfish.orders.restarts import check_restart
from ironic.drivers.modules.redfish.orders.waiting_step import AtBmc, BmcStep
from ironic.drivers.modules.redfish.tree import bios_attributes
from ironic.drivers.modules.redfish.tree.bios_settings import BiosSettings
from ironic.drivers.modules.redfish.tree.machine_state import progress_of
from ironic.drivers.modules.redfish.tree.members import has_link
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_system import System

LOG = logging.getLogger(__name__)

_ARGSINFO: Final = {
    "settings": {"description": "Settings to apply, each with a name and a value.", "required": True},
}
_READ_ONLY: Final = "its BIOS settings can only be read: its resource Bios leads to none that can be changed"
_PENDING_UNKNOWN: Final = (
    "it shows the BIOS settings that are wanted, and which ones wait for a restart can't be read, so whether they stay "
    "is not known; nothing was ordered. Restart the machine or the BMC, and try again"
)
_BOOTED: Final = (sushy.BootProgressStates.OS_BOOT_STARTED, sushy.BootProgressStates.OS_RUNNING)
# A BMC without boot progress does not say when the machine has started; others say so late. Only requested values that
# were not shown before the restart, and are now, show as much.
_SECONDS_TO_START: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BiosChange(AtBmc):
    """What is requested, nothing for a reset; whether the BMC shows requested values only when they have effect."""

    requested_bios_attrs: Mapping[str, Any] = field(default_factory=dict)
    former_values_shown: bool = False


# The note of a reset that this task has ordered.
_RESET_ORDERED: Final = "BIOS reset ordered"

_CHANGE: Final = BmcStep("redfish_bios_state", "bios", BiosChange)


class RedfishBIOS(BIOSInterface):
    """BIOS settings through Redfish."""

    survey = SURVEY
    is_needed = False

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        access_of(task.node)

    def lacks(self, system: System) -> str | None:
        return None if has_link(system, "Bios") else "no BIOS settings (Bios); choose BIOS interface no-bios"

    @clean_step(priority=0, argsinfo=_ARGSINFO, requires_ramdisk=False)
    @deploy_step(priority=0, argsinfo=_ARGSINFO)
    @service_step(priority=0, argsinfo=_ARGSINFO, requires_ramdisk=False)
    def apply_configuration(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        """Apply settings; without a restart when the machine has them already."""
        wanted = bios_attributes.requested(task.node.uuid, settings, _rules(task, settings))

        def is_applied(system: System) -> bool:
            bios = _bios_of(task, system)
            if _unapplied(wanted, bios.current, {}):
                return False
            # What waits for a restart may differ from what is shown.
            found = bios.pending()
            if isinstance(found, Unreadable):
                raise UnusableAnswer(_PENDING_UNKNOWN) from found.error
            pending: Mapping[str, object] = found.shown({})
            return all(pending.get(name, value) == value for name, value in wanted.items())

        def apply(system: System) -> None:
            bios = _bios_of(task, system)
            if bios.changed_at is None:
                raise UnusableAnswer(_READ_ONLY)
            bios.order(wanted)

        # What is shown right after a reset is no more than what the settings were.
        if not task.notes.get(_RESET_ORDERED) and read(task, "reading the BIOS settings", is_applied, anew=True):
            return None
        check_restart(task, "changing BIOS settings")
        change(task, "changing BIOS settings", apply)
        memory = BiosChange(requested_bios_attrs=wanted, former_values_shown=_shows_former_values(task, wanted))
        _CHANGE.restart(task, memory)
        return _CHANGE.begin(task, f"the BMC to report {bios_attributes.in_words(wanted)}")

    @clean_step(priority=0, requires_ramdisk=False)
    @deploy_step(priority=0)
    @service_step(priority=0, requires_ramdisk=False)
    def factory_reset(self, task: Task) -> str | None:
        """Reset all settings to the factory defaults."""
        check_restart(task, "resetting the BIOS settings")
        change(task, "resetting the BIOS settings", lambda system: _bios_of(task, system).order_defaults())
        task.notes.put(_RESET_ORDERED, True)
        state = self.post_reset(task)
        if state is None:
            state = _await_defaults(task) if _CHANGE.is_under_way(task.node) else RedfishBIOS.post_reset(self, task)
        return state

    def post_reset(self, task: Task) -> str | None:
        """Restart the machine after a reset was ordered, and return the waiting state.

        A plug-in may override it to do more before the restart, such as `apply_configuration`; with None from it the
        machine is restarted as here, unless that has been done.
        """
        _CHANGE.restart(task, BiosChange())
        return _await_defaults(task)

    def _clear_reboot_requested(self, task: Task) -> None:
        """Forget the restart that an earlier order awaits; plug-ins call it before they order another one."""
        node_waits.end(task.node, _CHANGE.kind)

    def cache_bios_settings(self, task: Task) -> None:
        """Store the settings that the BMC reports now; raise UnsupportedDriverExtension when it reports none."""

        def rows(system: System) -> list[dict[str, Any]] | None:
            try:
                return bios_attributes.rows_of(system)
            except sushy_errors.MissingAttributeError:
                return None

        found = read(task, "reading the BIOS settings", rows)
        if found is None:
            raise unsupported(task, "cache_bios_settings")
        with task.writing():
            task.store.bios_settings.sync(task.node.id, found)

    @looks(_CHANGE.kind, interval=lambda: CONF.redfish.firmware_update_status_interval)
    def look_at_bios_settings(self, task: Task, wait: NodeWait) -> Ended | None:
        """Return how a change of settings has ended."""
        end = _CHANGE.look(task, wait, _judge)
        if end is not None:
            waiting_step.record(task, "its BIOS settings are", self.cache_bios_settings)
        return end


def _await_defaults(task: Task) -> str:
    return _CHANGE.begin(task, "the machine to start with the default settings of its BIOS")


def _rules(task: Task, settings: Sequence[Mapping[str, object]]) -> list[dict[str, Any]]:
    """Return what is known of the settings: what the BMC says now, and of others what is stored."""
    stored = list(task.store.bios_settings.values(bios_attributes.CHECKED, task.node.id))
    listed = settings if isinstance(settings, list) else []
    names = {each["name"] for each in listed if isinstance(each, Mapping) and isinstance(each.get("name"), str)}

    def rules(system: System) -> list[dict[str, Any]]:
        try:
            return bios_attributes.rules_for(system, sorted(names))
        except sushy_errors.MissingAttributeError:
            return []

    found = read(task, "reading the description of the BIOS settings", rules)
    fresh = {row["name"] for row in found}
    return [*found, *(row for row in stored if row["name"] not in fresh)]


def _bios_of(task: Task, system: System) -> BiosSettings:
    try:
        return BiosSettings(system)
    except sushy_errors.MissingAttributeError as error:
        raise unsupported(task, "bios") from error


def _unapplied(wanted: Mapping[str, Any], current: Mapping[str, Any], pending: Mapping[str, Any]) -> list[str]:
    """Return the names of the settings that have not taken effect.

    Some BMCs list all settings as pending ones, so these count only where there are no more than were requested.
    """
    listed = pending if len(pending) <= len(wanted) else {}
    return sorted(name for name, value in wanted.items() if current.get(name) != value or name in listed)


def _shows_former_values(task: Task, wanted: Mapping[str, Any]) -> bool:
    """Return whether the BMC shows the requested values only when they have taken effect; False if it can't be read."""

    def look(system: System) -> bool:
        return bool(_unapplied(wanted, _bios_of(task, system).current, {}))

    try:
        return read(task, "reading the BIOS settings", look, anew=True)
    except RedfishError as error:
        LOG.info("Node %s: its BIOS settings can't be read after they were changed: %s", task.node.uuid, error)
        return False


def _judge(task: Task, memory: BiosChange) -> Ended | None:
    """Return how a change of settings has ended; None while the machine starts."""
    wanted = memory.requested_bios_attrs

    def state(system: System) -> tuple[Any, list[str], bool]:
        progress = progress_of(system)
        if not wanted:
            return progress, [], False
        bios = _bios_of(task, system)
        found = bios.pending()
        if isinstance(found, Unreadable) and not memory.former_values_shown:
            raise UnusableAnswer("which of its BIOS settings wait for a restart can't be read") from found.error
        pending: Mapping[str, object] = found.shown({})
        listed = len(pending) <= len(wanted) and not pending.keys().isdisjoint(wanted)
        return progress, _unapplied(wanted, bios.current, pending), listed

    progress, unapplied, is_pending = read(task, "watching a change of BIOS settings", state, anew=True)
    is_unknown = progress in (None, sushy.BootProgressStates.NONE)
    if not (is_unknown or progress in _BOOTED) or not memory.has_booted(task.node):
        return None
    # Right after the restart a BMC may show the progress of the boot before.
    is_settled = memory.seconds_since_restart(task.clock.now()) >= _SECONDS_TO_START
    if wanted and not unapplied and (is_settled or not is_unknown or memory.former_values_shown):
        return StepDone()
    if not is_settled:
        return None
    if not unapplied:
        return StepDone()
    if is_pending or (is_unknown and not memory.boots_agent):
        # A job of the BMC may still apply them, or the machine may still start.
        return None
    return StepFailed(f"the BIOS settings {', '.join(unapplied)} were not updated although the machine was restarted")
