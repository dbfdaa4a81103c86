"""What inspection rules did in a node's last inspection, as the JSON text of their explanation.

A run has two halves: rules before the node was known, and the rest. The first half of a run that never got further is
kept; with the second half of a new run an old first half goes.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.db.tables import node_rule_runs
from ironic.db.transactions import Transactions, unit_of_work
from ironic.db.upsert import Replacing, put

_TABLE: Final = node_rule_runs.c


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
        """Return the last run on a node, None when there was none."""
        columns = sa.select(_TABLE.created_at, _TABLE.early, _TABLE.later).where(_TABLE.node_id == node_id)
        with self.transactions.reading() as connection:
            found = connection.execute(columns).first()
        return None if found is None else RuleRun(*found)

    @unit_of_work
    def put_early(self, connection: Connection, node_id: int, text: str) -> None:
        """Keep the first half of a new run."""
        self._put(connection, {"node_id": node_id, "early": text}, lambda new: [("early", new.early), ("later", None)])

    @unit_of_work
    def put_later(self, connection: Connection, node_id: int, text: str) -> None:
        """Keep the second half of a run, beside its own first half only."""
        own = sa.case((_TABLE.later.is_(None), _TABLE.early), else_=None)
        # In this order: `early` has to be decided while `later` is still the old one.
        self._put(connection, {"node_id": node_id, "later": text}, lambda new: [("early", own), ("later", new.later)])

    def _put(self, connection: Connection, values: Mapping[str, object], replacing: Replacing) -> None:
        now = self.transactions.clock()
        connection.execute(
            put(
                self.transactions.dialect,
                node_rule_runs,
                "node_id",
                {"created_at": now, **values},
                lambda new: [("created_at", now), *replacing(new)],
            )
        )
