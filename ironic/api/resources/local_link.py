"""Where a port is plugged in: the document `local_link_connection`.

Owns its form: which keys there are, which of them belong together, how the id of a switch is spelled. What a network
makes of it is the driver's. Source: facts/fields.yaml, port.
"""

import re
from typing import Any, Final

from ironic.api.types import Mac, Object, ValueType

_TEXTS: Final = ("port_id", "switch_info", "network_type", "hostname")
_DATAPATH: Final = re.compile(r"[0-9a-fA-F]{16}|[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){7}")
_UNMANAGED: Final = "unmanaged"


class LocalLink(Object):
    """Empty, or a port of a switch, or a port of a smart card by its host, or said to be unmanaged."""

    name = "local link connection"

    def __init__(self, *keys: str) -> None:
        self.keys = frozenset(keys)

    def at(self, minor: int) -> ValueType:
        """Smart cards came with 1.53."""
        return self if minor >= 53 else _BEFORE_1_53

    def validate(self, value: Any) -> Any:
        """Check the keys and their values, and spell the id of the switch in lower case."""
        given = dict(super().validate(value))
        if given.keys() - self.keys:
            raise ValueError(f"must have no other keys than {', '.join(sorted(self.keys))}")
        if any(not isinstance(given[key], str) for key in _TEXTS if key in given):
            raise ValueError("must have strings as values")
        if "switch_id" in given:
            given["switch_id"] = _switch_id(given["switch_id"])
        if given and not _is_complete(given):
            raise ValueError("must be {}, or have port_id and switch_id or hostname, or network_type unmanaged")
        return given


def _switch_id(value: Any) -> str:
    if isinstance(value, str) and _DATAPATH.fullmatch(value):
        return value.lower()
    try:
        spelled: str = Mac().validate(value)
    except ValueError:
        raise ValueError("must have a MAC address or a datapath id of 16 digits as switch_id") from None
    return spelled


def _is_complete(given: dict[str, Any]) -> bool:
    is_plugged = "port_id" in given and ("switch_id" in given or "hostname" in given)
    return is_plugged or given.get("network_type") == _UNMANAGED


_BEFORE_1_53: Final = LocalLink("port_id", "switch_id", "switch_info", "network_type")
LOCAL_LINK: Final = LocalLink("port_id", "switch_id", "switch_info", "network_type", "hostname")
