"""What ramdisks sent that nobody took: the newest refusals of inspection data, for operators to look at."""

from ironic.db.tables.columns import json_list, key, moment, table, text

rejected_callbacks = table(
    "rejected_callbacks",
    key(),
    moment("at", nullable=False),
    text("source", 45),
    text("reason", nullable=False),
    json_list("macs"),
    json_list("bmc_addresses"),
    text("node_uuid", 36),
)
