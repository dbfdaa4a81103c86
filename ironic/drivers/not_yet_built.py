"""Names that an operator's configuration may hold and this service does not have yet.

They are the reference's names minus our own entry points, see doc/contract/drivers.md#names-of-entry-points. Enabling
one is no fault: it is skipped with a warning, so that a configuration written for later starts today. Who builds one of
them deletes its name here; a test keeps this list and the entry points apart.
"""

from collections.abc import Mapping
from typing import Final

HARDWARE_TYPES: Final[frozenset[str]] = frozenset({"idrac", "intel-ipmi", "ipmi"})

INTERFACES: Final[Mapping[str, frozenset[str]]] = {
    "bios": frozenset({"idrac-redfish", "redfish"}),
    "boot": frozenset(
        {
            "idrac-redfish-virtual-media",
            "redfish-https",
            "redfish-virtual-media",
        }
    ),
    "console": frozenset({"fake-graphical", "ipmitool-socat", "redfish-graphical"}),
    "deploy": frozenset({"anaconda", "ansible", "bootc"}),
    "firmware": frozenset({"redfish"}),
    "inspect": frozenset({"idrac-redfish"}),
    "management": frozenset({"idrac-redfish", "intel-ipmitool", "ipmitool"}),
    "network": frozenset({"flat", "ironic-networking", "neutron"}),
    "power": frozenset({"idrac-redfish", "ipmitool"}),
    "raid": frozenset({"idrac-redfish", "redfish"}),
    "rescue": frozenset(),
    "storage": frozenset({"cinder", "external"}),
    "vendor": frozenset({"idrac-redfish", "ipmitool", "redfish"}),
}
