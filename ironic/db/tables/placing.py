"""Where nodes stand and who has asked for one: chassis and allocations."""

import sqlalchemy as sa

from ironic.db.tables.columns import json_dict, json_list, key, table, text, timestamps, unique, uuid

chassis = table(
    "chassis",
    key(),
    uuid(),
    *timestamps(),
    json_dict("extra"),
    text("description", 255),
    unique("chassis", "uuid"),
)

# `node_id` and `conductor_affinity` are no foreign keys: nodes refer to allocations, and a circle of keys can
# neither be created nor be deleted in one go on every engine.
allocations = table(
    "allocations",
    key(),
    uuid(),
    *timestamps(),
    text("name", 255),
    sa.Column("node_id", sa.Integer),
    text("state", 15, nullable=False),
    text("owner", 255),
    text("last_error"),
    text("resource_class", 80),
    json_list("traits"),
    json_list("candidate_nodes"),
    json_dict("extra"),
    sa.Column("conductor_affinity", sa.Integer),
    unique("allocations", "uuid"),
    unique("allocations", "name"),
    sa.Index("allocations_node_id_idx", "node_id"),
)
