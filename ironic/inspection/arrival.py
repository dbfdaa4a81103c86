"""Inspection data at the door: checked, run past the early rules, matched with a node.

One call for whoever receives data from ramdisks. What is malformed is InvalidParameterValue; everything else that
keeps the data out, a rule of the early phase included, is the one NotFound of a look-up that failed (S76, S115).
"""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import orjson

from ironic.core.errors import InspectionRuleFailure, InvalidParameterValue
from ironic.db import NodeRow, Store
from ironic.inspection import boot_token as boot_tokens
from ironic.inspection import callback, sender
from ironic.inspection.discovery import FLAG, Discovery, DiscoveryFailed, NotWelcome, comes_again, enroll
from ironic.inspection.lookup import Found, Refused, Unknown, judge, nothing_found
from ironic.inspection.rejections import Rejections
from ironic.inspection.rules import RuleBook, keep_early, run_early

LOG = logging.getLogger(__name__)

T = TypeVar("T")


class Arrival(NamedTuple):
    """Data that may be processed, and whose they are.

    ``discovered`` when their node was made of them, or of the same machine's report a moment ago; ``created`` when it
    was made just now.
    """

    node: NodeRow
    inventory: dict[str, Any]
    plugin_data: dict[str, Any]
    discovered: bool = False
    created: bool = False


def accept(
    store: Store,
    book: RuleBook,
    body: object,
    node_uuid: str | None = None,
    *,
    boot_token: str = "",
    discovery: Discovery | None = None,
    rejections: Rejections | None = None,
) -> Arrival:
    """Return the data with their node, or raise InvalidParameterValue, NotFound or DiscoveryFailed.

    ``boot_token`` is what the ramdisk shows; the source of ``rejections`` is where it calls from.
    """
    refused = rejections or Rejections(store)
    # What is told of a refusal is told outside of the handlers: a log line would repeat an error that is in the air.
    data = _attempt(lambda: callback.check(body, node_uuid))
    if isinstance(data, Exception):
        refused.note(str(data))
        raise data
    wanted = Wanted(data, node_uuid, boot_token, refused.source)
    arrival = _attempt(lambda: _match(store, book, wanted, discovery))
    if isinstance(arrival, Exception):
        # Of a machine that could not be enrolled the caller learns nothing but that; why is its cause.
        refused.note(
            str(arrival.__cause__ or arrival), macs=data.macs, bmc_addresses=data.bmc_addresses, node_uuid=node_uuid
        )
        raise arrival if isinstance(arrival, DiscoveryFailed) else nothing_found()
    return arrival


class Wanted(NamedTuple):
    """Whose node is looked for: what was sent, and by whom."""

    data: callback.Callback
    node_uuid: str | None
    boot_token: str
    source: str | None


class NoMatch(Exception):
    """No node, or no single one, waits for the data; the text says why."""


def _attempt(act: Callable[[], T]) -> T | Exception:
    """Return what comes of it, a refusal as a value."""
    try:
        return act()
    except (InvalidParameterValue, InspectionRuleFailure, NoMatch, NotWelcome, DiscoveryFailed) as refusal:
        return refusal


def _match(store: Store, book: RuleBook, wanted: Wanted, discovery: Discovery | None) -> Arrival:
    """Find the node, or make it, once the early rules had their say."""
    explanation = run_early(book, store, wanted.data.inventory, wanted.data.plugin_data)
    arrival = _owned(store, wanted, discovery)
    keep_early(store, arrival.node.id, explanation)
    return arrival


def _owned(store: Store, wanted: Wanted, discovery: Discovery | None) -> Arrival:
    data = wanted.data
    verdict = judge(store, macs=data.macs, bmc_addresses=data.bmc_addresses, node_uuid=wanted.node_uuid)
    if isinstance(verdict, Found):
        _check_sender(store, verdict, wanted)
        return Arrival(verdict.node, data.inventory, data.plugin_data)
    if discovery is not None:
        known = None if isinstance(verdict, Unknown) else verdict.node
        if node := comes_again(store, known, data.bmc_addresses):
            return Arrival(node, data.inventory, data.plugin_data | {FLAG: True}, discovered=True)
        if isinstance(verdict, Unknown):
            return _discovered(store, discovery, data, wanted.source)
    raise NoMatch(verdict.reason if isinstance(verdict, Refused) else "no node has any of its addresses")


def _check_sender(store: Store, verdict: Found, wanted: Wanted) -> None:
    """Raise NoMatch when somebody else may have sent the data than the node's ramdisk."""
    node = verdict.node
    (info,) = store.nodes.row(("driver_internal_info",), node.id)
    memory = orjson.loads(info or "{}")
    reason = sender.objection(memory, shown=wanted.boot_token, source=wanted.source, node=node.uuid)
    if (
        reason is None
        and verdict.is_bmc_alone
        and not boot_tokens.is_wanted(memory)
        and store.ports.find(node_id=node.id)
    ):
        reason = (
            f"only a BMC address leads to node {node.uuid}, and none of its MAC addresses to one of the node's ports. "
            "Correct the ports, or delete them"
        )
    if reason is not None:
        raise NoMatch(reason)


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
    return Arrival(node, data.inventory, data.plugin_data | {FLAG: True}, discovered=True, created=True)
