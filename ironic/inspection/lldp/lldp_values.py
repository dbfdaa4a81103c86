"""Values in LLDP frames: chassis and port identifiers, and the IEEE 802.1 and 802.3 extensions.

All functions are pure functions of bytes. The first ones return text, or None for bytes that can't be decoded; the
decoders of extensions return named facts, none when there are too few bytes. Subtypes, names and bits:
doc/contract/inspection.md#lldp.
"""

import ipaddress
from collections.abc import Callable, Mapping
from typing import Any, Final

_MAC_LENGTH: Final = 6
_FAMILIES: Final = {1: 4, 2: 16, 6: _MAC_LENGTH}  # IANA number of an address family: length of an address
_CHASSIS_MAC: Final = 4
_CHASSIS_ADDRESS: Final = 5
_CHASSIS_TEXTS: Final = frozenset({1, 2, 3, 6, 7})
_PORT_MAC: Final = 3
_PORT_ADDRESS: Final = 4
_PORT_TEXTS: Final = frozenset({1, 2, 5, 7})

Facts = dict[str, Any]
Reader = Callable[[bytes], Facts]

DOT1: Final = bytes.fromhex("0080c2")
DOT3: Final = bytes.fromhex("00120f")


def mac_text(data: bytes) -> str | None:
    """Return a MAC address of six bytes."""
    return data.hex(":") if len(data) == _MAC_LENGTH else None


def plain_text(data: bytes) -> str | None:
    """Return UTF-8 text without trailing zero bytes; None when it is empty or has others."""
    try:
        found = data.decode("utf-8").rstrip("\x00")
    except UnicodeDecodeError:
        return None
    return found if found and "\x00" not in found else None


def address_text(data: bytes) -> str | None:
    """Return an IP or MAC address; the first byte is the number of its family."""
    if not data or _FAMILIES.get(data[0]) != len(data) - 1:
        return None
    if data[0] == 6:
        return mac_text(data[1:])
    return str(ipaddress.ip_address(data[1:]))


def chassis_id(data: bytes) -> str | None:
    """Return the chassis id of a switch."""
    return _identifier(data, _CHASSIS_MAC, _CHASSIS_ADDRESS, _CHASSIS_TEXTS)


def chassis_mac(data: bytes) -> str | None:
    """Return the chassis id when it is a MAC address, None otherwise."""
    return mac_text(data[1:]) if data[:1] == bytes([_CHASSIS_MAC]) else None


def port_id(data: bytes) -> str | None:
    """Return the port id of a switch port."""
    return _identifier(data, _PORT_MAC, _PORT_ADDRESS, _PORT_TEXTS)


def management_addresses(data: bytes) -> Facts:
    """Return the management address of a switch: a length, then the address with its family."""
    if not data or len(data) < 1 + data[0]:
        return {}
    address = address_text(data[1 : 1 + data[0]])
    return {} if address is None else {"switch_mgmt_addresses": [address]}


def _identifier(data: bytes, as_mac: int, as_address: int, as_text: frozenset[int]) -> str | None:
    if not data:
        return None
    subtype, value = data[0], data[1:]
    if subtype == as_mac:
        return mac_text(value)
    if subtype == as_address:
        return address_text(value)
    return plain_text(value) if subtype in as_text else None


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
    """Return the VLAN of untagged frames."""
    return {"switch_port_untagged_vlan_id": _number(data[:2])} if len(data) >= 2 else {}


def protocol_vlan(data: bytes) -> Facts:
    """Return whether VLANs by protocol are supported and enabled, and the id of one."""
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
    """Return the id and name of a VLAN."""
    if len(data) < 3 or len(data) < 3 + data[2]:
        return {}
    return {"switch_port_vlans": [{"id": _number(data[:2]), "name": plain_text(data[3 : 3 + data[2]]) or ""}]}


def protocol_identity(data: bytes) -> Facts:
    """Return the first bytes of a protocol that the port supports, in hexadecimal."""
    if not data or not data[0] or len(data) < 1 + data[0]:
        return {}
    return {"switch_protocol_identities": [data[1 : 1 + data[0]].hex()]}


def management_vlan(data: bytes) -> Facts:
    """Return the management VLAN of the switch."""
    return {"switch_port_management_vlan_id": _number(data[:2])} if len(data) >= 2 else {}


def link_aggregation(data: bytes) -> Facts:
    """Return whether link aggregation is supported and enabled, and the id of the aggregated link."""
    if len(data) < 5:
        return {}
    return {
        "switch_port_link_aggregation_support": bool(data[0] & 1),
        "switch_port_link_aggregation_enabled": bool(data[0] & 2),
        "switch_port_link_aggregation_id": _number(data[1:5]),
    }


def autonegotiation(data: bytes) -> Facts:
    """Return support and state of auto-negotiation, the modes that the port offers, and its MAU type."""
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
    """Return the largest frame size."""
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


def read_organization_value(data: bytes) -> Facts:
    """Return the facts of an organizationally specific value; none for unknown organizations and subtypes."""
    reader = READERS.get((data[:3], data[3])) if len(data) >= 4 else None
    return reader(data[4:]) if reader else {}
