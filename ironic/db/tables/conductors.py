"""Conductors and what each of them serves."""

from datetime import datetime

import sqlalchemy as sa

from ironic.db.tables.columns import Columns, flag, json_list, key, moment, reference, table, text, unique


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
)
