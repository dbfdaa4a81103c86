"""Network interfaces in inspection data under the names that clients of the standalone inspector read.

`interface list` and `interface show` of the stock client read `all_interfaces` and nothing else. The present names stay
beside the old ones. What a ramdisk reports under these names may be of any type.
"""

from collections.abc import Mapping
from typing import Any, Final

_NAMES: Final[Mapping[str, str]] = {"mac": "mac_address", "client_id": "client_id", "pxe": "pxe_enabled"}
_LISTS: Final = ("all_interfaces", "interfaces")


def with_old_names(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of processed data with the old names of interfaces and their LLDP data."""
    lldp = document.get("parsed_lldp")
    renamed = {
        key: {
            name: {**one, **_old(one, lldp.get(name) if isinstance(lldp, Mapping) else None)}
            for name, one in found.items()
            if isinstance(one, Mapping)
        }
        for key in _LISTS
        if isinstance(found := document.get(key), Mapping)
    }
    return {**document, **renamed}


def _old(interface: Mapping[str, Any], lldp: object) -> dict[str, Any]:
    named = {old: interface.get(new) for old, new in _NAMES.items()}
    named["ip"] = interface.get("ipv4_address") or interface.get("ipv6_address")
    return named | ({"lldp_processed": lldp} if isinstance(lldp, Mapping) else {})
