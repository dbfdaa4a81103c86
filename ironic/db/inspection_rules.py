"""Inspection rules that users have posted, hit counts of all rules, and their last run per node.

Counters exist for stored and built-in rules; a rule that has never run has no row. One statement counts any number of
rules.

The last run on a node is stored as the JSON text of its explanation, in two halves: the rules that ran before the node
was known, and the rest. Storing the second half removes a first half that belongs to an earlier run.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import IronicError
from ironic.core.errors.resource_errors import InspectionRuleAlreadyExists, InspectionRuleNotFound
from ironic.db.engines import Replacing, upsert
from ironic.db.record import Record
from ironic.db.repository import Errors, Repository
from ironic.db.row_selection import Filter, any_of
from ironic.db.tables import InspectionRuleColumns, inspection_rule_hits, inspection_rules, node_rule_runs
from ironic.db.transactions import Transactions, unit_of_work


class InspectionRuleRecord(Record, InspectionRuleColumns):
    """One rule."""


class InspectionRules(Repository[InspectionRuleRecord], record=InspectionRuleRecord):
    """All rules that users have posted."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "uuid_in": any_of(inspection_rules.c.uuid),
        # A rule without a phase is one of phase main.
        "phases": lambda names: sa.func.coalesce(inspection_rules.c.phase, "main").in_(list(names)),
    }
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: InspectionRuleAlreadyExists(resource="inspection rule", field="uuid", value=value),
    }

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a rule that does not exist."""
        return InspectionRuleNotFound(rule=ident)

    @unit_of_work
    def delete(self, connection: Connection, ident: str | int) -> None:
        """Remove a rule and its counters."""
        self._forget_hits(connection, self._matches(ident))
        super().delete(ident)

    @unit_of_work
    def clear(self, connection: Connection, *, dialect: str | None = None) -> int:
        """Remove all rules, or those of one dialect, with their counters; return how many there were."""
        which = sa.true() if dialect is None else inspection_rules.c.dialect == dialect
        self._forget_hits(connection, which)
        return connection.execute(sa.delete(inspection_rules).where(which)).rowcount

    def _forget_hits(self, connection: Connection, which: ColumnElement[bool]) -> None:
        uuids = sa.select(inspection_rules.c.uuid).where(which)
        connection.execute(sa.delete(inspection_rule_hits).where(inspection_rule_hits.c.uuid.in_(uuids)))


_HITS: Final = inspection_rule_hits.c


class Hits(NamedTuple):
    """How often one rule was evaluated, applied and failed."""

    evaluated: int = 0
    matched: int = 0
    failed: int = 0
    last_matched_at: datetime | None = None


class RuleStatistics(NamedTuple):
    """The UUIDs of the rules of one run: all of them, those that applied, those that failed."""

    evaluated: Sequence[str] = ()
    matched: Sequence[str] = ()
    failed: Sequence[str] = ()


class RuleHits:
    """The counters of all rules."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def of(self, uuids: Sequence[str]) -> dict[str, Hits]:
        """Return the counters of these rules by UUID, in one statement."""
        found = {uuid: Hits() for uuid in uuids}
        if found:
            rows = sa.select(inspection_rule_hits).where(_HITS.uuid.in_(list(found)))
            with self.transactions.reading() as connection:
                found |= {row[0]: Hits(*row[1:]) for row in connection.execute(rows)}
        return found

    @unit_of_work
    def count(self, connection: Connection, tally: RuleStatistics) -> None:
        """Add one run to the counters."""
        now, matched, failed = self.transactions.clock.now(), set(tally.matched), set(tally.failed)
        # Sorted, so that simultaneous runs lock the rows in the same order and can't end in a deadlock.
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


def _incremented(new: Any) -> list[tuple[str, Any]]:
    counters = [(name, _HITS[name] + new[name]) for name in ("evaluated", "matched", "failed")]
    return [*counters, ("last_matched_at", sa.func.coalesce(new.last_matched_at, _HITS.last_matched_at))]


_COUNT: Final[dict[str, sa.Insert]] = {
    dialect: upsert(dialect, inspection_rule_hits, "uuid", None, _incremented)
    for dialect in ("sqlite", "postgresql", "mysql")
}


_RUNS: Final = node_rule_runs.c


class RuleRun(NamedTuple):
    """The last run on a node."""

    created_at: datetime
    early: str | None
    later: str | None


class RuleRuns:
    """The last runs on all nodes."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def of(self, node_id: int) -> RuleRun | None:
        """Return the last run on a node; None if there was none."""
        columns = sa.select(_RUNS.created_at, _RUNS.early, _RUNS.later).where(_RUNS.node_id == node_id)
        with self.transactions.reading() as connection:
            found = connection.execute(columns).first()
        return None if found is None else RuleRun(*found)

    @unit_of_work
    def put_early(self, connection: Connection, node_id: int, text: str) -> None:
        """Store the first half of a new run, and remove the second half of the run before."""
        self._put(connection, {"node_id": node_id, "early": text}, lambda new: [("early", new.early), ("later", None)])

    @unit_of_work
    def put_later(self, connection: Connection, node_id: int, text: str) -> None:
        """Store the second half of a run, and remove a first half that belongs to the run before."""
        own = sa.case((_RUNS.later.is_(None), _RUNS.early), else_=None)
        # In this order: MySQL evaluates `early` before it sets `later`.
        self._put(connection, {"node_id": node_id, "later": text}, lambda new: [("early", own), ("later", new.later)])

    def _put(self, connection: Connection, values: Mapping[str, object], replacing: Replacing) -> None:
        now = self.transactions.clock.now()
        connection.execute(
            upsert(
                self.transactions.dialect,
                node_rule_runs,
                "node_id",
                {"created_at": now, **values},
                lambda new: [("created_at", now), *replacing(new)],
            )
        )
