"""The database of the service: nodes and all other resources, in SQLite, MariaDB, MySQL or PostgreSQL.

`connect` returns a `Store`; its repositories return records and rows. Other packages use nothing else of the database.
"""

from ironic.core.hardware_interfaces import InterfaceRow
from ironic.db.allocations import AllocationRecord
from ironic.db.chassis import ChassisRecord
from ironic.db.conductors import ConductorLife, ConductorRecord, ServedInterface
from ironic.db.history import HistoryRecord
from ironic.db.inspection_rules import Hits, InspectionRuleRecord, RuleStatistics
from ironic.db.nodes import NodeRow, Share
from ironic.db.ports import PortgroupRecord, PortRecord
from ironic.db.record import NodeRecord
from ironic.db.repository import Row, Stretch
from ironic.db.row_selection import PageOfRows
from ironic.db.schema_version import SchemaOutdated, require_current
from ironic.db.step_lists import DeployTemplateRecord, RunbookRecord
from ironic.db.store import Store, connect
from ironic.db.volumes import VolumeConnectorRecord, VolumeTargetRecord

__all__ = [
    "AllocationRecord",
    "ChassisRecord",
    "ConductorLife",
    "ConductorRecord",
    "DeployTemplateRecord",
    "HistoryRecord",
    "Hits",
    "InspectionRuleRecord",
    "InterfaceRow",
    "NodeRecord",
    "NodeRow",
    "PageOfRows",
    "PortRecord",
    "PortgroupRecord",
    "Row",
    "RunbookRecord",
    "SchemaOutdated",
    "ServedInterface",
    "Share",
    "Store",
    "Stretch",
    "RuleStatistics",
    "VolumeConnectorRecord",
    "VolumeTargetRecord",
    "connect",
    "require_current",
]
