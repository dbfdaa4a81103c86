"""Remote storage of nodes: what they reach it by and what they attach."""

import sqlalchemy as sa

from ironic.db.tables.columns import json_dict, key, reference, table, text, timestamps, unique, uuid

volume_connectors = table(
    "volume_connectors",
    key(),
    uuid(),
    *timestamps(),
    reference("node_id", "nodes.id", on_delete="CASCADE", nullable=False),
    text("type", 32, nullable=False),
    text("connector_id", 255, nullable=False),
    json_dict("extra"),
    unique("volume_connectors", "uuid"),
    unique("volume_connectors", "type", "connector_id"),
    sa.Index("volume_connectors_node_id_idx", "node_id"),
)

volume_targets = table(
    "volume_targets",
    key(),
    uuid(),
    *timestamps(),
    reference("node_id", "nodes.id", on_delete="CASCADE", nullable=False),
    text("volume_type", 64, nullable=False),
    json_dict("properties"),
    sa.Column("boot_index", sa.Integer, nullable=False),
    text("volume_id", 36, nullable=False),
    json_dict("extra"),
    unique("volume_targets", "uuid"),
    unique("volume_targets", "node_id", "boot_index"),
)
