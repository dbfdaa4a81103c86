"""Tables of nodes: nodes, traits, inventory, history, BMC addresses, BIOS settings, firmware components.

What belongs to a node is deleted with it by the database's cascade.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from ironic.core.flows import states
from ironic.core.hardware_interfaces import KINDS
from ironic.db.tables.columns import (
    Known,
    flag,
    json_dict,
    json_list,
    key,
    moment,
    plain,
    reference,
    table,
    text,
    unique,
)


class NodeColumns(
    Known,
    name="nodes",
    also=(
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
        *(sa.Index(f"nodes_{kind}_interface_idx", f"{kind}_interface") for kind in KINDS),
    ),
):
    """The columns of nodes."""

    name: str | None = text(255)
    instance_uuid: str | None = text(36)
    instance_name: str | None = text(255)
    chassis_id: int | None = reference("chassis.id", on_delete="")
    conductor_affinity: int | None = reference("conductors.id", on_delete="SET NULL")
    allocation_id: int | None = reference("allocations.id", on_delete="SET NULL")
    conductor_group: str = text(255, default="", server_default="")
    reservation: str | None = text(255)
    reservation_purpose: str | None = text(255)
    reservation_token: str | None = text(32)
    power_state: str | None = text(15)
    target_power_state: str | None = text(15)
    provision_state: str = text(15, default=states.ENROLL, nullable=True)
    target_provision_state: str | None = text(15)
    provision_updated_at: datetime | None = moment()
    last_error: str | None = text()
    fault: str | None = text(255)
    health: str | None = text(32)
    maintenance: bool = flag(False)
    maintenance_reason: str | None = text()
    protected: bool = flag(False)
    protected_reason: str | None = text()
    retired: bool = flag(False)
    retired_reason: str | None = text()
    automated_clean: bool | None = plain(sa.Boolean)
    console_enabled: bool = flag(False)
    disable_power_off: bool = flag(False)
    auto_discovered: bool = flag(False)
    inspection_started_at: datetime | None = moment()
    inspection_finished_at: datetime | None = moment()
    boot_mode: str | None = text(16)
    secure_boot: bool | None = plain(sa.Boolean)
    driver: str = text(255, nullable=True)
    driver_info: dict[str, Any] = json_dict()
    driver_internal_info: dict[str, Any] = json_dict()
    instance_info: dict[str, Any] = json_dict()
    properties: dict[str, Any] = json_dict()
    extra: dict[str, Any] = json_dict()
    clean_step: dict[str, Any] = json_dict()
    deploy_step: dict[str, Any] = json_dict()
    service_step: dict[str, Any] = json_dict()
    raid_config: dict[str, Any] = json_dict()
    target_raid_config: dict[str, Any] = json_dict()
    network_data: dict[str, Any] = json_dict()
    resource_class: str | None = text(80)
    owner: str | None = text(255)
    lessee: str | None = text(255)
    shard: str | None = text(255)
    parent_node: str | None = text(36)
    description: str | None = text()
    bios_interface: str | None = text(255)
    boot_interface: str | None = text(255)
    console_interface: str | None = text(255)
    deploy_interface: str | None = text(255)
    firmware_interface: str | None = text(255)
    inspect_interface: str | None = text(255)
    management_interface: str | None = text(255)
    network_interface: str | None = text(255)
    power_interface: str | None = text(255)
    raid_interface: str | None = text(255)
    rescue_interface: str | None = text(255)
    storage_interface: str | None = text(255)
    vendor_interface: str | None = text(255)


nodes = NodeColumns.table

node_traits = table(
    "node_traits",
    sa.Index("node_traits_idx", "trait"),
    node_id=reference("nodes.id", on_delete="CASCADE", primary_key=True, autoincrement=False, nullable=False),
    trait=text(255, primary_key=True, nullable=False),
)


def _reports(name: str) -> sa.Table:
    """Return a table with one report of a machine per node."""
    return table(
        name,
        unique(name, "node_id"),
        id=key(),
        created_at=moment(nullable=False),
        updated_at=moment(),
        node_id=reference("nodes.id", on_delete="CASCADE", nullable=False),
        inventory_data=json_dict(),
        plugin_data=json_dict(),
    )


node_inventory = _reports("node_inventory")

# The report that the last inspection has failed on: dry runs of rules use it, hooks never do.
refused_reports = _reports("refused_reports")


class HistoryColumns(
    Known,
    name="node_history",
    also=(
        unique("node_history", "uuid"),
        sa.Index("history_conductor_idx", "conductor"),
        sa.Index("history_node_id_idx", "node_id"),
    ),
):
    """The columns of history entries."""

    node_id: int = reference("nodes.id", on_delete="CASCADE")
    conductor: str | None = text(255)
    event_type: str | None = text(255)
    severity: str | None = text(255)
    event: str | None = text()
    user: str | None = text(64)
    project: str | None = text(80)
    state: str | None = text(255)
    target_provision_state: str | None = text(255)
    duration_seconds: int | None = plain(sa.Integer)


node_history = HistoryColumns.table

# For the look-up of the node of a calling ramdisk; stored when an inspection starts.
node_bmc_addresses = table(
    "node_bmc_addresses",
    sa.Index("node_bmc_addresses_idx", "address"),
    node_id=reference("nodes.id", on_delete="CASCADE", primary_key=True, autoincrement=False, nullable=False),
    address=text(45, primary_key=True, nullable=False),
)


bios_settings = table(
    "bios_settings",
    node_id=reference("nodes.id", on_delete="CASCADE", primary_key=True, autoincrement=False, nullable=False),
    name=text(255, primary_key=True, nullable=False),
    created_at=moment(nullable=False),
    updated_at=moment(),
    value=text(),
    attribute_type=text(255),
    allowable_values=json_list(),
    lower_bound=plain(sa.BigInteger),
    upper_bound=plain(sa.BigInteger),
    min_length=plain(sa.Integer),
    max_length=plain(sa.Integer),
    read_only=plain(sa.Boolean),
    reset_required=plain(sa.Boolean),
    unique=plain(sa.Boolean),
)

firmware_information = table(
    "firmware_information",
    unique("firmware_information", "node_id", "component"),
    id=key(),
    created_at=moment(nullable=False),
    updated_at=moment(),
    node_id=reference("nodes.id", on_delete="CASCADE", nullable=False),
    component=text(255, nullable=False),
    initial_version=text(255, nullable=False),
    current_version=text(255),
    last_version_flashed=text(255),
    vendor=text(255),
    model=text(255),
    serial_number=text(255),
)
