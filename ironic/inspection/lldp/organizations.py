"""Values that IEEE 802.1 and 802.3 add to LLDP: VLANs, link aggregation, auto-negotiation, frame size.

Each reader is a pure function from bytes to named facts; too few bytes give none. Names and bits are those of
doc/contract/inspection.md#lldp.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ironic.inspection.lldp.identifiers import text

Facts = dict[str, Any]
Reader = Callable[[bytes], Facts]

DOT1: Final = bytes.fromhex("0080c2")
DOT3: Final = bytes.fromhex("00120f")

# By bit, the most significant first.
AUTONEGOTIATION_WORDS: Final = {
    14: "10BASE-T hdx",
    13: "10BASE-T fdx",
    12: "10BASE-T4",
    11: "100BASE-TX hdx",
    10: "100BASE-TX fdx",
    9: "100BASE-T2 hdx",
    8: "100BASE-T2 fdx",
    7: "PAUSE fdx",
    6: "Asym PAUSE fdx",
    5: "Sym PAUSE fdx",
    4: "Asym and Sym PAUSE fdx",
    3: "1000BASE-X hdx",
    2: "1000BASE-X fdx",
    1: "1000BASE-T hdx",
    0: "1000BASE-T fdx",
}


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def untagged_vlan(data: bytes) -> Facts:
    """Read the VLAN of untagged packets."""
    return {"switch_port_untagged_vlan_id": _number(data[:2])} if len(data) >= 2 else {}


def protocol_vlan(data: bytes) -> Facts:
    """Read whether VLANs are told apart by protocol, and one of them."""
    if len(data) < 3:
        return {}
    found: Facts = {
        "switch_port_protocol_vlan_support": bool(data[0] & 2),
        "switch_port_protocol_vlan_enabled": bool(data[0] & 4),
    }
    if vlan := _number(data[1:3]):
        found["switch_port_protocol_vlan_ids"] = [vlan]
    return found


def vlan_name(data: bytes) -> Facts:
    """Read a VLAN with its name."""
    if len(data) < 3 or len(data) < 3 + data[2]:
        return {}
    return {"switch_port_vlans": [{"id": _number(data[:2]), "name": text(data[3 : 3 + data[2]]) or ""}]}


def protocol_identity(data: bytes) -> Facts:
    """Read the first bytes of a protocol that the port speaks."""
    if not data or not data[0] or len(data) < 1 + data[0]:
        return {}
    return {"switch_protocol_identities": [data[1 : 1 + data[0]].hex()]}


def management_vlan(data: bytes) -> Facts:
    """Read the VLAN that the switch is managed in."""
    return {"switch_port_management_vlan_id": _number(data[:2])} if len(data) >= 2 else {}


def link_aggregation(data: bytes) -> Facts:
    """Read whether the port is part of a bundle, and of which."""
    if len(data) < 5:
        return {}
    return {
        "switch_port_link_aggregation_support": bool(data[0] & 1),
        "switch_port_link_aggregation_enabled": bool(data[0] & 2),
        "switch_port_link_aggregation_id": _number(data[1:5]),
    }


def autonegotiation(data: bytes) -> Facts:
    """Read what speeds the port may agree on."""
    if len(data) < 5:
        return {}
    bits = _number(data[1:3])
    return {
        "switch_port_autonegotiation_support": bool(data[0] & 1),
        "switch_port_autonegotiation_enabled": bool(data[0] & 2),
        "switch_port_physical_capabilities": sorted(
            word for bit, word in AUTONEGOTIATION_WORDS.items() if bits & 1 << bit
        ),
        "switch_port_mau_type": _number(data[3:5]),
    }


def frame_size(data: bytes) -> Facts:
    """Read how long packets may be."""
    return {"switch_port_mtu": _number(data[:2])} if len(data) >= 2 else {}


READERS: Final[Mapping[tuple[bytes, int], Reader]] = {
    (DOT1, 1): untagged_vlan,
    (DOT1, 2): protocol_vlan,
    (DOT1, 3): vlan_name,
    (DOT1, 4): protocol_identity,
    (DOT1, 6): management_vlan,
    (DOT1, 7): link_aggregation,
    (DOT3, 1): autonegotiation,
    (DOT3, 3): link_aggregation,
    (DOT3, 4): frame_size,
}


def read(data: bytes) -> Facts:
    """Return what an organization's value says; nothing for organizations and subtypes that nobody reads."""
    reader = READERS.get((data[:3], data[3])) if len(data) >= 4 else None
    return reader(data[4:]) if reader else {}
