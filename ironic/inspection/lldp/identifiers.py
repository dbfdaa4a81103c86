"""Who a switch or one of its ports says it is: addresses and names, with a subtype in front.

Pure functions of bytes; None for what can't be read. Subtypes: doc/contract/inspection.md#lldp.
"""

import ipaddress
from typing import Final

_MAC_LENGTH: Final = 6
_FAMILIES: Final = {1: 4, 2: 16, 6: _MAC_LENGTH}  # IANA number of an address family: length of an address
_CHASSIS_MAC: Final = 4
_CHASSIS_ADDRESS: Final = 5
_CHASSIS_TEXTS: Final = frozenset({1, 2, 3, 6, 7})
_PORT_MAC: Final = 3
_PORT_ADDRESS: Final = 4
_PORT_TEXTS: Final = frozenset({1, 2, 5, 7})


def mac(data: bytes) -> str | None:
    """Return a MAC address."""
    return data.hex(":") if len(data) == _MAC_LENGTH else None


def text(data: bytes) -> str | None:
    """Return text without what databases and terminals can't take."""
    try:
        found = data.decode("utf-8").rstrip("\x00")
    except UnicodeDecodeError:
        return None
    return found if found and "\x00" not in found else None


def address(data: bytes) -> str | None:
    """Return an address that follows the number of its family."""
    if not data or _FAMILIES.get(data[0]) != len(data) - 1:
        return None
    if data[0] == 6:
        return mac(data[1:])
    return str(ipaddress.ip_address(data[1:]))


def chassis(data: bytes) -> str | None:
    """Return how a switch names itself."""
    return _identifier(data, _CHASSIS_MAC, _CHASSIS_ADDRESS, _CHASSIS_TEXTS)


def chassis_mac(data: bytes) -> str | None:
    """Return the MAC address that a switch names itself by, None when it uses another name."""
    return mac(data[1:]) if data[:1] == bytes([_CHASSIS_MAC]) else None


def port(data: bytes) -> str | None:
    """Return how a switch names one of its ports."""
    return _identifier(data, _PORT_MAC, _PORT_ADDRESS, _PORT_TEXTS)


def management_address(data: bytes) -> str | None:
    """Return an address that a switch can be managed at: a length, then the address with its family."""
    if not data or len(data) < 1 + data[0]:
        return None
    return address(data[1 : 1 + data[0]])


def _identifier(data: bytes, as_mac: int, as_address: int, as_text: frozenset[int]) -> str | None:
    if not data:
        return None
    subtype, value = data[0], data[1:]
    if subtype == as_mac:
        return mac(value)
    if subtype == as_address:
        return address(value)
    return text(value) if subtype in as_text else None
