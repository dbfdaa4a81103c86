"""Inspection data at the door: checked, run past the early rules, matched with a node.

One call for whoever receives data from ramdisks. What is malformed is InvalidParameterValue; everything else that
keeps the data out, a rule of the early phase included, is the one NotFound of a look-up that failed (S76, S115).
"""

import logging
from functools import partial
from typing import Any, NamedTuple

from ironic.core.errors import InspectionRuleFailure, InvalidParameterValue
from ironic.db import NodeRow, Store
from ironic.inspection import callback
from ironic.inspection.discovery import FLAG, Discovery, NotWelcome, enroll
from ironic.inspection.lookup import Found, Refused, Unknown, judge, nothing_found
from ironic.inspection.rejections import Rejections
from ironic.inspection.rules import RuleBook, keep_early, run_early

LOG = logging.getLogger(__name__)


class Arrival(NamedTuple):
    """Data that may be processed, and whose they are; ``discovered`` when their node was made just now."""

    node: NodeRow
    inventory: dict[str, Any]
    plugin_data: dict[str, Any]
    discovered: bool = False


def accept(
    store: Store,
    book: RuleBook,
    body: Any,
    node_uuid: str | None = None,
    *,
    discovery: Discovery | None = None,
    rejections: Rejections | None = None,
) -> Arrival:
    """Return the data with their node, or raise InvalidParameterValue, NotFound or DiscoveryFailed."""
    refused = rejections or Rejections(store)
    try:
        data = callback.check(body, node_uuid)
    except InvalidParameterValue as error:
        refused.note(str(error))
        raise
    note = partial(refused.note, macs=data.macs, bmc_addresses=data.bmc_addresses, node_uuid=node_uuid)
    try:
        explanation = run_early(book, store, data.inventory, data.plugin_data)
        arrival = _match(store, data, node_uuid, discovery, refused.source)
    except (InspectionRuleFailure, NoMatch, NotWelcome) as error:
        note(str(error))
        raise nothing_found() from None
    keep_early(store, arrival.node.id, explanation)
    return arrival


class NoMatch(Exception):
    """No node, or no single one, waits for the data; the text says why."""


def _match(
    store: Store, data: callback.Callback, node_uuid: str | None, discovery: Discovery | None, source: str | None
) -> Arrival:
    verdict = judge(store, macs=data.macs, bmc_addresses=data.bmc_addresses, node_uuid=node_uuid)
    if isinstance(verdict, Found):
        return Arrival(verdict.node, data.inventory, data.plugin_data)
    if isinstance(verdict, Unknown) and discovery is not None:
        return _discovered(store, discovery, data, source)
    raise NoMatch(verdict.reason if isinstance(verdict, Refused) else "no node has any of its addresses")


def _discovered(store: Store, discovery: Discovery, data: callback.Callback, source: str | None) -> Arrival:
    """Enroll the machine; whoever looks at its data can tell."""
    node = enroll(
        store,
        discovery,
        inventory=data.inventory,
        macs=data.macs,
        bmc_addresses=data.bmc_addresses,
        source=source,
    )
    LOG.info("Node %s is enrolled for an unknown machine with MAC addresses %s", node.uuid, ", ".join(data.macs))
    return Arrival(node, data.inventory, data.plugin_data | {FLAG: True}, discovered=True)
