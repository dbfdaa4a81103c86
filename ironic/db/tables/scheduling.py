"""Tables of chassis, allocations, and conductors with the interfaces they serve."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from ironic.db.tables.columns import (
    Columns,
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


class ChassisColumns(Known, name="chassis", also=(unique("chassis", "uuid"),)):
    """The columns of chassis."""

    extra: dict[str, Any] = json_dict()
    description: str | None = text(255)


chassis = ChassisColumns.table


# `node_id` and `conductor_affinity` are no foreign keys: nodes refer to allocations, and not every engine can create or
# delete tables whose keys form a circle.
class AllocationColumns(
    Known,
    name="allocations",
    also=(
        unique("allocations", "uuid"),
        unique("allocations", "name"),
        sa.Index("allocations_node_id_idx", "node_id"),
    ),
):
    """The columns of allocations."""

    name: str | None = text(255)
    node_id: int | None = plain(sa.Integer)
    state: str = text(15)
    owner: str | None = text(255)
    last_error: str | None = text()
    resource_class: str | None = text(80)
    traits: list[str] = json_list()
    candidate_nodes: list[str] = json_list()
    extra: dict[str, Any] = json_dict()
    conductor_affinity: int | None = plain(sa.Integer)


allocations = AllocationColumns.table


class ConductorColumns(Columns, name="conductors", also=(unique("conductors", "hostname"),)):
    """The columns of conductors."""

    id: int = key()
    created_at: datetime = moment()
    updated_at: datetime | None = moment()
    hostname: str = text(255)
    drivers: list[str] = json_list()
    online: bool = flag(True)
    conductor_group: str = text(255, default="", server_default="")
    incarnation: str | None = text(32)


conductors = ConductorColumns.table

conductor_hardware_interfaces = table(
    "conductor_hardware_interfaces",
    sa.UniqueConstraint(
        "conductor_id",
        "hardware_type",
        "interface_type",
        "interface_name",
        name="uniq_conductorhardwareinterfaces0",
    ),
    id=key(),
    conductor_id=reference("conductors.id", on_delete="CASCADE", nullable=False),
    hardware_type=text(255, nullable=False),
    interface_type=text(16, nullable=False),
    interface_name=text(255, nullable=False),
    default=flag(False),
    listed=flag(True),
    facts=text(255, nullable=False, default="", server_default=""),
)
