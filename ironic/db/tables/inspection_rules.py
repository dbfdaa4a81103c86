"""Inspection rules that users have posted, and what became of rules when they ran.

Built-in rules come from a file and are never here, but their counters are: a rule is known by its UUID there.
"""

import sqlalchemy as sa

from ironic.db.tables.columns import flag, json_list, key, moment, reference, table, text, timestamps, unique, uuid

inspection_rules = table(
    "inspection_rules",
    key(),
    uuid(),
    *timestamps(),
    sa.Column("priority", sa.Integer, nullable=False, default=0, server_default="0"),
    text("description", 255),
    text("scope", 255),
    flag("sensitive", False),
    text("phase", 16, default="main"),
    json_list("conditions"),
    json_list("actions", nullable=False),
    unique("inspection_rules", "uuid"),
    sa.Index("inspection_rule_phase_idx", "phase"),
    sa.Index("inspection_rule_scope_idx", "scope"),
)

inspection_rule_hits = table(
    "inspection_rule_hits",
    text("uuid", 36, primary_key=True),
    sa.Column("evaluated", sa.Integer, nullable=False, default=0, server_default="0"),
    sa.Column("matched", sa.Integer, nullable=False, default=0, server_default="0"),
    sa.Column("failed", sa.Integer, nullable=False, default=0, server_default="0"),
    moment("last_matched_at"),
)

# What rules did in a node's last inspection: before the node was known, and from then on.
node_rule_runs = table(
    "node_rule_runs",
    reference("node_id", "nodes.id", on_delete="CASCADE", primary_key=True, autoincrement=False),
    moment("created_at", nullable=False),
    text("early"),
    text("later"),
)
