"""What a failed operation leaves behind on the node besides its state.

Cleaning and servicing that fail after they began take the node into maintenance with a fault and a reason (S55), so
that nobody gets a half-cleaned machine; other failures say all they have to say in state and ``last_error``.
Recovery is the operator's: taking the node out of maintenance clears the fault. Power failures alone, which power
synchronisation notes, go by themselves when the BMC answers again.
"""

from typing import TYPE_CHECKING, Final

from ironic.core import states
from ironic.core.secrets import masked_text

if TYPE_CHECKING:
    from ironic.db import NodeRecord

CLEAN_FAILURE: Final = "clean failure"
SERVICE_FAILURE: Final = "service failure"
POWER_FAILURE: Final = "power failure"

_FAULT_OF: Final = {
    states.CLEANING: CLEAN_FAILURE,
    states.CLEANWAIT: CLEAN_FAILURE,
    states.SERVICING: SERVICE_FAILURE,
    states.SERVICEWAIT: SERVICE_FAILURE,
}


def mark(node: "NodeRecord", reason: str) -> None:
    """Take a node whose cleaning or servicing fails into maintenance; the caller saves (a state move does)."""
    fault = _FAULT_OF.get(node.provision_state)
    if fault is None:
        return
    node.maintenance, node.maintenance_reason, node.fault = True, masked_text(reason), fault
