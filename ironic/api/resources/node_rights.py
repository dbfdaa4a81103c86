"""Which rule guards which field of a node in a patch. Source: facts/endpoints.yaml, PATCH /v1/nodes."""

from collections.abc import Mapping
from typing import Any, Final

from ironic.api.json_patch import Change
from ironic.api.resources.node_rules import INTERFACES
from ironic.api.types import Bool

_OF_ROOT: Final[Mapping[str, str]] = {
    "extra": "update_extra",
    "instance_info": "update_instance_info",
    "instance_name": "update_instance_info",
    "driver": "update:driver_interfaces",
    "retired_reason": "update:retired",
    **dict.fromkeys(INTERFACES, "update:driver_interfaces"),
    **{
        name: f"update:{name}"
        for name in (
            "driver_info",
            "properties",
            "chassis_uuid",
            "instance_uuid",
            "lessee",
            "owner",
            "network_data",
            "conductor_group",
            "name",
            "retired",
            "shard",
            "parent_node",
            "disable_power_off",
        )
    },
}


def _is_false(value: Any) -> bool:
    # In any spelling that a caller may use.
    try:
        return value is not None and Bool().validate(value) is False
    except ValueError:
        return False


def rule_for(change: Change) -> str:
    """Return the rule that guards one operation."""
    if change.root == "automated_clean" and change.op != "remove" and _is_false(change.value):
        return "baremetal:node:disable_cleaning"
    return f"baremetal:node:{_OF_ROOT.get(change.root, 'update')}"
