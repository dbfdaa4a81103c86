"""What the service remembers: nodes and all around them, in SQLite, MariaDB, MySQL or PostgreSQL.

`connect` gives a `Store`; its repositories give records and rows, and nothing else of a database leaves this package.
"""

from ironic.core.interface_choice import InterfaceRow
from ironic.db.allocations import AllocationRecord
from ironic.db.chassis import ChassisRecord
from ironic.db.conductors import ConductorRecord, ServedInterface
from ironic.db.history import HistoryRecord
from ironic.db.inspection_rules import InspectionRuleRecord
from ironic.db.node_filters import Share
from ironic.db.node_record import NodeRecord
from ironic.db.nodes import NodeRow
from ironic.db.portgroups import PortgroupRecord
from ironic.db.ports import PortRecord
from ironic.db.repository import Row
from ironic.db.rule_hits import Hits, Tally
from ironic.db.schema_version import SchemaOutdated, require_current
from ironic.db.step_lists import DeployTemplateRecord, RunbookRecord
from ironic.db.store import Store, connect
from ironic.db.transactions import Clock, utc_now
from ironic.db.volumes import VolumeConnectorRecord, VolumeTargetRecord

__all__ = [
    "AllocationRecord",
    "ChassisRecord",
    "Clock",
    "ConductorRecord",
    "DeployTemplateRecord",
    "HistoryRecord",
    "Hits",
    "InspectionRuleRecord",
    "InterfaceRow",
    "NodeRecord",
    "NodeRow",
    "PortRecord",
    "PortgroupRecord",
    "Row",
    "RunbookRecord",
    "SchemaOutdated",
    "ServedInterface",
    "Share",
    "Store",
    "Tally",
    "VolumeConnectorRecord",
    "VolumeTargetRecord",
    "connect",
    "require_current",
    "utc_now",
]
