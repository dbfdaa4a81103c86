"""The tables, one module per aggregate. Migrations must lead to exactly these; a test compares them.

Columns, lengths and names come from doc/contract/database.md#names-and-lengths; what clients can't see is leaner here
(no object versions, no timestamps on side tables, no NULL where there is a default). Importing this package loads every
module of it, so that ``metadata`` has all tables.
"""

import pkgutil
from importlib import import_module

from ironic.db.tables.bmcs import bmc_logins
from ironic.db.tables.columns import metadata
from ironic.db.tables.inspection import (
    InspectionRuleColumns,
    inspection_rule_hits,
    inspection_rules,
    node_rule_effects,
    node_rule_runs,
    rejected_callbacks,
)
from ironic.db.tables.node_parts import (
    PortColumns,
    PortgroupColumns,
    VolumeConnectorColumns,
    VolumeTargetColumns,
    node_waits,
    portgroups,
    ports,
    volume_connectors,
    volume_targets,
)
from ironic.db.tables.nodes import (
    HistoryColumns,
    NodeColumns,
    bios_settings,
    firmware_information,
    node_bmc_addresses,
    node_history,
    node_inventory,
    node_traits,
    nodes,
    refused_reports,
)
from ironic.db.tables.scheduling import (
    AllocationColumns,
    ChassisColumns,
    ConductorColumns,
    allocations,
    chassis,
    conductor_hardware_interfaces,
    conductors,
)
from ironic.db.tables.step_lists import (
    DeployTemplateColumns,
    RunbookColumns,
    deploy_template_steps,
    deploy_templates,
    runbook_steps,
    runbook_traits,
    runbooks,
)

__all__ = [
    "AllocationColumns",
    "ChassisColumns",
    "ConductorColumns",
    "DeployTemplateColumns",
    "HistoryColumns",
    "InspectionRuleColumns",
    "NodeColumns",
    "PortColumns",
    "PortgroupColumns",
    "RunbookColumns",
    "VolumeConnectorColumns",
    "VolumeTargetColumns",
    "allocations",
    "bios_settings",
    "bmc_logins",
    "chassis",
    "conductor_hardware_interfaces",
    "conductors",
    "deploy_template_steps",
    "deploy_templates",
    "firmware_information",
    "inspection_rule_hits",
    "inspection_rules",
    "metadata",
    "node_bmc_addresses",
    "node_history",
    "node_inventory",
    "node_rule_effects",
    "node_rule_runs",
    "node_traits",
    "node_waits",
    "nodes",
    "portgroups",
    "ports",
    "refused_reports",
    "rejected_callbacks",
    "runbook_steps",
    "runbook_traits",
    "runbooks",
    "volume_connectors",
    "volume_targets",
]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
