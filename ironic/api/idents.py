"""What may stand where a path names one thing.

The name of a wildcard in the route table (`{node}`) picks its check; a thing without one is named by its UUID. A
malformed name is refused before the handler is entered; the shape of that refusal differs per kind, as clients know it.
Whether the thing exists the handler will see.
"""

from collections.abc import Callable
from typing import Final

from ironic.api.errors import Abort
from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue

# Words that stand in the place of a node's name in some path, so a path with them is no path to a node.
NODE_PARTS: Final = frozenset(
    {"allocation", "bios", "children", "firmware", "history", "inventory", "maintenance", "management", "portgroups"}
    | {"ports", "states", "traits", "vendor_passthru", "vifs", "vmedia", "volume"}
)


def _node(text: str) -> None:
    if text in NODE_PARTS:
        raise Abort(404, "There is no such path: a node's name or UUID is missing.")
    if not syntax.is_name_or_uuid(text):
        raise Abort(400, "A node is named by its UUID or a logical name.")


def _portgroup(text: str) -> None:
    if not syntax.is_name_or_uuid(text):
        raise Abort(400, "A port group is named by its UUID or a logical name.")


def _name_or_uuid(text: str) -> None:
    if not syntax.is_name_or_uuid(text):
        raise InvalidParameterValue(err="The path has to name this by a UUID or a logical name.")


def _uuid(text: str) -> None:
    if not syntax.is_uuid(text):
        raise InvalidParameterValue(err="The path has to name this by its UUID.")


def _anything(text: str) -> None:
    # A name that is only compared: drivers, hosts. Some databases refuse to compare with this character.
    if "\0" in text:
        raise Abort(404, "There is no such path.")


_CHECKS: Final[dict[str, Callable[[str], None]]] = {
    "node": _node,
    "port": _name_or_uuid,
    "agent_node": _name_or_uuid,
    "allocation": _name_or_uuid,
    "template": _name_or_uuid,
    "runbook": _name_or_uuid,
    "trait": _anything,
    "portgroup": _portgroup,
    "driver": _anything,
    "hostname": _anything,
    "indicator": _anything,
    "setting": _anything,
    "vif": _name_or_uuid,
    "method": _anything,
    "entry": _anything,
    "shard": _anything,
}


def check(kind: str, text: str) -> None:
    """Refuse text that can't name a thing of this kind."""
    _CHECKS.get(kind, _uuid)(text)


def is_uuid(kind: str) -> bool:
    """Tell whether things of this kind are named by their UUID only."""
    return kind not in _CHECKS


def is_name(kind: str) -> bool:
    """Tell whether things of this kind are named by a UUID or a logical name."""
    return _CHECKS.get(kind) in (_node, _portgroup, _name_or_uuid)
