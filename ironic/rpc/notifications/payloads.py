"""What notifications carry: the names and versions that listeners rely on (doc/contract/drivers.md#notifications).

One line per kind of payload; which fields a kind has stands in the lines of the model. A value is taken from what is
told about by the field's name; times become text, and what looks like a secret is masked at any depth, as everywhere.
A payload's version is the one that its fields up to API version 1.115 made; each later version of the API that brought
it a field counts one more.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from ironic.core import secrets
from ironic.core.model.allocation import Allocation
from ironic.core.model.chassis import Chassis
from ironic.core.model.deploy_template import DeployTemplate
from ironic.core.model.fields import Resource
from ironic.core.model.inspection_rule import InspectionRule
from ironic.core.model.node import CRUD, INTERFACES, PROVISION, Node
from ironic.core.model.port import Port
from ironic.core.model.portgroup import Portgroup
from ironic.core.model.runbook import Runbook
from ironic.core.model.volumes import VolumeConnector, VolumeTarget

_COUNTED: Final = 115


@dataclass(frozen=True, slots=True)
class Payload:
    """One kind of payload: its fields, and what hides secrets in those of them that have a mask of their own."""

    name: str
    version: str
    fields: tuple[str, ...]
    masks: Mapping[str, Callable[[Any], Any]]

    @classmethod
    def about(
        cls, resource: type[Resource], name: str, version: str, kind: str = "", also: Collection[str] = ()
    ) -> Self:
        """Read the fields off the model: those of every payload, those of this kind, then what ``also`` happened."""
        every = sorted(resource.table.told_in(""), key=lambda field: (field in INTERFACES, field))
        of_kind = sorted({*resource.table.told_in(kind), *also} - {*every})
        fields = resource.table.fields
        masks = {field: one.mask for field, one in fields.items() if one.mask is not None}
        later = {fields[field].since for field in (*every, *of_kind) if field in fields} - {*range(_COUNTED + 1)}
        major, minor = version.split(".")
        return cls(name, f"{major}.{int(minor) + len(later)}", (*every, *of_kind), masks)

    def of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the payload of what has these values, ready to be sent."""
        return {
            "ironic_object.name": self.name,
            "ironic_object.namespace": "ironic",
            "ironic_object.version": self.version,
            "ironic_object.data": {name: self._shown(name, values[name]) for name in self.fields},
        }

    def _shown(self, name: str, value: object) -> object:
        if isinstance(value, datetime):
            return value.strftime("%Y-%m-%dT%H:%M:%SZ")
        return self.masks.get(name, secrets.masked)(value)


NODE: Final = Payload.about(Node, "NodePayload", "1.17")
NODE_CRUD: Final = Payload.about(Node, "NodeCRUDPayload", "1.15", CRUD)
NODE_SET_POWER: Final = Payload.about(Node, "NodeSetPowerStatePayload", "1.17", also=("to_power",))
NODE_CORRECTED_POWER: Final = Payload.about(Node, "NodeCorrectedPowerStatePayload", "1.17", also=("from_power",))
NODE_SET_PROVISION: Final = Payload.about(
    Node,
    "NodeSetProvisionStatePayload",
    "1.18",
    PROVISION,
    also=("event", "previous_provision_state", "previous_target_provision_state"),
)
PORT_CRUD: Final = Payload.about(Port, "PortCRUDPayload", "1.8")
PORTGROUP_CRUD: Final = Payload.about(Portgroup, "PortgroupCRUDPayload", "1.3")
CHASSIS_CRUD: Final = Payload.about(Chassis, "ChassisCRUDPayload", "1.0")
VOLUME_CONNECTOR_CRUD: Final = Payload.about(VolumeConnector, "VolumeConnectorCRUDPayload", "1.0")
VOLUME_TARGET_CRUD: Final = Payload.about(VolumeTarget, "VolumeTargetCRUDPayload", "1.0")
ALLOCATION_CRUD: Final = Payload.about(Allocation, "AllocationCRUDPayload", "1.1")
DEPLOY_TEMPLATE_CRUD: Final = Payload.about(DeployTemplate, "DeployTemplateCRUDPayload", "1.0")
RUNBOOK_CRUD: Final = Payload.about(Runbook, "RunbookCRUDPayload", "1.1")
INSPECTION_RULE_CRUD: Final = Payload.about(InspectionRule, "InspectionRuleCRUDPayload", "1.0")
