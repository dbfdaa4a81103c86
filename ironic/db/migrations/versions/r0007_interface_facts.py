"""What conductors say of their interfaces, for the API."""

import sqlalchemy as sa
from alembic import op

from ironic.db.column_types import ShortText

revision = "r0007"
down_revision = "r0006"


def upgrade() -> None:
    op.add_column(
        "conductor_hardware_interfaces", sa.Column("facts", ShortText(255), nullable=False, server_default="")
    )
