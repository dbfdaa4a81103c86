"""A door for third-party plug-ins: records under the names they know them by.

A record comes from a task or from the store behind it; there is no global database to fetch one from.
"""

from ironic.db import ChassisRecord as Chassis
from ironic.db import ConductorRecord as Conductor
from ironic.db import HistoryRecord as NodeHistory
from ironic.db import InspectionRuleRecord as InspectionRule
from ironic.db import NodeRecord as Node
from ironic.db import PortgroupRecord as Portgroup
from ironic.db import PortRecord as Port

__all__ = ["Chassis", "Conductor", "InspectionRule", "Node", "NodeHistory", "Port", "Portgroup"]
