"""Ports and port groups of nodes."""

from typing import Any

import sqlalchemy as sa

from ironic.db.tables.columns import Known, flag, json_dict, reference, text, unique


class PortgroupColumns(
    Known,
    name="portgroups",
    also=(
        unique("portgroups", "uuid"),
        unique("portgroups", "name"),
        unique("portgroups", "address"),
        sa.Index("portgroups_node_id_idx", "node_id"),
    ),
):
    """The columns of port groups."""

    name: str | None = text(255)
    node_id: int = reference("nodes.id", on_delete="CASCADE")
    address: str | None = text(18)
    extra: dict[str, Any] = json_dict()
    internal_info: dict[str, Any] = json_dict()
    properties: dict[str, Any] = json_dict()
    standalone_ports_supported: bool = flag(True)
    mode: str | None = text(255)
    physical_network: str | None = text(64)
    category: str | None = text(80)
    dynamic_portgroup: bool = flag(False)


portgroups = PortgroupColumns.table


# A group with ports is kept by its repository, not by the key: MySQL would otherwise refuse to delete a node whose
# groups it happens to reach before their ports.
class PortColumns(
    Known,
    name="ports",
    also=(
        unique("ports", "uuid"),
        unique("ports", "name"),
        unique("ports", "address"),
        sa.Index("ports_node_id_idx", "node_id"),
        sa.Index("ports_portgroup_id_idx", "portgroup_id"),
    ),
):
    """The columns of ports."""

    name: str | None = text(255)
    node_id: int = reference("nodes.id", on_delete="CASCADE")
    portgroup_id: int | None = reference("portgroups.id", on_delete="SET NULL")
    address: str = text(18)
    extra: dict[str, Any] = json_dict()
    internal_info: dict[str, Any] = json_dict()
    local_link_connection: dict[str, Any] = json_dict()
    pxe_enabled: bool = flag(True)
    is_smartnic: bool = flag(False)
    available_for_dynamic_portgroup: bool = flag(True)
    physical_network: str | None = text(64)
    description: str | None = text(255)
    vendor: str | None = text(32)
    category: str | None = text(80)


ports = PortColumns.table
