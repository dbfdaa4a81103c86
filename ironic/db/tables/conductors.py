"""Conductors and what each of them serves."""

import sqlalchemy as sa

from ironic.db.tables.columns import flag, json_list, key, reference, table, text, timestamps, unique

conductors = table(
    "conductors",
    key(),
    *timestamps(),
    text("hostname", 255, nullable=False),
    json_list("drivers"),
    flag("online", True),
    text("conductor_group", 255, nullable=False, default="", server_default=""),
    text("incarnation", 32),
    unique("conductors", "hostname"),
)

conductor_hardware_interfaces = table(
    "conductor_hardware_interfaces",
    key(),
    reference("conductor_id", "conductors.id", on_delete="CASCADE", nullable=False),
    text("hardware_type", 255, nullable=False),
    text("interface_type", 16, nullable=False),
    text("interface_name", 255, nullable=False),
    flag("default", False),
    flag("listed", True),
    sa.UniqueConstraint(
        "conductor_id",
        "hardware_type",
        "interface_type",
        "interface_name",
        name="uniq_conductorhardwareinterfaces0",
    ),
)
