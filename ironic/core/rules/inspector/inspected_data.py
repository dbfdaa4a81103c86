"""The inspection data as the standalone inspector arranged them: one document, with the inventory as one of its keys.

Everything in the plug-in data is at the top, beside the names under which the standalone inspector kept parts of the
inventory. Interfaces have the names that its clients and rules read, beside the present ones. What the ramdisk or a
hook reports under one of these names wins, and may be of any type. Other parts are shared with the arguments, not
copied. Source: doc/contract/inspection.md#rules-of-the-standalone-inspector.
"""

from collections.abc import Mapping
from typing import Any, Final

from ironic.core.rules.paths import find

# Where the rule language has these keys.
OF_INVENTORY: Final[Mapping[str, tuple[str, ...]]] = {
    "memory_mb": ("memory", "physical_mb"),
    "cpus": ("cpu", "count"),
    "cpu_arch": ("cpu", "architecture"),
    "ipmi_address": ("bmc_address",),
    "ipmi_v6address": ("bmc_v6address",),
    "boot_interface": ("boot", "pxe_interface"),
}
_VALID: Final = "valid_interfaces"
# Facts about interfaces: all, and those that pass the checks.
INTERFACES: Final = ("all_interfaces", "interfaces")
# Old name -> present name in the facts of an interface; the address is that of IPv4, or else that of IPv6.
OF_INTERFACE: Final[Mapping[str, str]] = {"mac": "mac_address", "client_id": "client_id", "pxe": "pxe_enabled"}
ADDRESS: Final = "ip"
# What its switch says, by interface beside the interfaces now.
LLDP: Final = "lldp_processed"
PARSED_LLDP: Final = "parsed_lldp"


def inspected_data(
    inventory: Mapping[str, Any], plugin_data: Mapping[str, Any], *, auto_discovered: bool = False
) -> dict[str, Any]:
    """Return the document that `data://` and `{data[...]}` refer to."""
    derived = {name: value for name, path in OF_INVENTORY.items() if (value := find(inventory, path)) is not None}
    if _VALID in plugin_data:
        derived[INTERFACES[1]] = plugin_data[_VALID]
    document = {**derived, "auto_discovered": auto_discovered, **plugin_data, "inventory": inventory}
    for key in INTERFACES:
        if isinstance(found := document.get(key), Mapping):
            document[key] = {
                name: _with_old_names(name, one, document.get(PARSED_LLDP))
                for name, one in found.items()
                if isinstance(one, Mapping)
            }
    return document


def _with_old_names(name: str, interface: Mapping[str, Any], lldp: object) -> dict[str, Any]:
    named = {old: interface.get(new) for old, new in OF_INTERFACE.items()}
    named[ADDRESS] = interface.get("ipv4_address") or interface.get("ipv6_address")
    of_it = lldp.get(name) if isinstance(lldp, Mapping) else None
    return {**named, **({LLDP: of_it} if isinstance(of_it, Mapping) else {}), **interface}
