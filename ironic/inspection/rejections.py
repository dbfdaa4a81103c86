"""Refused inspection data: told to the log and, for operators, kept in a ring in the database.

Whoever sent them learns nothing of it. Keeping must never be what a refusal fails by.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ironic.conf import CONF
from ironic.db import NodeRecord, Store

LOG = logging.getLogger(__name__)


def told_of(store: Store, node: NodeRecord, macs: Collection[str]) -> str:
    """Return a sentence on data with this node's addresses that were refused while it waited, empty if there were none.

    Why stands in the list of refusals only: it may be about other nodes.
    """
    since, own = node.inspection_started_at, set(store.nodes.bmc_addresses(node.id)).union(macs)
    for one in store.rejected_callbacks.newest(CONF.inspector.rejected_callbacks_kept):
        if since is not None and one.at < since:
            break
        if one.node_uuid == node.uuid or own.intersection([*one.macs, *one.bmc_addresses]):
            return f" Data with its addresses were refused at {one.at} UTC, the list of rejected callbacks says why."
    return ""


@dataclass(frozen=True, slots=True)
class Rejections:
    """Where refusals of one request go."""

    store: Store
    kept: int = 0
    source: str | None = None

    def note(
        self,
        reason: str,
        *,
        macs: Sequence[str] = (),
        bmc_addresses: Sequence[str] = (),
        node_uuid: str | None = None,
    ) -> None:
        """Write a refusal down."""
        LOG.warning(
            "Inspection data from %s are refused: %s (MAC addresses %s, BMC addresses %s, node UUID %s). Start an "
            "inspection of the node, or correct its ports or BMC address.",
            self.source or "an unknown address",
            reason,
            ", ".join(macs) or "none",
            ", ".join(bmc_addresses) or "none",
            node_uuid or "not given",
        )
        if not self.kept:
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
            LOG.exception("A refusal of inspection data could not be kept")
