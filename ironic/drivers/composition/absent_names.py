"""Names of hardware types and interfaces that the reference has or once had, and this service does not have.

Configurations live longer than releases. Enabling such a name is no fault: it is skipped at the start with a warning,
which says what to use instead. A name that the reference has is not implemented yet; delete its row when it is: a test
checks that no name is both here and an entry point. Former names were removed in releases 10 to 36 of the reference.
Source: doc/contract/drivers.md#names-of-entry-points.
"""

from dataclasses import dataclass
from typing import Final

TYPE: Final = "hardware type"

_REMOVE: Final = "remove it"
_REDFISH: Final = "use hardware type redfish and its interfaces"
_DIRECT: Final = "use direct"
# Vendors whose machines the standard protocol serves.
_BY_REDFISH: Final = frozenset({"cimc", "cisco", "ibmc", "idrac", "ilo", "ilo5", "irmc", "oneview", "ucsm", "xclarity"})


@dataclass(frozen=True, slots=True)
class AbsentName:
    """A name, what bears it (kinds of interface, or `TYPE`), and what becomes of an option with it."""

    name: str
    kinds: tuple[str, ...]
    is_former: bool = False
    instead: str = ""
    # Without the interface that was asked for, a tenant's machine would be on another network, or without its volumes.
    is_never_skipped: bool = False


def _former(name: str, *kinds: str, instead: str = "") -> AbsentName:
    return AbsentName(name, kinds, is_former=True, instead=instead)


_NAMES: Final = (
    AbsentName("idrac", (TYPE,)),
    AbsentName("idrac-redfish", ("bios", "inspect", "management", "power", "raid", "vendor")),
    AbsentName("idrac-redfish-virtual-media", ("boot",)),
    AbsentName("anaconda", ("deploy",), instead="use direct or ramdisk"),
    AbsentName("ansible", ("deploy",), instead=_DIRECT),
    AbsentName("bootc", ("deploy",), instead=_DIRECT),
    *(AbsentName(name, ("network",), is_never_skipped=True) for name in ("flat", "ironic-networking", "neutron")),
    *(AbsentName(name, ("storage",), is_never_skipped=True) for name in ("cinder", "external")),
    *(_former(name, TYPE) for name in ("cisco-ucs-managed", "cisco-ucs-standalone")),
    _former("cimc", "management", "power"),
    _former("ibmc", TYPE, "bios", "management", "power", "raid", "vendor"),
    _former("idrac", "inspect", "management", "power", "raid", "vendor"),
    _former("idrac-wsman", "bios", "inspect", "management", "power", "raid", "vendor"),
    _former("ilo", TYPE, "bios", "console", "inspect", "management", "power", "vendor"),
    _former("ilo5", TYPE, "management", "raid"),
    *(_former(name, "boot") for name in ("ilo-ipxe", "ilo-pxe", "ilo-uefi-https", "ilo-virtual-media")),
    _former("irmc", TYPE, "bios", "inspect", "management", "power", "raid", "vendor"),
    *(_former(name, "boot") for name in ("irmc-pxe", "irmc-virtual-media")),
    _former("oneview", TYPE, "inspect", "management", "power"),
    *(_former(name, "deploy", instead=_DIRECT) for name in ("iscsi", "oneview-direct", "oneview-iscsi")),
    _former("ipmitool-shellinabox", "console", instead="use ipmitool-socat"),
    _former("snmp", TYPE, "power", instead="nothing replaces it here"),
    _former("ucsm", "management", "power"),
    _former("xclarity", TYPE, "management", "power"),
)


def names(kind: str, *, former: bool | None = None) -> frozenset[str]:
    """Return the names of a kind of interface, or of `TYPE`; of one sort only if ``former`` says which."""
    return frozenset(row.name for row in _NAMES if kind in row.kinds and former in (None, row.is_former))


def is_never_skipped(kind: str, name: str) -> bool:
    """Return whether an option that asks for the name is a fault all the same."""
    return any(row.is_never_skipped for row in _NAMES if row.name == name and kind in row.kinds)


def instead_of(name: str) -> str:
    """Return what to use in place of a name, or to remove it."""
    if advice := next((row.instead for row in _NAMES if row.name == name and row.instead), None):
        return advice
    return _REDFISH if name.partition("-")[0] in _BY_REDFISH else _REMOVE
