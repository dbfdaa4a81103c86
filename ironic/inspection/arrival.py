"""Inspection data at the door: checked, run past the early rules, matched with a node.

One call for whoever receives data from ramdisks. What is malformed is InvalidParameterValue; everything else that
keeps the data out, a rule of the early phase included, is the one NotFound of a look-up that failed (S76, S115).
"""

import logging
from typing import Any, NamedTuple

from ironic.core.errors import InspectionRuleFailure
from ironic.db import NodeRow, Store
from ironic.inspection import callback
from ironic.inspection.lookup import Discover, find_node, nothing_found
from ironic.inspection.rules import RuleBook, run_early

LOG = logging.getLogger(__name__)


class Arrival(NamedTuple):
    """Data that may be processed, and whose they are."""

    node: NodeRow
    inventory: dict[str, Any]
    plugin_data: dict[str, Any]


def accept(
    store: Store, book: RuleBook, body: Any, node_uuid: str | None = None, discover: Discover | None = None
) -> Arrival:
    """Return the data with their node, or raise InvalidParameterValue or NotFound."""
    inventory, plugin_data, macs, bmc_addresses = callback.check(body, node_uuid)
    try:
        run_early(book, store, inventory, plugin_data)
    except InspectionRuleFailure as error:
        LOG.warning("Inspection data of MAC addresses %s are refused: %s", ", ".join(macs) or "none", error)
        raise nothing_found() from None
    node = find_node(store, macs=macs, bmc_addresses=bmc_addresses, node_uuid=node_uuid, discover=discover)
    return Arrival(node, inventory, plugin_data)
