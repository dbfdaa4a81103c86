"""The tables, one module per aggregate. Migrations must lead to exactly these; a test compares them.

Columns, lengths and names come from facts/db_schema.yaml; what clients can't see is leaner here (no object versions, no
timestamps on side tables, no NULL where there is a default).
"""

from ironic.db.tables.columns import metadata
from ironic.db.tables.conductors import conductor_hardware_interfaces, conductors
from ironic.db.tables.inspection_rules import inspection_rules
from ironic.db.tables.network import portgroups, ports
from ironic.db.tables.nodes import node_bmc_addresses, node_history, node_inventory, node_traits, nodes
from ironic.db.tables.placing import allocations, chassis

__all__ = [
    "allocations",
    "chassis",
    "conductor_hardware_interfaces",
    "conductors",
    "inspection_rules",
    "metadata",
    "node_bmc_addresses",
    "node_history",
    "node_inventory",
    "node_traits",
    "nodes",
    "portgroups",
    "ports",
]
