"""What notifications carry: the names, versions and fields that listeners rely on (facts/driver_api.yaml, objects).

One row per kind of payload. A value is taken from what is told about by the field's name; times become text, and what
looks like a secret is masked at any depth, as everywhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ironic.core import secrets
from ironic.core.interface_kinds import KINDS, interface_field

_KNOWN_KINDS: Final = tuple(kind for kind in KINDS if kind != "firmware")

_NODE: Final = (
    "boot_mode",
    "clean_step",
    "conductor_group",
    "console_enabled",
    "deploy_step",
    "description",
    "disable_power_off",
    "driver",
    "extra",
    "fault",
    "inspection_finished_at",
    "inspection_started_at",
    "instance_uuid",
    "last_error",
    "lessee",
    "maintenance",
    "maintenance_reason",
    "name",
    "owner",
    "power_state",
    "properties",
    "protected",
    "protected_reason",
    "provision_state",
    "provision_updated_at",
    "resource_class",
    "retired",
    "retired_reason",
    "secure_boot",
    "target_power_state",
    "target_provision_state",
    "traits",
    "uuid",
    *(interface_field(kind) for kind in _KNOWN_KINDS),
)


@dataclass(frozen=True, slots=True)
class Payload:
    """One kind of payload."""

    name: str
    version: str
    fields: tuple[str, ...]

    def of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the payload of what has these values, ready to be sent."""
        return {
            "ironic_object.name": self.name,
            "ironic_object.namespace": "ironic",
            "ironic_object.version": self.version,
            "ironic_object.data": {name: _shown(name, values[name]) for name in self.fields},
        }


def _shown(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return _MASKS.get(name, secrets.masked)(value)


_MASKS: Final[Mapping[str, Callable[[Any], Any]]] = {"instance_info": secrets.masked_instance_info}

NODE: Final = Payload("NodePayload", "1.17", _NODE)
NODE_CRUD: Final = Payload("NodeCRUDPayload", "1.15", (*_NODE, "chassis_uuid", "driver_info", "instance_info"))
NODE_SET_POWER: Final = Payload("NodeSetPowerStatePayload", "1.17", (*_NODE, "to_power"))
NODE_CORRECTED_POWER: Final = Payload("NodeCorrectedPowerStatePayload", "1.17", (*_NODE, "from_power"))
NODE_SET_PROVISION: Final = Payload(
    "NodeSetProvisionStatePayload",
    "1.18",
    (
        *_NODE,
        "driver_internal_info",
        "event",
        "instance_info",
        "previous_provision_state",
        "previous_target_provision_state",
    ),
)
PORT_CRUD: Final = Payload(
    "PortCRUDPayload",
    "1.8",
    (
        "address",
        "available_for_dynamic_portgroup",
        "category",
        "description",
        "extra",
        "is_smartnic",
        "local_link_connection",
        "name",
        "node_uuid",
        "physical_network",
        "portgroup_uuid",
        "pxe_enabled",
        "uuid",
        "vendor",
    ),
)
PORTGROUP_CRUD: Final = Payload(
    "PortgroupCRUDPayload",
    "1.3",
    (
        "address",
        "category",
        "dynamic_portgroup",
        "extra",
        "mode",
        "name",
        "node_uuid",
        "physical_network",
        "properties",
        "standalone_ports_supported",
        "uuid",
    ),
)
CHASSIS_CRUD: Final = Payload("ChassisCRUDPayload", "1.0", ("description", "extra", "uuid"))
VOLUME_CONNECTOR_CRUD: Final = Payload(
    "VolumeConnectorCRUDPayload", "1.0", ("connector_id", "extra", "node_uuid", "type", "uuid")
)
VOLUME_TARGET_CRUD: Final = Payload(
    "VolumeTargetCRUDPayload",
    "1.0",
    ("boot_index", "extra", "node_uuid", "properties", "uuid", "volume_id", "volume_type"),
)
ALLOCATION_CRUD: Final = Payload(
    "AllocationCRUDPayload",
    "1.1",
    (
        "candidate_nodes",
        "extra",
        "last_error",
        "name",
        "node_uuid",
        "owner",
        "resource_class",
        "state",
        "traits",
        "uuid",
    ),
)
DEPLOY_TEMPLATE_CRUD: Final = Payload("DeployTemplateCRUDPayload", "1.0", ("extra", "name", "steps", "uuid"))
RUNBOOK_CRUD: Final = Payload(
    "RunbookCRUDPayload",
    "1.1",
    ("description", "disable_ramdisk", "extra", "name", "owner", "public", "steps", "traits", "uuid"),
)
INSPECTION_RULE_CRUD: Final = Payload(
    "InspectionRuleCRUDPayload",
    "1.0",
    ("actions", "conditions", "description", "phase", "priority", "scope", "sensitive", "uuid"),
)
