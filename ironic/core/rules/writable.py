"""What rules may write: what an administrator's PATCH may change, as the model has it.

State, power, reservation, identity (uuid, id) and the marks of the service itself are written by nobody there, so no
rule reaches them. Left out as well: a port's node and port group. What decides whose a node is, where it belongs and
how it is managed is written by rules, but never made from what a machine reported (`LITERAL`).
"""

from collections.abc import Collection, Mapping
from typing import Final

from ironic.core import network_data, states
from ironic.core.model.fields import REQUIRED, Field
from ironic.core.model.node import Node
from ironic.core.model.port import Port
from ironic.core.rules.faults import RuleFault
from ironic.core.rules.paths import Path

NODE: Final[Mapping[str, Field]] = Node.writable("rules")
PORT: Final[Mapping[str, Field]] = Port.writable("rules")
LITERAL: Final[frozenset[Path]] = Node.table.literal

_PROTECTABLE: Final = frozenset({states.ACTIVE, states.RESCUE})
_FREE: Final = "extra"


def inconsistency(node: Mapping[str, object], touched: Collection[str]) -> str | None:
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


def checked(field: Field, value: object) -> object:
    """Return a value as the field stores it, or raise RuleFault; truth values have no words here."""
    kind = (field.by_rules or field.type).strict
    if value is None and field.nullable and field.empty is None and not field.only_removed:
        return None
    try:
        return kind.validate(value)
    except ValueError:
        raise RuleFault(f"takes {kind.noun}") from None


def emptied(field: Field) -> object:
    """Return what is left of a field that a rule removes, or raise RuleFault when there has to be a value."""
    if field.empty is REQUIRED:
        raise RuleFault("can't be removed")
    return field.empty


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
