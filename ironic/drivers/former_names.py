"""Names of hardware types and interfaces that the reference once had, and what replaces a name that is not here.

Configurations live longer than releases: such a name is skipped at the start, and the log says what to use instead.
The reference removed them in its releases 10 to 36.
"""

from collections.abc import Mapping
from typing import Final

HARDWARE_TYPES: Final[frozenset[str]] = frozenset(
    {
        "cisco-ucs-managed",
        "cisco-ucs-standalone",
        "ibmc",
        "ilo",
        "ilo5",
        "irmc",
        "oneview",
        "snmp",
        "xclarity",
    }
)

INTERFACES: Final[Mapping[str, frozenset[str]]] = {
    "bios": frozenset({"ibmc", "idrac-wsman", "ilo", "irmc"}),
    "boot": frozenset({"ilo-ipxe", "ilo-pxe", "ilo-uefi-https", "ilo-virtual-media", "irmc-pxe", "irmc-virtual-media"}),
    "console": frozenset({"ilo", "ipmitool-shellinabox"}),
    "deploy": frozenset({"iscsi", "oneview-direct", "oneview-iscsi"}),
    "firmware": frozenset(),
    "inspect": frozenset({"idrac", "idrac-wsman", "ilo", "irmc", "oneview"}),
    "management": frozenset(
        {"cimc", "ibmc", "idrac", "idrac-wsman", "ilo", "ilo5", "irmc", "oneview", "ucsm", "xclarity"}
    ),
    "network": frozenset(),
    "power": frozenset({"cimc", "ibmc", "idrac", "idrac-wsman", "ilo", "irmc", "oneview", "snmp", "ucsm", "xclarity"}),
    "raid": frozenset({"ibmc", "idrac", "idrac-wsman", "ilo5", "irmc"}),
    "rescue": frozenset(),
    "storage": frozenset(),
    "vendor": frozenset({"ibmc", "idrac", "idrac-wsman", "ilo", "irmc"}),
}

# Vendors whose machines the standard protocol serves.
_BY_REDFISH: Final = frozenset({"cimc", "cisco", "ibmc", "idrac", "ilo", "ilo5", "irmc", "oneview", "ucsm", "xclarity"})
_BY_NAME: Final[Mapping[str, str]] = {
    "ansible": "use direct",
    "anaconda": "use direct or ramdisk",
    "bootc": "use direct",
    "iscsi": "use direct",
    "oneview-direct": "use direct",
    "oneview-iscsi": "use direct",
    "ipmitool-shellinabox": "use ipmitool-socat",
    "snmp": "nothing replaces it here",
}


def way_on(name: str) -> str:
    """Return what to use in place of a name, or to remove it."""
    if name not in _BY_NAME and name.partition("-")[0] in _BY_REDFISH:
        return "use hardware type redfish and its interfaces"
    return _BY_NAME.get(name, "remove it")
