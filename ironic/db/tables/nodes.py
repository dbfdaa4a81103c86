"""Nodes and what belongs to one node alone: traits, inventory, history, BMC addresses.

Whatever belongs to a node goes with it by the database's own cascade.
"""

import sqlalchemy as sa

from ironic.core import states
from ironic.core.interface_kinds import KINDS, interface_field
from ironic.db.tables.columns import flag, json_dict, key, moment, reference, table, text, timestamps, unique, uuid

nodes = table(
    "nodes",
    key(),
    uuid(),
    *timestamps(),
    text("name", 255),
    text("instance_uuid", 36),
    text("instance_name", 255),
    reference("chassis_id", "chassis.id", on_delete=""),
    reference("conductor_affinity", "conductors.id", on_delete="SET NULL"),
    reference("allocation_id", "allocations.id", on_delete="SET NULL"),
    text("conductor_group", 255, nullable=False, default="", server_default=""),
    text("reservation", 255),
    text("reservation_purpose", 255),
    text("reservation_token", 32),
    text("power_state", 15),
    text("target_power_state", 15),
    text("provision_state", 15, default=states.ENROLL),
    text("target_provision_state", 15),
    moment("provision_updated_at"),
    text("last_error"),
    text("fault", 255),
    text("health", 32),
    flag("maintenance", False),
    text("maintenance_reason"),
    flag("protected", False),
    text("protected_reason"),
    flag("retired", False),
    text("retired_reason"),
    sa.Column("automated_clean", sa.Boolean),
    flag("console_enabled", False),
    flag("disable_power_off", False),
    flag("auto_discovered", False),
    moment("inspection_started_at"),
    moment("inspection_finished_at"),
    text("boot_mode", 16),
    sa.Column("secure_boot", sa.Boolean),
    text("driver", 255),
    json_dict("driver_info"),
    json_dict("driver_internal_info"),
    json_dict("instance_info"),
    json_dict("properties"),
    json_dict("extra"),
    json_dict("clean_step"),
    json_dict("deploy_step"),
    json_dict("service_step"),
    json_dict("raid_config"),
    json_dict("target_raid_config"),
    json_dict("network_data"),
    text("resource_class", 80),
    text("owner", 255),
    text("lessee", 255),
    text("shard", 255),
    text("parent_node", 36),
    text("description"),
    *(text(interface_field(kind), 255) for kind in KINDS),
    unique("nodes", "uuid"),
    unique("nodes", "name"),
    unique("nodes", "instance_uuid"),
    sa.Index("conductor_group_idx", "conductor_group"),
    sa.Index("driver_idx", "driver"),
    sa.Index("lessee_idx", "lessee"),
    sa.Index("owner_idx", "owner"),
    sa.Index("parent_node_idx", "parent_node"),
    sa.Index("provision_state_idx", "provision_state"),
    sa.Index("reservation_idx", "reservation"),
    sa.Index("resource_class_idx", "resource_class"),
    sa.Index("shard_idx", "shard"),
    sa.Index("nodes_chassis_id_idx", "chassis_id"),
    sa.Index("nodes_conductor_affinity_idx", "conductor_affinity"),
    sa.Index("nodes_allocation_id_idx", "allocation_id"),
)

node_traits = table(
    "node_traits",
    reference("node_id", "nodes.id", on_delete="CASCADE", primary_key=True, autoincrement=False),
    text("trait", 255, primary_key=True),
    sa.Index("node_traits_idx", "trait"),
)

node_inventory = table(
    "node_inventory",
    key(),
    *timestamps(),
    reference("node_id", "nodes.id", on_delete="CASCADE", nullable=False),
    json_dict("inventory_data"),
    json_dict("plugin_data"),
    unique("node_inventory", "node_id"),
)

node_history = table(
    "node_history",
    key(),
    uuid(),
    *timestamps(),
    reference("node_id", "nodes.id", on_delete="CASCADE", nullable=False),
    text("conductor", 255),
    text("event_type", 255),
    text("severity", 255),
    text("event"),
    text("user", 64),
    text("project", 80),
    text("state", 255),
    text("target_provision_state", 255),
    sa.Column("duration_seconds", sa.Integer),
    unique("node_history", "uuid"),
    sa.Index("history_conductor_idx", "conductor"),
    sa.Index("history_node_id_idx", "node_id"),
)

# What the look-up of a calling ramdisk goes by; filled when an inspection starts.
node_bmc_addresses = table(
    "node_bmc_addresses",
    reference("node_id", "nodes.id", on_delete="CASCADE", primary_key=True, autoincrement=False),
    text("address", 45, primary_key=True),
    sa.Index("node_bmc_addresses_idx", "address"),
)
