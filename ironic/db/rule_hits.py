"""How often inspection rules were evaluated, applied and failed; stored and built-in ones alike.

Counting adds to what is there, in one statement however many rules ran, and is part of the transaction its caller
has open. A rule that was never counted has no row.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import Connection

from ironic.db.tables import inspection_rule_hits
from ironic.db.transactions import Transactions, unit_of_work

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
        evaluated = sorted(set(tally.evaluated))
        if evaluated and self._add(connection, evaluated, tally) < len(evaluated):
            new = self._make_rows(connection, evaluated)
            self._add(connection, new, tally)

    def _add(self, connection: Connection, uuids: Sequence[str], tally: Tally) -> int:
        """Count for the rules that have a row; return how many have."""
        more = {
            "evaluated": _TABLE.evaluated + 1,
            "matched": _TABLE.matched + _one_if(tally.matched),
            "failed": _TABLE.failed + _one_if(tally.failed),
            "last_matched_at": sa.case(
                (_TABLE.uuid.in_(tally.matched), self.transactions.clock()), else_=_TABLE.last_matched_at
            ),
        }
        counting = sa.update(inspection_rule_hits).where(_TABLE.uuid.in_(uuids)).values(more)
        return connection.execute(counting).rowcount

    def _make_rows(self, connection: Connection, uuids: Sequence[str]) -> list[str]:
        """Make rows for rules evaluated for the first time; another run may do so in the same moment."""
        known = set(connection.execute(sa.select(_TABLE.uuid).where(_TABLE.uuid.in_(uuids))).scalars())
        new = [uuid for uuid in uuids if uuid not in known]
        connection.execute(_INSERT_MISSING[self.transactions.dialect], [{"uuid": uuid} for uuid in new])
        return new


def _one_if(uuids: Sequence[str]) -> sa.ColumnElement[int]:
    return sa.case((_TABLE.uuid.in_(uuids), 1), else_=0)


_INSERT_MISSING: Final[dict[str, sa.Insert]] = {
    "sqlite": sqlite.insert(inspection_rule_hits).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(inspection_rule_hits).on_conflict_do_nothing(),
    "mysql": mysql.insert(inspection_rule_hits).prefix_with("IGNORE"),
}
