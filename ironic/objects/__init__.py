"""A door for third-party plug-ins: records under the names they know them by, with queries that need no task."""

from ironic.db import InspectionRuleRecord as InspectionRule
from ironic.drivers.plug_ins.records import (
    Chassis,
    Conductor,
    Node,
    NodeHistory,
    Port,
    Portgroup,
    VolumeConnector,
    VolumeTarget,
    register_all,
)
from ironic.drivers.plug_ins.traits import Trait, TraitList

__all__ = [
    "Chassis",
    "Conductor",
    "InspectionRule",
    "Node",
    "NodeHistory",
    "Port",
    "Portgroup",
    "Trait",
    "TraitList",
    "VolumeConnector",
    "VolumeTarget",
    "register_all",
]
