"""Ports and port groups of nodes."""

import sqlalchemy as sa

from ironic.db.tables.columns import flag, json_dict, key, reference, table, text, timestamps, unique, uuid

portgroups = table(
    "portgroups",
    key(),
    uuid(),
    *timestamps(),
    text("name", 255),
    reference("node_id", "nodes.id", on_delete="CASCADE", nullable=False),
    text("address", 18),
    json_dict("extra"),
    json_dict("internal_info"),
    json_dict("properties"),
    flag("standalone_ports_supported", True),
    text("mode", 255),
    text("physical_network", 64),
    text("category", 80),
    flag("dynamic_portgroup", False),
    unique("portgroups", "uuid"),
    unique("portgroups", "name"),
    unique("portgroups", "address"),
    sa.Index("portgroups_node_id_idx", "node_id"),
)

# A group with ports is kept by its repository, not by the key: MySQL would otherwise refuse to delete a node whose
# groups it happens to reach before their ports.
ports = table(
    "ports",
    key(),
    uuid(),
    *timestamps(),
    text("name", 255),
    reference("node_id", "nodes.id", on_delete="CASCADE", nullable=False),
    reference("portgroup_id", "portgroups.id", on_delete="SET NULL"),
    text("address", 18, nullable=False),
    json_dict("extra"),
    json_dict("internal_info"),
    json_dict("local_link_connection"),
    flag("pxe_enabled", True),
    flag("is_smartnic", False),
    flag("available_for_dynamic_portgroup", True),
    text("physical_network", 64),
    text("description", 255),
    text("vendor", 32),
    text("category", 80),
    unique("ports", "uuid"),
    unique("ports", "name"),
    unique("ports", "address"),
    sa.Index("ports_node_id_idx", "node_id"),
    sa.Index("ports_portgroup_id_idx", "portgroup_id"),
)
