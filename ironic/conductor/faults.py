"""What a failed operation leaves behind on the node besides its state.

Cleaning and servicing that fail after they began take the node into maintenance with a fault and a reason (S55), so
that nobody gets a half-cleaned machine; other failures say all they have to say in state and ``last_error``.
Recovery is the operator's: taking the node out of maintenance clears the fault. Power failures alone, which power
synchronisation notes, go by themselves when the BMC answers again.
"""

from typing import TYPE_CHECKING

from ironic.core.flow import in_state
from ironic.core.secrets import masked_text

if TYPE_CHECKING:
    from ironic.db import NodeRecord


def mark(node: "NodeRecord", reason: str) -> None:
    """Take a node whose cleaning or servicing fails into maintenance; the caller saves (a state move does)."""
    flow = in_state(node.provision_state)
    if flow is not None and flow.fault is not None and node.provision_state in flow.busy:
        node.maintenance, node.maintenance_reason, node.fault = True, masked_text(reason), flow.fault
