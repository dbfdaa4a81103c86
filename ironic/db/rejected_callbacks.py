"""The newest refusals of inspection data: a ring in the database, the same for all API processes.

Anybody who reaches the callback can add to it, so everything in it is bounded: rows, and the length of each.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.db.stored_text import decode
from ironic.db.tables import rejected_callbacks
from ironic.db.transactions import Transactions, unit_of_work

_LONGEST_REASON: Final = 1000
_MOST_ADDRESSES: Final = 64
_NEWEST_FIRST: Final = rejected_callbacks.c.id.desc()


class RejectedCallback(NamedTuple):
    """One refusal."""

    at: datetime
    source: str | None
    reason: str
    macs: list[str]
    bmc_addresses: list[str]
    node_uuid: str | None


class RejectedCallbacks:
    """The refusals that are remembered."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    @unit_of_work
    def add(
        self,
        connection: Connection,
        *,
        source: str | None,
        reason: str,
        macs: Sequence[str],
        bmc_addresses: Sequence[str],
        node_uuid: str | None,
        kept: int,
    ) -> None:
        """Remember a refusal and forget all but so many; keys only grow, so they tell old from new."""
        values: dict[str, Any] = {
            "at": self.transactions.clock(),
            "source": source and source[:45],
            "reason": _storable(reason),
            "macs": list(macs[:_MOST_ADDRESSES]),
            "bmc_addresses": list(bmc_addresses[:_MOST_ADDRESSES]),
            "node_uuid": node_uuid,
        }
        added = connection.execute(sa.insert(rejected_callbacks).values(values)).inserted_primary_key
        if added is not None:
            connection.execute(sa.delete(rejected_callbacks).where(rejected_callbacks.c.id <= added[0] - kept))

    def newest(self, limit: int) -> list[RejectedCallback]:
        """Return what is remembered, the newest first."""
        columns = [rejected_callbacks.c[name] for name in RejectedCallback._fields]
        with self.transactions.reading() as connection:
            found = connection.execute(sa.select(*columns).order_by(_NEWEST_FIRST).limit(limit))
            return [RejectedCallback(row[0], row[1], row[2], decode(row[3]), decode(row[4]), row[5]) for row in found]


def _storable(text: str) -> str:
    return text.replace("\0", "").encode(errors="replace").decode()[:_LONGEST_REASON]
