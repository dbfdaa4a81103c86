"""What nodes wait for, one row per wait."""

import sqlalchemy as sa
from alembic import op

from ironic.db.column_types import LongText, ShortText, UtcDateTime

revision = "r0006"
down_revision = "r0005"


def upgrade() -> None:
    op.create_table(
        "node_waits",
        sa.Column("id", sa.Integer(), primary_key=True, nullable=False),
        sa.Column("node_id", sa.Integer(), nullable=False),
        sa.Column("kind", ShortText(64), nullable=False),
        sa.Column("interface", ShortText(32)),
        sa.Column("words", LongText(), nullable=False),
        sa.Column("since", UtcDateTime(), nullable=False),
        sa.Column("until", UtcDateTime()),
        sa.Column("next_look", UtcDateTime(), nullable=False),
        sa.Column("follows", ShortText(16), nullable=False),
        sa.Column("run", ShortText(64)),
        sa.Column("changed", UtcDateTime(), nullable=False),
        sa.Column("memory", LongText()),
        sa.ForeignKeyConstraint(["node_id"], ["nodes.id"], name="fk_node_waits_node_id", ondelete="CASCADE"),
        sa.UniqueConstraint("node_id", "kind", name="uniq_node_waits0node_id0kind"),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
    op.create_index("node_waits_next_look_idx", "node_waits", ["next_look"])
