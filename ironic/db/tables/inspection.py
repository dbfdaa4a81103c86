"""Tables of inspection: rules of users, counters of all rules, their last runs and effects, refused inspection data.

Built-in rules come from a file; only their counters, which have the UUID of the rule, are here.
"""

from typing import Any

import sqlalchemy as sa

from ironic.db.tables.columns import Known, flag, json_list, key, moment, plain, reference, table, text, unique


class InspectionRuleColumns(
    Known,
    name="inspection_rules",
    also=(
        unique("inspection_rules", "uuid"),
        sa.Index("inspection_rule_phase_idx", "phase"),
        sa.Index("inspection_rule_scope_idx", "scope"),
    ),
):
    """The columns of inspection rules."""

    priority: int = plain(sa.Integer, default=0, server_default="0")
    description: str | None = text(255)
    scope: str | None = text(255)
    sensitive: bool = flag(False)
    phase: str | None = text(16, default="main")
    dialect: str = text(16, nullable=False, default="ironic", server_default="ironic")
    conditions: list[dict[str, Any]] = json_list()
    actions: list[dict[str, Any]] = json_list(nullable=False)


inspection_rules = InspectionRuleColumns.table

inspection_rule_hits = table(
    "inspection_rule_hits",
    uuid=text(36, primary_key=True, nullable=False),
    evaluated=plain(sa.Integer, nullable=False, default=0, server_default="0"),
    matched=plain(sa.Integer, nullable=False, default=0, server_default="0"),
    failed=plain(sa.Integer, nullable=False, default=0, server_default="0"),
    last_matched_at=moment(),
)

# What rules did in a node's last inspection: before the node was known, and from then on.
node_rule_runs = table(
    "node_rule_runs",
    node_id=reference("nodes.id", on_delete="CASCADE", primary_key=True, autoincrement=False, nullable=False),
    created_at=moment(nullable=False),
    early=text(),
    later=text(),
)

# What rules in the dialect of the standalone inspector have set on a node, so that they can take it back. It outlives
# its rule: the next inspection of the node undoes it.
node_rule_effects = table(
    "node_rule_effects",
    node_id=reference("nodes.id", on_delete="CASCADE", primary_key=True, autoincrement=False, nullable=False),
    rule_uuid=text(36, primary_key=True, nullable=False),
    effects=json_list(nullable=False),
)

rejected_callbacks = table(
    "rejected_callbacks",
    id=key(),
    at=moment(nullable=False),
    source=text(45),
    reason=text(nullable=False),
    macs=json_list(),
    bmc_addresses=json_list(),
    node_uuid=text(36),
)
