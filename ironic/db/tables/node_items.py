"""What a node's management found out about its firmware: the BIOS settings, and the version of each component.

Both are lists of named things that belong to one node and go with it.
"""

import sqlalchemy as sa

from ironic.db.tables.columns import json_list, key, moment, plain, reference, table, text, unique

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
