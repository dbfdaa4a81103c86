"""Which rule guards which field of a node, in a patch and in a new node alike.

Source: facts/endpoints.yaml, PATCH /v1/nodes.
"""

from collections.abc import Mapping
from typing import Any, Final

from ironic.api import access
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.api.resources.node_fields import Node
from ironic.api.resources.node_rules import INTERFACES
from ironic.core.values import Bool

_BOOL: Final = Bool()
# Whose a new node may be, and that it has a driver, is what the right to create it is about.
_OF_CREATION: Final = frozenset({"driver", "owner"})

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
        return value is not None and _BOOL.validate(value) is False
    except ValueError:
        return False


def rule_for(change: Change) -> str:
    """Return the rule that guards one operation."""
    return rule_of(change.root, None if change.op == "remove" else change.value)


def rule_of(name: str, value: Any = None) -> str:
    """Return the rule that guards giving a field a value."""
    if name == "automated_clean" and _is_false(value):
        return "baremetal:node:disable_cleaning"
    return f"baremetal:node:{_OF_ROOT.get(name, 'update')}"


def check_new(request: Request, values: Mapping[str, Any]) -> None:
    """Refuse in a new node what its creator might not change afterwards; what it has anyway asks for no right."""
    if request.services.policy.is_open:
        return
    known = Node.writable("patch")
    usual = {name: one.empty for name, one in known.items()}
    usual["conductor_group"] = request.settings.default_conductor_group.lower()
    given = {name: value for name, value in values.items() if name in known and name not in _OF_CREATION}
    for rule in dict.fromkeys(rule_of(name, value) for name, value in given.items() if value != usual[name]):
        access.require_right(request, rule, values.get("owner"), values.get("lessee"))
