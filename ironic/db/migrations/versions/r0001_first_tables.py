"""The first tables: nodes and what belongs to them, conductors, inspection rules.

It uses no types or tables of this service: a released migration must stay as it is when they change.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "r0001"
down_revision = None

_LONG = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
_TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")

_KINDS = (
    "bios",
    "boot",
    "console",
    "deploy",
    "firmware",
    "inspect",
    "management",
    "network",
    "power",
    "raid",
    "rescue",
    "storage",
    "vendor",
)

Column = sa.Column[object]


def upgrade() -> None:
    _placing()
    _conductors()
    _inspection_rules()
    _rejected_callbacks()
    _nodes()
    _node_children()
    _firmware_of_nodes()
    _network()
    _volumes()
    _step_lists()


def _placing() -> None:
    _table("chassis", _key(), _uuid(), *_times(), _long("extra"), _text("description", 255), unique=["uuid"])
    _table(
        "allocations",
        _key(),
        _uuid(),
        *_times(),
        _text("name", 255),
        _number("node_id"),
        _text("state", 15, nullable=False),
        _text("owner", 255),
        _long("last_error"),
        _text("resource_class", 80),
        _long("traits"),
        _long("candidate_nodes"),
        _long("extra"),
        _number("conductor_affinity"),
        unique=["uuid", "name"],
    )
    op.create_index("allocations_node_id_idx", "allocations", ["node_id"])


def _conductors() -> None:
    _table(
        "conductors",
        _key(),
        *_times(),
        _text("hostname", 255, nullable=False),
        _long("drivers"),
        _flag("online", sa.true()),
        _text("conductor_group", 255, nullable=False, server_default=""),
        _text("incarnation", 32),
        unique=["hostname"],
    )
    _table(
        "conductor_hardware_interfaces",
        _key(),
        _number("conductor_id", nullable=False),
        _text("hardware_type", 255, nullable=False),
        _text("interface_type", 16, nullable=False),
        _text("interface_name", 255, nullable=False),
        _flag("default", sa.false()),
        _flag("listed", sa.true()),
        _refers("conductor_hardware_interfaces", "conductor_id", "conductors", "CASCADE"),
        sa.UniqueConstraint(
            "conductor_id",
            "hardware_type",
            "interface_type",
            "interface_name",
            name="uniq_conductorhardwareinterfaces0",
        ),
    )


def _inspection_rules() -> None:
    _table(
        "inspection_rules",
        _key(),
        _uuid(),
        *_times(),
        _number("priority", nullable=False, server_default="0"),
        _text("description", 255),
        _text("scope", 255),
        _flag("sensitive", sa.false()),
        _text("phase", 16),
        _long("conditions"),
        _long("actions", nullable=False),
        unique=["uuid"],
    )
    op.create_index("inspection_rule_phase_idx", "inspection_rules", ["phase"])
    op.create_index("inspection_rule_scope_idx", "inspection_rules", ["scope"])
    _table(
        "inspection_rule_hits",
        _text("uuid", 36, primary_key=True),
        *(_number(count, nullable=False, server_default="0") for count in ("evaluated", "matched", "failed")),
        _time("last_matched_at"),
    )


def _rejected_callbacks() -> None:
    _table(
        "rejected_callbacks",
        _key(),
        _time("at", nullable=False),
        _text("source", 45),
        _long("reason", nullable=False),
        _long("macs"),
        _long("bmc_addresses"),
        _text("node_uuid", 36),
    )


def _nodes() -> None:
    _table(
        "nodes",
        *_identity_of_nodes(),
        *_state_of_nodes(),
        *_description_of_nodes(),
        *(_text(f"{kind}_interface", 255) for kind in _KINDS),
        _refers("nodes", "chassis_id", "chassis", None),
        _refers("nodes", "conductor_affinity", "conductors", "SET NULL"),
        _refers("nodes", "allocation_id", "allocations", "SET NULL"),
        unique=["uuid", "name", "instance_uuid"],
    )
    for column in (
        "conductor_group",
        "driver",
        "lessee",
        "owner",
        "parent_node",
        "provision_state",
        "reservation",
        "resource_class",
        "shard",
    ):
        op.create_index(f"{column}_idx", "nodes", [column])
    for column in ("chassis_id", "conductor_affinity", "allocation_id"):
        op.create_index(f"nodes_{column}_idx", "nodes", [column])


def _identity_of_nodes() -> list[Column]:
    return [
        _key(),
        _uuid(),
        *_times(),
        _text("name", 255),
        _text("instance_uuid", 36),
        _text("instance_name", 255),
        _number("chassis_id"),
        _number("conductor_affinity"),
        _number("allocation_id"),
        _text("conductor_group", 255, nullable=False, server_default=""),
        _text("reservation", 255),
        _text("reservation_purpose", 255),
        _text("reservation_token", 32),
    ]


def _state_of_nodes() -> list[Column]:
    return [
        _text("power_state", 15),
        _text("target_power_state", 15),
        _text("provision_state", 15),
        _text("target_provision_state", 15),
        _time("provision_updated_at"),
        _long("last_error"),
        _text("fault", 255),
        _text("health", 32),
        _flag("maintenance", sa.false()),
        _long("maintenance_reason"),
        _flag("protected", sa.false()),
        _long("protected_reason"),
        _flag("retired", sa.false()),
        _long("retired_reason"),
        sa.Column("automated_clean", sa.Boolean),
        _flag("console_enabled", sa.false()),
        _flag("disable_power_off", sa.false()),
        _flag("auto_discovered", sa.false()),
        _time("inspection_started_at"),
        _time("inspection_finished_at"),
        _text("boot_mode", 16),
        sa.Column("secure_boot", sa.Boolean),
    ]


def _description_of_nodes() -> list[Column]:
    return [
        _text("driver", 255),
        _long("driver_info"),
        _long("driver_internal_info"),
        _long("instance_info"),
        _long("properties"),
        _long("extra"),
        _long("clean_step"),
        _long("deploy_step"),
        _long("service_step"),
        _long("raid_config"),
        _long("target_raid_config"),
        _long("network_data"),
        _text("resource_class", 80),
        _text("owner", 255),
        _text("lessee", 255),
        _text("shard", 255),
        _text("parent_node", 36),
        _long("description"),
    ]


def _node_children() -> None:
    _table(
        "node_inventory",
        _key(),
        *_times(),
        _number("node_id", nullable=False),
        _long("inventory_data"),
        _long("plugin_data"),
        _refers("node_inventory", "node_id", "nodes", "CASCADE"),
        unique=["node_id"],
    )
    _table(
        "node_history",
        _key(),
        _uuid(),
        *_times(),
        _number("node_id", nullable=False),
        _text("conductor", 255),
        _text("event_type", 255),
        _text("severity", 255),
        _long("event"),
        _text("user", 64),
        _text("project", 80),
        _text("state", 255),
        _text("target_provision_state", 255),
        _number("duration_seconds"),
        _refers("node_history", "node_id", "nodes", "CASCADE"),
        unique=["uuid"],
    )
    op.create_index("history_conductor_idx", "node_history", ["conductor"])
    op.create_index("history_node_id_idx", "node_history", ["node_id"])
    _words_of_nodes("node_traits", "trait", 255)
    _words_of_nodes("node_bmc_addresses", "address", 45)
    _table(
        "node_rule_runs",
        _number("node_id", primary_key=True, autoincrement=False),
        _time("created_at", nullable=False),
        _long("early"),
        _long("later"),
        _refers("node_rule_runs", "node_id", "nodes", "CASCADE"),
    )


def _words_of_nodes(table: str, column: str, length: int) -> None:
    _table(
        table,
        _number("node_id", primary_key=True, autoincrement=False),
        _text(column, length, primary_key=True),
        _refers(table, "node_id", "nodes", "CASCADE"),
    )
    op.create_index(f"{table}_idx", table, [column])


def _firmware_of_nodes() -> None:
    _table(
        "bios_settings",
        _number("node_id", primary_key=True, autoincrement=False),
        _text("name", 255, primary_key=True),
        *_times(),
        _long("value"),
        _text("attribute_type", 255),
        _long("allowable_values"),
        sa.Column("lower_bound", sa.BigInteger),
        sa.Column("upper_bound", sa.BigInteger),
        _number("min_length"),
        _number("max_length"),
        sa.Column("read_only", sa.Boolean),
        sa.Column("reset_required", sa.Boolean),
        sa.Column("unique", sa.Boolean),
        _refers("bios_settings", "node_id", "nodes", "CASCADE"),
    )
    _table(
        "firmware_information",
        _key(),
        *_times(),
        _number("node_id", nullable=False),
        _text("component", 255, nullable=False),
        _text("initial_version", 255, nullable=False),
        _text("current_version", 255),
        _text("last_version_flashed", 255),
        _text("vendor", 255),
        _text("model", 255),
        _text("serial_number", 255),
        _refers("firmware_information", "node_id", "nodes", "CASCADE"),
        sa.UniqueConstraint("node_id", "component", name="uniq_firmware_information0node_id0component"),
    )


def _network() -> None:
    _table(
        "portgroups",
        _key(),
        _uuid(),
        *_times(),
        _text("name", 255),
        _number("node_id", nullable=False),
        _text("address", 18),
        _long("extra"),
        _long("internal_info"),
        _long("properties"),
        _flag("standalone_ports_supported", sa.true()),
        _text("mode", 255),
        _text("physical_network", 64),
        _text("category", 80),
        _flag("dynamic_portgroup", sa.false()),
        _refers("portgroups", "node_id", "nodes", "CASCADE"),
        unique=["uuid", "name", "address"],
    )
    op.create_index("portgroups_node_id_idx", "portgroups", ["node_id"])
    _table(
        "ports",
        _key(),
        _uuid(),
        *_times(),
        _text("name", 255),
        _number("node_id", nullable=False),
        _number("portgroup_id"),
        _text("address", 18, nullable=False),
        _long("extra"),
        _long("internal_info"),
        _long("local_link_connection"),
        _flag("pxe_enabled", sa.true()),
        _flag("is_smartnic", sa.false()),
        _flag("available_for_dynamic_portgroup", sa.true()),
        _text("physical_network", 64),
        _text("description", 255),
        _text("vendor", 32),
        _text("category", 80),
        _refers("ports", "node_id", "nodes", "CASCADE"),
        _refers("ports", "portgroup_id", "portgroups", "SET NULL"),
        unique=["uuid", "name", "address"],
    )
    op.create_index("ports_node_id_idx", "ports", ["node_id"])
    op.create_index("ports_portgroup_id_idx", "ports", ["portgroup_id"])


def _volumes() -> None:
    _table(
        "volume_connectors",
        _key(),
        _uuid(),
        *_times(),
        _number("node_id", nullable=False),
        _text("type", 32, nullable=False),
        _text("connector_id", 255, nullable=False),
        _long("extra"),
        _refers("volume_connectors", "node_id", "nodes", "CASCADE"),
        sa.UniqueConstraint("type", "connector_id", name="uniq_volume_connectors0type0connector_id"),
        unique=["uuid"],
    )
    op.create_index("volume_connectors_node_id_idx", "volume_connectors", ["node_id"])
    _table(
        "volume_targets",
        _key(),
        _uuid(),
        *_times(),
        _number("node_id", nullable=False),
        _text("volume_type", 64, nullable=False),
        _long("properties"),
        _number("boot_index", nullable=False),
        _text("volume_id", 36, nullable=False),
        _long("extra"),
        _refers("volume_targets", "node_id", "nodes", "CASCADE"),
        sa.UniqueConstraint("node_id", "boot_index", name="uniq_volume_targets0node_id0boot_index"),
        unique=["uuid"],
    )


def _step_lists() -> None:
    name = _text("name", 255, nullable=False)
    _table("deploy_templates", _key(), _uuid(), *_times(), name, _long("extra"), unique=["uuid", "name"])
    _steps_of("deploy_template", "priority")
    _table(
        "runbooks",
        _key(),
        _uuid(),
        *_times(),
        _text("name", 255, nullable=False),
        _text("description", 255),
        _flag("public", sa.false()),
        _text("owner", 255),
        _flag("disable_ramdisk", sa.false()),
        _long("extra"),
        unique=["uuid", "name"],
    )
    _steps_of("runbook", "order")
    _table(
        "runbook_traits",
        _number("runbook_id", primary_key=True, autoincrement=False),
        _text("trait", 255, primary_key=True),
        _refers("runbook_traits", "runbook_id", "runbooks", "CASCADE"),
    )
    op.create_index("runbook_traits_idx", "runbook_traits", ["trait"])


def _steps_of(owner: str, place: str) -> None:
    table = f"{owner}_steps"
    _table(
        table,
        _key(),
        _number(f"{owner}_id", nullable=False),
        _text("interface", 255, nullable=False),
        _text("step", 255, nullable=False),
        _long("args", nullable=False),
        _number(place, nullable=False),
        _refers(table, f"{owner}_id", f"{owner}s", "CASCADE"),
    )
    op.create_index(f"{table}_{owner}_id_idx", table, [f"{owner}_id"])


def _table(name: str, *items: Column | sa.Constraint, unique: list[str] | None = None) -> None:
    constraints = [sa.UniqueConstraint(column, name=f"uniq_{name}0{column}") for column in unique or []]
    op.create_table(
        name, *items, *constraints, mysql_engine="InnoDB", mysql_charset="utf8mb4", mysql_collate="utf8mb4_bin"
    )


def _key() -> Column:
    return sa.Column("id", sa.Integer, primary_key=True)


def _uuid() -> Column:
    return _text("uuid", 36, nullable=False)


def _times() -> tuple[Column, Column]:
    return _time("created_at", nullable=False), _time("updated_at")


def _text(name: str, length: int, **options: Any) -> Column:
    return sa.Column(name, sa.String(length), **options)


def _long(name: str, **options: Any) -> Column:
    return sa.Column(name, _LONG, **options)


def _time(name: str, **options: Any) -> Column:
    return sa.Column(name, _TIME, **options)


def _number(name: str, **options: Any) -> Column:
    return sa.Column(name, sa.Integer, **options)


def _flag(name: str, default: Any) -> Column:
    return sa.Column(name, sa.Boolean, nullable=False, server_default=default)


def _refers(table: str, column: str, target: str, on_delete: str | None) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=f"fk_{table}_{column}", ondelete=on_delete)
