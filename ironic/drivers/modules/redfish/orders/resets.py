"""Reset requests of a Redfish machine: which one does what is wanted."""

from collections.abc import Mapping
from typing import Any, Final

import sushy
from sushy import ResetType as Reset

from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.readings import Known
from ironic.drivers.contract.task import Node
from ironic.drivers.modules.redfish.tree.machine_state import power_of
from ironic.drivers.modules.redfish.wire.bmc_system import System

# What else does the same. The button does it only in the state that it is pressed in, so that has to be known.
_ALSO: Final[Mapping[Reset, tuple[Reset, ...]]] = {
    Reset.ON: (Reset.FORCE_ON, Reset.PUSH_POWER_BUTTON),
    Reset.GRACEFUL_SHUTDOWN: (Reset.PUSH_POWER_BUTTON,),
}
_STATE_TO_PUSH: Final = {Reset.ON: sushy.PowerState.OFF, Reset.GRACEFUL_SHUTDOWN: sushy.PowerState.ON}


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
