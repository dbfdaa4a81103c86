"""Inspection rules that users have posted; built-in ones come from a file and are never here."""

import sqlalchemy as sa

from ironic.db.tables.columns import flag, json_list, key, table, text, timestamps, unique, uuid

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
