"""The form of network data, as OpenStack publishes it for instances: links, networks and services.

Every part that is there is checked, and only names of links that drivers invent are free. Parts may be missing, because
ramdisks do with less than the published form asks for.
"""

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from ironic.core.texts import syntax

_LISTS: Final = ("links", "networks", "services")

Fits: TypeAlias = Callable[[object], bool]
_Rules: TypeAlias = Mapping[str, tuple[str, Fits]]


def fault(document: object) -> str | None:
    """Return what is wrong with network data; None when it is valid or empty."""
    if not document:
        return None
    if (
        not isinstance(document, Mapping)
        or document.keys() - set(_LISTS)
        or any(not isinstance(document.get(part), list) for part in _LISTS)
    ):
        return "network_data must be {} or have the lists links, networks and services"
    for part in ("links", "networks"):
        if any(not isinstance(item, Mapping) or not isinstance(item.get("id"), str) for item in document[part]):
            return f"every item of network_data {part} must be an object with an id"
    return next(_faults(document), None)


def _faults(document: Mapping[str, list[object]]) -> Iterator[str]:
    for number, link in enumerate(document["links"]):
        yield from _of_item(f"links/{number}", link, _LINK)
    for number, network in enumerate(document["networks"]):
        kind = network.get("type") if isinstance(network, Mapping) else None
        rules = _NETWORK | _OF_FAMILY[4 if str(kind or "ipv4").startswith("ipv4") else 6]
        yield from _of_item(f"networks/{number}", network, rules)
    for number, service in enumerate(document["services"]):
        yield from _of_item(f"services/{number}", service, _SERVICE)


def _of_item(where: str, item: object, rules: _Rules) -> Iterator[str]:
    if not isinstance(item, Mapping):
        yield f"network_data {where} must be an object"
        return
    for name, (wanted, fits) in rules.items():
        if item.get(name) is not None and not fits(item[name]):
            yield f"{name} of network_data {where} must be {wanted}"
    for name, inner in _INNER.items():
        several = item.get(name)
        if name in rules and isinstance(several, list):
            for number, one in enumerate(several):
                yield from _of_item(f"{where}/{name}/{number}", one, {key: rules[key] for key in inner if key in rules})


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_mac(value: object) -> bool:
    return isinstance(value, str) and syntax.MAC.fullmatch(value.lower()) is not None


def _is_number(least: int, most: int) -> Fits:
    """Return a check for a whole number; programs write it as text as well."""

    def fits(value: object) -> bool:
        if isinstance(value, str) and len(value) <= len(str(most)) and value.isascii() and value.isdigit():
            value = int(value)
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return fits


def _is_address(family: int | None, *, prefix: bool = False) -> Fits:
    """Return a check for an IP address of a family (None: any), which may have the length of its prefix."""

    def fits(value: object) -> bool:
        if not isinstance(value, str) or (not prefix and "/" in value):
            return False
        try:
            found = ipaddress.ip_interface(value)
        except ValueError:
            return False
        return family is None or found.version == family

    return fits


_ID: Final = ("text", _is_text)
_ADDRESS_OF_SERVICE: Final = ("an IP address", _is_address(None))

_LINK: Final[_Rules] = {
    "type": _ID,
    "vif_id": _ID,
    "ethernet_mac_address": ("a MAC address", _is_mac),
    "mtu": ("a whole number", _is_number(1, 65535)),
    "bond_links": ("a list of ids", _is_texts),
    "bond_miimon": ("a whole number", _is_number(0, 1_000_000)),
    "vlan_id": ("a whole number up to 4095", _is_number(0, 4095)),
    "vlan_link": _ID,
    "vlan_mac_address": ("a MAC address", _is_mac),
}
_TYPES: Final = frozenset(
    ("ipv4", "ipv4_dhcp", "ipv6", "ipv6_dhcp", "ipv6_slaac", "ipv6_dhcpv6-stateful", "ipv6_dhcpv6-stateless")
)
_NETWORK: Final[dict[str, tuple[str, Fits]]] = {
    "type": (f"one of {', '.join(sorted(_TYPES))}", lambda value: value in _TYPES if _is_text(value) else False),
    "link": _ID,
    "network_id": _ID,
    "routes": ("a list", _is_list),
    "services": ("a list", _is_list),
    "address": _ADDRESS_OF_SERVICE,
}
_V4: Final = ("an IPv4 address", _is_address(4))
_V6: Final = ("an IPv6 address", _is_address(6))
_PREFIX: Final = _is_number(0, 128)
_V6_NETMASK: Final = ("an IPv6 netmask or the length of a prefix", lambda value: _V6[1](value) or _PREFIX(value))
_OF_FAMILY: Final[Mapping[int, dict[str, tuple[str, Fits]]]] = {
    4: dict.fromkeys(("ip_address", "netmask", "network", "gateway"), _V4),
    6: {
        "ip_address": ("an IPv6 address, with its prefix or without", _is_address(6, prefix=True)),
        "network": ("an IPv6 network", _is_address(6, prefix=True)),
        "netmask": _V6_NETMASK,
        "gateway": _V6,
    },
}
_SERVICE: Final[_Rules] = {"type": _ID, "address": _ADDRESS_OF_SERVICE}
# The lists within a network, and which rules their items have.
_INNER: Final = {"routes": ("network", "netmask", "gateway", "services"), "services": ("address",)}
