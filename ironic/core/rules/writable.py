"""What rules may write: what an administrator's PATCH may change.

State, power, reservation, identity (uuid, id) and the marks of the service itself are in no table here, so no rule
reaches them. Left out as well: a port's port group. A checker returns the value as it is stored, or raises RuleFault.
Source: facts/fields.yaml.

What decides whose a node is, where it belongs and how it is managed is written by rules, but never made from what a
machine reported (`LITERAL`): a machine could lie itself into the hands of another project.
"""

import re
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ironic.core import network_data, states
from ironic.core.interface_kinds import KINDS, interface_field
from ironic.core.rules.faults import RuleFault
from ironic.core.rules.paths import Path

Check = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """One writable field: how its values are checked, and what is left when a rule removes it."""

    check: Check
    empty: Any = None
    removable: bool = True


_NAME: Final = re.compile(r"[A-Za-z0-9._~-]{1,255}")
_PROTECTABLE: Final = frozenset({states.ACTIVE, states.RESCUE})
_LONGEST_REASON: Final = 65_535
_MAC: Final = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")


def _object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise RuleFault("takes an object")
    return value


def _flag(value: Any) -> Any:
    if not isinstance(value, bool):
        raise RuleFault("takes true or false")
    return value


def _flag_or_null(value: Any) -> Any:
    return None if value is None else _flag(value)


def _text(longest: int, *, shortest: int = 0, nullable: bool = True) -> Check:
    def check(value: Any) -> Any:
        if value is None and nullable:
            return None
        if not isinstance(value, str) or not shortest <= len(value) <= longest:
            raise RuleFault(f"takes text of {shortest} to {longest} characters")
        return value

    return check


def _lower(check: Check) -> Check:
    return lambda value: check(value).lower()


def _is_uuid(value: Any) -> bool:
    try:
        uuid.UUID(value)
    except (ValueError, TypeError, AttributeError):
        return False
    return True


def _uuid(value: Any) -> Any:
    if value is not None and not _is_uuid(value):
        raise RuleFault("takes a UUID")
    return value


def _logical_name(value: Any) -> Any:
    if not isinstance(value, str) or not _NAME.fullmatch(value) or _is_uuid(value):
        raise RuleFault("takes a logical name: letters, digits, '-', '.', '_' or '~', not shaped like a UUID")
    return value


def _mac(value: Any) -> Any:
    if not isinstance(value, str) or not _MAC.fullmatch(value.lower()):
        raise RuleFault("takes a MAC address")
    return value.lower()


_INTERFACES: Final = {interface_field(kind): Field(_text(255)) for kind in KINDS}

NODE: Final[Mapping[str, Field]] = _INTERFACES | {
    "automated_clean": Field(_flag_or_null),
    "chassis_uuid": Field(_uuid),
    "conductor_group": Field(_lower(_text(255, nullable=False)), ""),
    "description": Field(_text(4096)),
    "disable_power_off": Field(_flag, False),
    "driver": Field(_text(255, shortest=1, nullable=False), removable=False),
    "driver_info": Field(_object, {}),
    "extra": Field(_object, {}),
    "instance_info": Field(_object, {}),
    "instance_name": Field(_text(255, shortest=1)),
    "instance_uuid": Field(_uuid),
    "lessee": Field(_text(255)),
    "maintenance": Field(_flag, False),
    "name": Field(_logical_name),
    "network_data": Field(_object, {}),
    "owner": Field(_text(255)),
    "parent_node": Field(_text(255)),
    "protected": Field(_flag, False),
    "protected_reason": Field(_text(_LONGEST_REASON)),
    "properties": Field(_object, {}),
    "resource_class": Field(_text(80)),
    "retired": Field(_flag, False),
    "retired_reason": Field(_text(255)),
    "shard": Field(_text(255)),
}

PORT: Final[Mapping[str, Field]] = {
    "address": Field(_mac, removable=False),
    "available_for_dynamic_portgroup": Field(_flag, True),
    "category": Field(_text(80)),
    "description": Field(_text(255)),
    "extra": Field(_object, {}),
    "is_smartnic": Field(_flag, False),
    "local_link_connection": Field(_object, {}),
    "name": Field(_text(255)),
    "physical_network": Field(_text(64, shortest=1)),
    "pxe_enabled": Field(_flag, True),
    "vendor": Field(_text(32)),
}


# Right and place: whose the node is, who may undo or delete it, which service, conductor and rules have it, and through
# which code and network it is managed. The scope of inspection chooses rules, and those may hold passwords.
LITERAL: Final[frozenset[Path]] = frozenset(
    {
        ("owner",),
        ("lessee",),
        ("protected",),
        ("retired",),
        ("instance_uuid",),
        ("conductor_group",),
        ("shard",),
        ("chassis_uuid",),
        ("parent_node",),
        ("driver",),
        ("automated_clean",),
        ("disable_power_off",),
        ("properties", "inspection_scope"),
        *((name,) for name in _INTERFACES),
    }
)
_FREE: Final = "extra"


def inconsistency(node: Mapping[str, Any], touched: Collection[str]) -> str | None:
    """Return why a node can't be as rules have left it, None when it can; touched fields are looked at only."""
    if "network_data" in touched and (wrong := network_data.fault(node.get("network_data"))):
        return wrong
    if "protected" in touched and node.get("protected") and node.get("provision_state") not in _PROTECTABLE:
        return "only active and rescued nodes can be protected"
    if "protected_reason" in touched and node.get("protected_reason") is not None and not node.get("protected"):
        return "protected_reason needs protected to be true"
    if "retired_reason" in touched and node.get("retired_reason") is not None and not node.get("retired"):
        return "retired_reason needs retired to be true"
    return None


def field_of(table: Mapping[str, Field], owner: str, path: Path) -> Field:
    """Return the field that a path begins with, or raise RuleFault."""
    field = table.get(path[0])
    if field is None:
        raise RuleFault(f"rules can't write field '{path[0][:80]}' of a {owner}")
    return field


def allowed_reported(path: Path) -> None:
    """Refuse a path in which a machine reported a key, unless it is one of those below extra."""
    if path[0] != _FREE or len(path) == 1:
        raise RuleFault(
            f"what a machine reported is no part of a path, but for keys below {_FREE} and in the plug-in data"
        )


def allowed_on_node(path: Path) -> None:
    """Refuse a path that leads to no writable field of a node."""
    field_of(NODE, "node", path)


def allowed_on_port(path: Path) -> None:
    """Refuse a path that leads to no writable field of a port."""
    field_of(PORT, "port", path)


def allowed_in_plugin_data(path: Path) -> None:
    """Let every path into the plug-in data pass."""
