"""The inspection data as the standalone inspector arranged them: one document, with the inventory as one of its keys.

Everything in the plug-in data is at the top, beside the names under which the standalone inspector kept parts of the
inventory. What the ramdisk or a hook reports under one of these names wins. Parts are shared with the arguments, not
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
_INTERFACES: Final = "interfaces"
_VALID: Final = "valid_interfaces"


def inspected_data(
    inventory: Mapping[str, Any], plugin_data: Mapping[str, Any], *, auto_discovered: bool = False
) -> dict[str, Any]:
    """Return the document that `data://` and `{data[...]}` refer to."""
    derived = {name: value for name, path in OF_INVENTORY.items() if (value := find(inventory, path)) is not None}
    if _VALID in plugin_data:
        derived[_INTERFACES] = plugin_data[_VALID]
    return {**derived, "auto_discovered": auto_discovered, **plugin_data, "inventory": inventory}
