"""Arrival of inspection data: check, early rules, match with a node, and record of what was refused.

`accept` is the one call for the receivers of inspection data. Malformed data raise InvalidParameterValue. Everything
else that keeps the data out, a rule of the early phase included, raises the one NotFound of a failed look-up, so that a
sender learns nothing from it (S76, S115). Each refusal is logged and, for operators, kept in a ring in the database; a
refusal that can't be stored changes nothing for the sender.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import orjson

from ironic.conf import CONF
from ironic.core.errors import InspectionRuleFailure, InvalidParameterValue
from ironic.core.refusal_log import RefusalLog
from ironic.db import NodeRecord, NodeRow, Store
from ironic.inspection import boot_tokens, reported_data
from ironic.inspection.discovery import FLAG, Discovery, DiscoveryFailed, NotEnrolled, comes_again, enroll
from ironic.inspection.node_lookup import Found, Refused, Unknown, judge, nothing_found
from ironic.inspection.rules import EarlyRules, record_early, run_early

LOG = logging.getLogger(__name__)

T = TypeVar("T")


class Arrival(NamedTuple):
    """Accepted data and the node they belong to.

    ``discovered`` when the node was made from them, or from the same machine's report a moment ago; ``created`` when it
    was made just now.
    """

    node: NodeRow
    inventory: dict[str, Any]
    plugin_data: dict[str, Any]
    discovered: bool = False
    created: bool = False


class NodeQuery(NamedTuple):
    """What the owner of the data is found by: the data, and what is known of their sender."""

    data: reported_data.Callback
    node_uuid: str | None
    boot_token: str
    source: str | None


class NoMatch(Exception):
    """No node, or no single one, waits for the data; the text says why."""


@dataclass(frozen=True, slots=True)
class Rejections:
    """The record of refusals of one request: the newest ``kept`` ones of all requests stay in the database."""

    store: Store
    kept: int = 0
    source: str | None = None
    # Keeps the lines of an address few; whether one more refusal may be stored, a write that others wait for.
    refusals: RefusalLog = field(default_factory=lambda: RefusalLog(LOG))
    may_store: Callable[[], bool] = lambda: True

    def note(
        self,
        reason: str,
        *,
        macs: Sequence[str] = (),
        bmc_addresses: Sequence[str] = (),
        node_uuid: str | None = None,
    ) -> None:
        """Log a refusal and store it, unless its sender had many; an error of the database is logged only."""
        self.refusals.note(
            self.source,
            "Inspection data from %s are refused: %s (MAC addresses %s, BMC addresses %s, node UUID %s). Start an "
            "inspection of the node, or correct its ports or BMC address.",
            self.source or "an unknown address",
            reason,
            ", ".join(macs) or "none",
            ", ".join(bmc_addresses) or "none",
            node_uuid or "not given",
        )
        if not self.kept or not self.may_store():
            return
        try:
            self.store.rejected_callbacks.add(
                source=self.source,
                reason=reason,
                macs=macs,
                bmc_addresses=bmc_addresses,
                node_uuid=node_uuid,
                kept=self.kept,
            )
        except Exception:
            LOG.exception("A refusal of inspection data could not be stored")


def accept(
    store: Store,
    rules: EarlyRules,
    body: object,
    node_uuid: str | None = None,
    *,
    boot_token: str = "",
    discovery: Discovery | None = None,
    rejections: Rejections | None = None,
) -> Arrival:
    """Return the data with their node, or raise InvalidParameterValue, NotFound or DiscoveryFailed.

    ``body`` is the decoded JSON of the request, ``boot_token`` the one in its URL; the source of ``rejections`` is the
    address of the sender.
    """
    record = rejections or Rejections(store)
    # Refusals are recorded outside of exception handlers: logging there would repeat the error with its traceback.
    data = _or_refusal(lambda: reported_data.check_callback(body, node_uuid))
    if isinstance(data, Exception):
        record.note(str(data))
        raise data
    query = NodeQuery(data, node_uuid, boot_token, record.source)
    arrival = _or_refusal(lambda: _find_or_enroll(store, rules, query, discovery))
    if isinstance(arrival, Exception):
        # The caller does not learn why a machine could not be enrolled; the cause of the error says it.
        record.note(
            str(arrival.__cause__ or arrival), macs=data.macs, bmc_addresses=data.bmc_addresses, node_uuid=node_uuid
        )
        raise arrival if isinstance(arrival, DiscoveryFailed) else nothing_found()
    return arrival


def _or_refusal(act: Callable[[], T]) -> T | Exception:
    """Return the result of a call, or the refusal that it raised."""
    try:
        return act()
    except (InvalidParameterValue, InspectionRuleFailure, NoMatch, NotEnrolled, DiscoveryFailed) as refusal:
        return refusal


def _find_or_enroll(store: Store, rules: EarlyRules, query: NodeQuery, discovery: Discovery | None) -> Arrival:
    """Run the early rules, then find the node that the data belong to, or enroll the machine where that is wanted."""
    data = query.data
    explanation = run_early(rules, store, data.inventory, data.plugin_data)
    verdict = judge(store, macs=data.macs, bmc_addresses=data.bmc_addresses, node_uuid=query.node_uuid)
    known = None if isinstance(verdict, Unknown) else verdict.node
    if isinstance(verdict, Found):
        _check_sender(store, verdict, query)
        arrival = Arrival(verdict.node, data.inventory, data.plugin_data)
    elif discovery is not None and (node := comes_again(store, known, data.bmc_addresses)):
        arrival = Arrival(node, data.inventory, data.plugin_data | {FLAG: True}, discovered=True)
    elif discovery is not None and isinstance(verdict, Unknown):
        node = enroll(
            store,
            discovery,
            inventory=data.inventory,
            macs=data.macs,
            bmc_addresses=data.bmc_addresses,
            source=query.source,
        )
        LOG.info("Node %s is enrolled for an unknown machine with MAC addresses %s", node.uuid, ", ".join(data.macs))
        arrival = Arrival(node, data.inventory, data.plugin_data | {FLAG: True}, discovered=True, created=True)
    else:
        raise NoMatch(verdict.reason if isinstance(verdict, Refused) else "no node has any of its addresses")
    record_early(store, arrival.node.id, explanation)
    return arrival


def _check_sender(store: Store, verdict: Found, query: NodeQuery) -> None:
    """Raise NoMatch when another machine than the node's may have sent the data."""
    node = verdict.node
    (info,) = store.nodes.row(("driver_internal_info",), node.id)
    memory = orjson.loads(info or "{}")
    reason = boot_tokens.sender_objection(memory, shown=query.boot_token, source=query.source, node=node.uuid)
    if reason is None and query.boot_token and not boot_tokens.is_required(memory):
        other = boot_tokens.holder(store, query.boot_token)
        reason = other and f"it shows the boot token of node {other}, and its addresses lead to node {node.uuid}"
    if (
        reason is None
        and verdict.is_bmc_alone
        and not boot_tokens.is_required(memory)
        and store.ports.find(node_id=node.id)
    ):
        reason = (
            f"only a BMC address leads to node {node.uuid}, and none of its MAC addresses to one of the node's ports. "
            "Correct the ports, or delete them"
        )
    if reason is not None:
        raise NoMatch(reason)


def rejection_summary(store: Store, node: NodeRecord, macs: Collection[str]) -> str:
    """Return a sentence on data with this node's addresses that were refused while it waited, empty when none were.

    The reason is in the list of rejected callbacks only: it may be about other nodes.
    """
    since, own = node.inspection_started_at, set(store.nodes.bmc_addresses(node.id)).union(macs)
    for one in store.rejected_callbacks.newest(CONF.inspector.rejected_callbacks_kept):
        if since is not None and one.at < since:
            break
        if one.node_uuid == node.uuid or own.intersection([*one.macs, *one.bmc_addresses]):
            return f" Data with its addresses were refused at {one.at} UTC, the list of rejected callbacks says why."
    return ""
