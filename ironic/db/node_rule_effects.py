"""What rules in the dialect of the standalone inspector have set on each node, so that they can take it back.

An effect is a JSON object that `ironic.core.rules.inspector.effects` makes and reads.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.db.column_types import decode_json
from ironic.db.tables import node_rule_effects
from ironic.db.transactions import Transactions, unit_of_work

_EFFECTS: Final = node_rule_effects.c

Effects = Mapping[str, Sequence[dict[str, Any]]]  # by UUID of the rule


class NodeRuleEffects:
    """The effects of rules on all nodes."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def of(self, node_id: int) -> dict[str, list[dict[str, Any]]]:
        """Return the effects on a node by the UUID of their rule, deleted rules among them."""
        rows = sa.select(_EFFECTS.rule_uuid, _EFFECTS.effects).where(_EFFECTS.node_id == node_id)
        found = self.transactions.read(lambda connection: connection.execute(rows).all())
        return {uuid: decode_json(effects) for uuid, effects in found}

    @unit_of_work
    def replace(self, connection: Connection, node_id: int, effects: Effects) -> None:
        """Replace the effects on a node."""
        connection.execute(sa.delete(node_rule_effects).where(_EFFECTS.node_id == node_id))
        rows = [{"node_id": node_id, "rule_uuid": uuid, "effects": own} for uuid, own in effects.items() if own]
        if rows:
            connection.execute(sa.insert(node_rule_effects), rows)
