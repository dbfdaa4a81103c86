"""Tables of what belongs to a node: ports, port groups, volume connectors and targets, and what it waits for."""

from typing import Any

import sqlalchemy as sa

from ironic.db.tables.columns import Known, flag, json_dict, key, moment, plain, reference, table, text, unique


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


# The repository, not the key, refuses to delete a group with ports: with the key MySQL would refuse to delete a node if
# it deletes the groups before their ports.
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


class VolumeConnectorColumns(
    Known,
    name="volume_connectors",
    also=(
        unique("volume_connectors", "uuid"),
        unique("volume_connectors", "type", "connector_id"),
        sa.Index("volume_connectors_node_id_idx", "node_id"),
    ),
):
    """The columns of volume connectors."""

    node_id: int = reference("nodes.id", on_delete="CASCADE")
    type: str = text(32)
    connector_id: str = text(255)
    extra: dict[str, Any] = json_dict()


volume_connectors = VolumeConnectorColumns.table


class VolumeTargetColumns(
    Known,
    name="volume_targets",
    also=(unique("volume_targets", "uuid"), unique("volume_targets", "node_id", "boot_index")),
):
    """The columns of volume targets."""

    node_id: int = reference("nodes.id", on_delete="CASCADE")
    volume_type: str = text(64)
    properties: dict[str, Any] = json_dict()
    boot_index: int = plain(sa.Integer)
    volume_id: str = text(36)
    extra: dict[str, Any] = json_dict()


volume_targets = VolumeTargetColumns.table

node_waits = table(
    "node_waits",
    unique("node_waits", "node_id", "kind"),
    sa.Index("node_waits_next_look_idx", "next_look"),
    id=key(),
    node_id=reference("nodes.id", on_delete="CASCADE", nullable=False),
    kind=text(64, nullable=False),
    interface=text(32),
    words=text(nullable=False),
    since=moment(nullable=False),
    until=moment(),
    next_look=moment(nullable=False),
    follows=text(16, nullable=False),
    run=text(64),
    changed=moment(nullable=False),
    memory=json_dict(),
)
