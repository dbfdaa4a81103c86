"""The clock of a Redfish BMC, whose wrong time spoils logs and the check of certificates."""

import logging
from datetime import UTC, datetime
from typing import Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.texts import syntax
from ironic.drivers.contract.interfaces.base_interface import unsupported
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.redfish.tree.machine_state import BmcClock, clock_of
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of

LOG = logging.getLogger(__name__)

ARGSINFO: Final = {
    "target_datetime": {"description": "Time to set, ISO 8601; by default that of the conductor."},
    "datetime_local_offset": {"description": "Offset of the BMC's local time from UTC, such as +02:00."},
}

_MOST_SECONDS: Final = 1.0
# A clock that was set a moment ago may differ by the time that requests take.
_ALLOWANCE: Final = 60.0
_UTC: Final = "+00:00"


def set_clock(task: Task, moment: str | None, offset: str | None) -> None:
    """Set the time; raise RedfishError when the BMC shows another one afterwards."""
    if moment is not None and syntax.moment_of(moment) is None:
        raise InvalidParameterValue(err=f"target_datetime for node {task.node.uuid} must be a time in ISO 8601.")
    if offset is not None and not isinstance(offset, str):
        raise InvalidParameterValue(err=f"datetime_local_offset for node {task.node.uuid} must be text.")

    def act(system: System) -> tuple[datetime | None, datetime | None]:
        clock = _clock(task, system)
        wanted = moment or _now(task, clock)
        document = {"DateTime": wanted} | ({"DateTimeLocalOffset": offset} if offset else {})
        connector_of(system).patch(clock.path, data=document)
        clock.refresh()
        return syntax.moment_of(wanted), syntax.moment_of(clock.time)

    wanted, shown = change(task, "setting the clock of the BMC", act)
    # The clock goes on between the two requests.
    if wanted is None or shown is None or abs((shown - wanted).total_seconds()) > _ALLOWANCE:
        reason = f"the BMC shows {shown} after its clock was set to {wanted}"
        raise RedfishError(node=task.node.uuid, operation="setting the clock of the BMC", error=reason)


def correct_clock(task: Task) -> None:
    """Set the time if it differs from that of the conductor."""

    def look(system: System) -> tuple[float | None, str | None]:
        clock = _clock(task, system)
        shown = syntax.moment_of(clock.time)
        return None if shown is None else abs((shown - task.node.now()).total_seconds()), clock.offset

    seconds, offset = read(task, "reading the clock of the BMC", look, anew=True)
    if seconds is not None and seconds <= _MOST_SECONDS:
        return
    LOG.info("Node %s: the clock of its BMC differs and is set", task.node.uuid)
    set_clock(task, None, None if offset == _UTC else _UTC)


def _clock(task: Task, system: System) -> BmcClock:
    """Return the BMC's, or raise: UnsupportedDriverExtension without one, Uncertain where it is odd."""
    clock = clock_of(system)
    if clock is None:
        raise unsupported(task, "bmc_clock")
    return clock


def _now(task: Task, clock: BmcClock) -> str:
    """Return the time in the precision that the BMC shows."""
    now = task.node.now().replace(tzinfo=UTC)
    return (now if "." in clock.time else now.replace(microsecond=0)).isoformat()
