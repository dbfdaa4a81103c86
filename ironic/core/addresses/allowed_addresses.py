"""Decide which servers and addresses this service may contact for a URL named by a user, a machine or a rule.

The service would connect from its own place in the network (server-side request forgery). Addresses that mean something
else on this host than to the author of the URL are refused, also when embedded in an IPv6 address. Operators list
servers by host, port and scheme. Sources: RFC 6890 (special addresses), RFC 6052 (NAT64), RFC 3056 (6to4), RFC 4380
(Teredo), RFC 5214 (ISATAP).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from ironic.core.texts import syntax

PORTS: Final = {"http": 80, "https": 443}


class Server(NamedTuple):
    """One web server."""

    scheme: str
    host: str  # as urlsplit returns it: in lower case, an IPv6 address without brackets
    port: int

    @property
    def netloc(self) -> str:
        """Host and port in the form of the Host header."""
        host = syntax.host_in_url(self.host)
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def server_of(url: str) -> Server | None:
    """Return the web server of a URL; None for a URL without one."""
    if (parts := syntax.url_of(url, PORTS)) is None:
        return None
    try:
        host = (parts.hostname or "").encode("idna").decode()
    except UnicodeError:
        return None
    if not host or not host.isprintable() or " " in host or parts.port == 0:
        return None
    return Server(parts.scheme, host, parts.port or PORTS[parts.scheme])


def is_among(server: Server, named: Iterable[str]) -> bool:
    """Return whether a list names a server: by host, host:port or scheme://host[:port].

    Without a scheme and a port, any scheme and port match; with a scheme but no port, that scheme's default port does.
    """
    return any(_is_named(server, entry.strip()) for entry in named)


def _is_named(server: Server, entry: str) -> bool:
    # A host name may end with the dot of the DNS root.
    named_host = server.host.rstrip(".")
    if "://" in entry:
        meant = server_of(entry)
        return meant is not None and meant.host.rstrip(".") == named_host and meant[::2] == server[::2]
    try:
        parts = urlsplit(f"//[{entry}]" if entry.count(":") > 1 and "[" not in entry else f"//{entry}")
        port = parts.port
    except ValueError:
        return False
    return (parts.hostname or "").rstrip(".") == named_host and port in (None, server.port)


Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """What an operator allows: the loopback or not, and if any are given, only these networks."""

    allows_loopback: bool = False
    networks: tuple[Network, ...] = ()


# The metadata services of clouds, which return secrets; those at link-local addresses are refused anyway.
_METADATA: Final = tuple(
    map(
        ip_network,
        ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::/32", "fd20:ce::254", "fd00:42::42"),
    )
)
_THIS_NETWORK: Final = IPv4Network("0.0.0.0/8")
# Networks with an IPv4 address in the last 32 bits: compatible, mapped, translated, NAT64.
_LAST_BITS: Final = tuple(map(IPv6Network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
# The position of the IPv4 address in these is chosen by the site; all positions of RFC 6052 are checked.
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
_ISATAP: Final = 0x5EFE
_ISATAP_BITS: Final = 0xFDFFFFFF  # all but the bit that marks a public address


def fault_of(address: Address, policy: AddressPolicy) -> str | None:
    """Return why an address must not be contacted, in a few words; None when it may be."""
    for each in (address, *_inside(address)):
        if fault := _fault(each, policy):
            return fault
    plain = plain_form(address)
    if policy.networks and not any(plain in network for network in policy.networks):
        return "not in the networks of [outgoing]networks"
    return None


def plain_form(address: Address) -> Address:
    """Return the IPv4 address of an IPv4-mapped IPv6 address, any other address unchanged."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _fault(address: Address, policy: AddressPolicy) -> str | None:
    if address.is_link_local:
        return "a link-local address"
    if address.is_multicast:
        return "a multicast address"
    if address.is_unspecified or address in _THIS_NETWORK:
        return "an address that stands for this host"
    if any(address in network for network in _METADATA):
        return "the address of a metadata service"
    if isinstance(address, IPv4Address) and address.is_reserved:
        return "a reserved address"
    if address.is_loopback and not policy.allows_loopback:
        return "a loopback address, which [outgoing]allow_loopback forbids"
    return None


def _inside(address: Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses that an IPv6 address may lead to."""
    if not isinstance(address, IPv6Address) or address.is_loopback or address.is_unspecified:
        return
    bits = int(address)
    if any(address in network for network in _LAST_BITS) or (bits >> 32) & _ISATAP_BITS == _ISATAP:
        yield IPv4Address(bits & 0xFFFFFFFF)
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address not in _LOCAL_NAT64:
        return
    # Bits 64 to 71 are skipped always; the address may begin after 48, 56, 64 or 96 bits.
    without = (bits >> 64 << 56) | (bits & ((1 << 56) - 1))
    places = [(without >> (120 - begin - 32)) & 0xFFFFFFFF for begin in (48, 56, 64)]
    for found in map(IPv4Address, (*places, bits & 0xFFFFFFFF)):
        if found not in _THIS_NETWORK:  # the zeros around an address at another position
            yield found
