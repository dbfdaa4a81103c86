"""Which addresses this service may contact when a user, a machine or a rule has named them.

Whoever names a URL borrows the place of this host in the network. Addresses that mean something else here than they
mean to the one who named them are refused, also where they stand inside of an IPv6 address. Sources: RFC 6890 (special
addresses), RFC 6052 (NAT64), RFC 3056 (6to4), RFC 4380 (Teredo), RFC 5214 (ISATAP).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Policy:
    """What an operator allows: the loopback or not, and the only networks that count, where there are any."""

    allows_loopback: bool = False
    networks: tuple[Network, ...] = ()


# Where clouds tell machines their secrets, as far as these addresses are not link-local ones anyway.
_METADATA: Final = tuple(
    map(
        ip_network,
        ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::/32", "fd20:ce::254", "fd00:42::42"),
    )
)
_THIS_NETWORK: Final = IPv4Network("0.0.0.0/8")
# IPv4 addresses stand in the last 32 bits of these: compatible, mapped, translated, NAT64.
_LAST_BITS: Final = tuple(map(IPv6Network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
# A site may choose where in these an IPv4 address stands; it is looked for at each place that RFC 6052 knows.
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
_ISATAP: Final = 0x5EFE
_ISATAP_BITS: Final = 0xFDFFFFFF  # all but the bit that says whether the address is a public one


def fault_of(address: Address, policy: Policy) -> str | None:
    """Return what speaks against contacting an address, in a few words; None when nothing does."""
    for each in (address, *_inside(address)):
        if fault := _fault(each, policy):
            return fault
    plain = plain_form(address)
    if policy.networks and not any(plain in network for network in policy.networks):
        return "not in the networks of [outgoing]networks"
    return None


def plain_form(address: Address) -> Address:
    """Return the IPv4 address that is meant by an IPv6 address of a socket, any other address as it is."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _fault(address: Address, policy: Policy) -> str | None:
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
    if address in _LOCAL_NAT64:
        yield from _in_local_nat64(bits)


def _in_local_nat64(bits: int) -> Iterator[IPv4Address]:
    # Bits 64 to 71 are always passed over: the address may begin behind 48, 56, 64 or 96 bits.
    without = (bits >> 64 << 56) | (bits & ((1 << 56) - 1))
    places = [(without >> (120 - begin - 32)) & 0xFFFFFFFF for begin in (48, 56, 64)]
    for found in map(IPv4Address, (*places, bits & 0xFFFFFFFF)):
        if found not in _THIS_NETWORK:  # those are the zeros around an address at another place
            yield found
