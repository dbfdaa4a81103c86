"""How often inspection rules were evaluated, applied and failed; stored and built-in ones alike.

Counting adds to what is there, in one statement however many rules ran, and is part of the transaction its caller
has open. A rule that was never counted has no row.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.db.tables import inspection_rule_hits
from ironic.db.transactions import Transactions, unit_of_work
from ironic.db.upsert import counting

_TABLE: Final = inspection_rule_hits.c


class Hits(NamedTuple):
    """The counters of one rule."""

    evaluated: int = 0
    matched: int = 0
    failed: int = 0
    last_matched_at: datetime | None = None


class Tally(NamedTuple):
    """The UUIDs of the rules of one run: all of them, those that applied, those that failed."""

    evaluated: Sequence[str] = ()
    matched: Sequence[str] = ()
    failed: Sequence[str] = ()


class RuleHits:
    """The counters of all rules."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def of(self, uuids: Sequence[str]) -> dict[str, Hits]:
        """Return the counters of these rules by UUID. One statement."""
        found = {uuid: Hits() for uuid in uuids}
        if found:
            rows = sa.select(inspection_rule_hits).where(_TABLE.uuid.in_(list(found)))
            with self.transactions.reading() as connection:
                found |= {row[0]: Hits(*row[1:]) for row in connection.execute(rows)}
        return found

    @unit_of_work
    def count(self, connection: Connection, tally: Tally) -> None:
        """Add one run to the counters."""
        now, matched, failed = self.transactions.clock(), set(tally.matched), set(tally.failed)
        # Always in this order, so that runs at the same time do not wait for each other in a circle.
        rows = [
            {
                "uuid": uuid,
                "evaluated": 1,
                "matched": int(uuid in matched),
                "failed": int(uuid in failed),
                "last_matched_at": now if uuid in matched else None,
            }
            for uuid in sorted(set(tally.evaluated))
        ]
        if rows:
            connection.execute(_COUNT[self.transactions.dialect], rows)


def _added_to(new: Any) -> list[tuple[str, Any]]:
    """Return what becomes of a row that is there already."""
    counters = [(name, _TABLE[name] + new[name]) for name in ("evaluated", "matched", "failed")]
    return [*counters, ("last_matched_at", sa.func.coalesce(new.last_matched_at, _TABLE.last_matched_at))]


_COUNT: Final[dict[str, sa.Insert]] = {
    dialect: counting(dialect, inspection_rule_hits, "uuid", _added_to) for dialect in ("sqlite", "postgresql", "mysql")
}
