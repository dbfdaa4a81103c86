"""The form of network data, which a node may carry for its ramdisk and its instance."""

from typing import Any, Final

_PARTS: Final = ("links", "networks", "services")
_NAMED: Final = ("links", "networks")


def fault(document: Any) -> str | None:
    """Return what is wrong with network data, None when nothing is; without any nothing is."""
    if not document:
        return None
    if document.keys() - set(_PARTS) or any(not isinstance(document.get(part), list) for part in _PARTS):
        return "network_data must be {} or have the lists links, networks and services"
    for part in _NAMED:
        if any(not isinstance(item, dict) or not isinstance(item.get("id"), str) for item in document[part]):
            return f"every item of network_data {part} must be an object with an id"
    return None
