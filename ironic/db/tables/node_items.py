"""What a node's management found out about its firmware: the BIOS settings, and the version of each component.

Both are lists of named things that belong to one node and go with it.
"""

import sqlalchemy as sa

from ironic.db.tables.columns import json_list, key, reference, table, text, timestamps, unique

bios_settings = table(
    "bios_settings",
    reference("node_id", "nodes.id", on_delete="CASCADE", primary_key=True, autoincrement=False),
    text("name", 255, primary_key=True),
    *timestamps(),
    text("value"),
    text("attribute_type", 255),
    json_list("allowable_values"),
    sa.Column("lower_bound", sa.BigInteger),
    sa.Column("upper_bound", sa.BigInteger),
    sa.Column("min_length", sa.Integer),
    sa.Column("max_length", sa.Integer),
    sa.Column("read_only", sa.Boolean),
    sa.Column("reset_required", sa.Boolean),
    sa.Column("unique", sa.Boolean),
)

firmware_information = table(
    "firmware_information",
    key(),
    *timestamps(),
    reference("node_id", "nodes.id", on_delete="CASCADE", nullable=False),
    text("component", 255, nullable=False),
    text("initial_version", 255, nullable=False),
    text("current_version", 255),
    text("last_version_flashed", 255),
    text("vendor", 255),
    text("model", 255),
    text("serial_number", 255),
    unique("firmware_information", "node_id", "component"),
)
