"""What ramdisks sent that nobody took: the newest refusals of inspection data, for operators to look at."""

from ironic.db.tables.columns import json_list, key, moment, table, text

rejected_callbacks = table(
    "rejected_callbacks",
    id=key(),
    at=moment(nullable=False),
    source=text(45),
    reason=text(nullable=False),
    macs=json_list(),
    bmc_addresses=json_list(),
    node_uuid=text(36),
)
