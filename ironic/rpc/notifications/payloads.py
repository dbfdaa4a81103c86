"""The payloads of notifications: names and versions that listeners rely on (doc/contract/drivers.md#notifications).

There is one line per kind of payload; the model of the resource declares which fields it has. Times become text, and
what looks like a secret is masked at any depth. The versions below are those of the fields up to API version 1.115;
each later API version that added a field to a payload adds one to its minor version.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from ironic.core.model.fields import Resource
from ironic.core.model.node import CRUD, INTERFACES, PROVISION, Node
from ironic.core.secrets import masking

_VERSIONED_UP_TO: Final = 115


@dataclass(frozen=True, slots=True)
class Payload:
    """One kind of payload: its fields, and the masks of fields that have one of their own."""

    name: str
    version: str
    fields: tuple[str, ...]
    masks: Mapping[str, Callable[[Any], Any]]

    @classmethod
    def about(
        cls, resource: type[Resource], name: str, version: str, kind: str = "", also: Collection[str] = ()
    ) -> Self:
        """Return a payload with the model's fields for every kind, those for this kind, and those in ``also``."""
        every = sorted(resource.table.notified_in(""), key=lambda field: (field in INTERFACES, field))
        of_kind = sorted({*resource.table.notified_in(kind), *also} - {*every})
        fields = resource.table.fields
        masks = {field: one.mask for field, one in fields.items() if one.mask is not None}
        later = {fields[field].since for field in (*every, *of_kind) if field in fields} - {
            *range(_VERSIONED_UP_TO + 1)
        }
        major, minor = version.split(".")
        return cls(name, f"{major}.{int(minor) + len(later)}", (*every, *of_kind), masks)

    def of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the payload with these values, as it is sent."""
        data: dict[str, object] = {}
        for name in self.fields:
            value = values[name]
            if isinstance(value, datetime):
                data[name] = value.strftime("%Y-%m-%dT%H:%M:%SZ")
            else:
                data[name] = self.masks.get(name, masking.masked)(value)
        return {
            "ironic_object.name": self.name,
            "ironic_object.namespace": "ironic",
            "ironic_object.version": self.version,
            "ironic_object.data": data,
        }


def crud_of(resource: type[Resource]) -> Payload:
    """Return the payload of what requests that create, change or delete one emit."""
    return Payload.about(resource, f"{resource.__name__}CRUDPayload", resource.payload_version, CRUD)


NODE: Final = Payload.about(Node, "NodePayload", "1.17")
NODE_CRUD: Final = crud_of(Node)
NODE_SET_POWER: Final = Payload.about(Node, "NodeSetPowerStatePayload", "1.17", also=("to_power",))
NODE_CORRECTED_POWER: Final = Payload.about(Node, "NodeCorrectedPowerStatePayload", "1.17", also=("from_power",))
NODE_SET_PROVISION: Final = Payload.about(
    Node,
    "NodeSetProvisionStatePayload",
    "1.18",
    PROVISION,
    also=("event", "previous_provision_state", "previous_target_provision_state"),
)
