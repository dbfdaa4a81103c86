"""Indexes on the interfaces of nodes, by which lists of nodes are filtered (S32)."""

from alembic import op

revision = "r0002"
down_revision = "r0001"

_KINDS = (
    "bios", "boot", "console", "deploy", "firmware", "inspect", "management", "network", "power", "raid", "rescue",
    "storage", "vendor",
)  # fmt: skip


def upgrade() -> None:
    for kind in _KINDS:
        op.create_index(f"nodes_{kind}_interface_idx", "nodes", [f"{kind}_interface"])
