"""Dialects of inspection rules, and the effects of rules that can take them back (S174, S180)."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "r0003"
down_revision = "r0002"

_LONG = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    op.add_column("inspection_rules", sa.Column("dialect", sa.String(16), nullable=False, server_default="ironic"))
    op.create_table(
        "node_rule_effects",
        sa.Column("node_id", sa.Integer(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("rule_uuid", sa.String(36), primary_key=True, nullable=False),
        sa.Column("effects", _LONG, nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["nodes.id"], name="fk_node_rule_effects_node_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("node_id", "rule_uuid", name="pk_node_rule_effects"),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
