"""The table of logins that BMCs have refused."""

import sqlalchemy as sa

from ironic.db.tables.columns import moment, plain, table, text

bmc_logins = table(
    "bmc_logins",
    # A digest of address and credentials.
    login=text(64, primary_key=True, nullable=False),
    # For operators who read the table.
    address=text(255, nullable=False),
    refused=plain(sa.Integer, nullable=False, default=0, server_default="0"),
    # Attempts under way, and when the last one began.
    trying=plain(sa.Integer, nullable=False, default=0, server_default="0"),
    tried_at=moment(nullable=False),
)
