"""Reset requests of a Redfish machine: which one does what is wanted, and whether a restart can be ordered."""

from collections.abc import Mapping
from typing import Any, Final

import sushy
from sushy import ResetType as Reset

from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.readings import Known
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.redfish.tree.machine_state import power_of
from ironic.drivers.modules.redfish.wire.bmc_access import access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.drivers.modules.redfish.wire.bmc_system import System

# What else does the same. The button does it only in the state that it is pressed in, so that has to be known.
_ALSO: Final[Mapping[Reset, tuple[Reset, ...]]] = {
    Reset.ON: (Reset.FORCE_ON, Reset.PUSH_POWER_BUTTON),
    Reset.GRACEFUL_SHUTDOWN: (Reset.PUSH_POWER_BUTTON,),
}
_STATE_TO_PUSH: Final = {Reset.ON: sushy.PowerState.OFF, Reset.GRACEFUL_SHUTDOWN: sushy.PowerState.ON}


def check_restart(task: Task, operation: str) -> None:
    """Raise RedfishError when the machine can't be restarted, as its power state is not known.

    To be called before an order that takes effect with a restart.
    """
    if read(task, "reading the power state", lambda system: power_of(system).shown(None)) is None:
        raise state_unknown(task, operation)


def state_unknown(task: Task, operation: str) -> RedfishError:
    """Return the error of an operation that needs a restart in an unknown power state."""
    reason = (
        f"BMC {access_of(task.node).address} shows no power state that is known, so a restart could leave the machine "
        "off; nothing was ordered. Look at the BMC, or switch the power on or off"
    )
    return RedfishError(node=task.node.uuid, operation=operation, error=reason)


def offered(node: Node, system: System, wanted: Reset) -> Reset:
    """Return the request to send; raise RedfishError when the BMC offers none that does what is wanted.

    The order is kept: ``wanted`` itself, then the gentler ones before the button.
    """
    known: set[Any] = system.get_allowed_reset_system_values()
    ways = [wanted, *_ALSO.get(wanted, ())]
    for way in ways:
        is_safe = way is not Reset.PUSH_POWER_BUTTON or power_of(system) == Known(_STATE_TO_PUSH[wanted])
        if way in known and is_safe:
            return way
    others = ", ".join(sorted(way.value for way in known)) or "none that is known"
    reason = f"its BMC offers no power action {' or '.join(way.value for way in ways)} now, only {others}"
    raise RedfishError(node=node.uuid, operation=f"power action {wanted.value}", error=reason)
