"""Refused logins at BMCs, counted for all conductors together."""

import sqlalchemy as sa
from alembic import op

from ironic.db.column_types import ShortText, UtcDateTime

revision = "r0004"
down_revision = "r0003"


def upgrade() -> None:
    op.create_table(
        "bmc_logins",
        sa.Column("login", ShortText(64), primary_key=True, nullable=False),
        sa.Column("address", ShortText(255), nullable=False),
        sa.Column("refused", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("trying", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("tried_at", UtcDateTime(), nullable=False),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
