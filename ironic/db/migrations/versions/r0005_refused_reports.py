"""Reports of machines that a hook or rule has refused, one per node."""

import sqlalchemy as sa
from alembic import op

from ironic.db.column_types import LongText, UtcDateTime

revision = "r0005"
down_revision = "r0004"


def upgrade() -> None:
    op.create_table(
        "refused_reports",
        sa.Column("id", sa.Integer(), primary_key=True, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime()),
        sa.Column("node_id", sa.Integer(), nullable=False),
        sa.Column("inventory_data", LongText()),
        sa.Column("plugin_data", LongText()),
        sa.ForeignKeyConstraint(["node_id"], ["nodes.id"], name="fk_refused_reports_node_id", ondelete="CASCADE"),
        sa.UniqueConstraint("node_id", name="uniq_refused_reports0node_id"),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
