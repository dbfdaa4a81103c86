"""Remote storage of nodes: what they reach it by and what they attach."""

from typing import Any

import sqlalchemy as sa

from ironic.db.tables.columns import Known, json_dict, plain, reference, text, unique


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
