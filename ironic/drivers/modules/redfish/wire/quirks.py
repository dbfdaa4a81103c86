"""What BMCs do differently where a machine or an error is all that shows it: questions to the table of `differences`.

Code asks for a behaviour, never for a vendor. A row without a vendor is for all machines. Vendor and model are
those of the node's properties; a machine whose vendor is not known yet behaves as most do.
"""

import re
from typing import Final

from sushy import exceptions as sushy_errors

from ironic.drivers.contract.task import Node
from ironic.drivers.modules.redfish.wire.differences import TABLE, Behaviour

_ROWS: Final = {behaviour: [row for row in TABLE if row.behaviour is behaviour] for behaviour in Behaviour}


def behaves(node: Node, behaviour: Behaviour, firmware: str = "") -> bool:
    """Return whether the machine of a node is known for a behaviour."""
    vendor, model = (str(node.properties.get(name) or "") for name in ("vendor", "model"))
    return any(
        not row.statuses and _has(row.vendor, vendor) and _has(row.model, model) and _has(row.firmware, firmware)
        for row in _ROWS[behaviour]
    )


def depends_on_firmware(node: Node, behaviour: Behaviour) -> bool:
    """Return whether the firmware of the BMC decides about a behaviour of the machine of a node."""
    vendor = str(node.properties.get("vendor") or "")
    return any(row.firmware and _has(row.vendor, vendor) for row in _ROWS[behaviour])


def shows(error: BaseException, behaviour: Behaviour) -> bool:
    """Return whether an error of a BMC is that of a behaviour."""
    return isinstance(error, sushy_errors.HTTPError) and any(
        error.status_code in row.statuses and _has(row.text, _text(error)) for row in _ROWS[behaviour]
    )


def state_named_in(error: sushy_errors.HTTPError) -> str | None:
    """Return the power state, on or off, in which the machine is by the text of a refusal."""
    for row in _ROWS[Behaviour.REFUSES_SAME_STATE]:
        found = re.search(row.text, _text(error), re.IGNORECASE)
        if found:
            return found["state"].lower()
    return None


def _text(error: sushy_errors.HTTPError) -> str:
    return f"{error} {error.body}"[:10_000]


def _has(pattern: str, text: str) -> bool:
    return not pattern or re.search(pattern, text, re.IGNORECASE) is not None
