"""How far an update of firmware is: what is remembered of it, and what the BMC shows.

All here reads; `firmware_updates` decides by it what is next.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import RedfishError
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.redfish.orders.bmc_tasks import read_task
from ironic.drivers.modules.redfish.orders.firmware_images import Update
from ironic.drivers.modules.redfish.orders.waiting_step import AtBmc
from ironic.drivers.modules.redfish.tree.flashed_versions import BIOS, BMC, has_changed, versions_of
from ironic.drivers.modules.redfish.tree.machine_state import last_reset_of
from ironic.drivers.modules.redfish.tree.members import has_link, linked, seen_chassis, seen_managers
from ironic.drivers.modules.redfish.tree.task_ends import BmcTask
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_system import System

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatesLeft(AtBmc):
    """The updates that are left, the first of them under way, and what is remembered of that in its phase.

    ``versions`` are the firmware versions before it, ``restarted_for`` the task for which the machine was restarted,
    ``unsaid`` what a task said that does not say how it ended.
    """

    updates: Sequence[Update]
    began_at: datetime | None = None
    phase: str = "fetching"
    versions: Mapping[str, Any] = field(default_factory=dict)
    task: str | None = None
    sent_at: datetime | None = None
    restarted_for: str | None = None
    until: datetime | None = None
    settles_since: datetime | None = None
    answers: int = 0
    answered_at: datetime | None = None
    unsaid: str | None = None


def name_of(update: Update) -> str:
    """Return what an update is called in messages."""
    return str(update.get("component") or "the image")


def wants_restart(task: Task, state: BmcTask, left: UpdatesLeft) -> bool:
    """Return whether the machine must be restarted for an update to go on, or to take effect."""
    component = left.updates[0].get("component")
    if component == BMC:
        return False
    if state.is_over or component is None or component == BIOS:
        return True
    # A card that is being written must not lose its power.
    return (
        state.word != "Running" and seconds_since(task, left.sent_at) > CONF.redfish.firmware_update_nic_starting_wait
    )


def was_restarted(task: Task, left: UpdatesLeft) -> bool:
    """Return whether the BMC shows that the machine was restarted for an update, or that it needs no restart."""
    monitor, began = left.task, left.restarted_at
    assert monitor is not None, "only an update that was ordered restarts the machine"

    def is_done(system: System) -> bool:
        state = read_task(system, monitor)
        last = last_reset_of(system)
        return state.is_over or state.word == "Running" or bool(began and last and last >= began)

    return read(task, "watching a firmware update", is_done, anew=True)


def was_flashed(task: Task, left: UpdatesLeft) -> bool:
    """Return whether the component of an update has another version than before it."""
    now = read(task, "reading the firmware versions after an update", versions_of, anew=True)
    return has_changed(left.versions, now, left.updates[0].get("component"))


def bmc_answers(task: Task) -> bool:
    """Return whether the BMC shows system, managers, chassis and network adapters, as far as it has them."""

    def touch(system: System) -> None:
        # A link may be dead for good, but not all.
        if linked(system, "ManagedBy") and not seen_managers(system).items:
            raise UnusableAnswer("it shows none of its managers")
        faults: list[sushy_errors.SushyError] = []
        chassis = [one for one in seen_chassis(system).items if has_link(one, "NetworkAdapters")]
        for one in chassis:
            try:
                _ = one.network_adapters
            except sushy_errors.BadRequestError as error:
                # HPE's has no network adapters while the machine is off.
                LOG.debug("A BMC does not show a resource: %s", error)
            except sushy_errors.HTTPError as error:
                faults.append(error)
        if faults and len(faults) == len(chassis):
            raise faults[0]

    try:
        read(task, "looking whether the BMC answers after a firmware update", touch, anew=True)
    except RedfishError as error:
        LOG.info("Node %s: its BMC is not ready after a firmware update: %s", task.node.uuid, error)
        return False
    return True


def seconds_since(task: Task, moment: datetime | None) -> float:
    """Return how many seconds have passed since a moment, 0 without one."""
    return (task.clock.now() - moment).total_seconds() if moment else 0.0
