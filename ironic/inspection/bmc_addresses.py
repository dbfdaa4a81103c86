"""By which addresses a ramdisk may name the BMC of its node.

Collected from driver_info when an inspection starts, names resolved to IPv4 and IPv6, and put where a look-up finds
them by an index; a list on the node shows them to people. Addresses of the service's own host are left out: they would
match any machine. Source: doc/contract/inspection.md#bmc-addresses; demand S78.
"""

import ipaddress
import logging
import socket
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from ironic.db import NodeRecord, Store

LOG = logging.getLogger(__name__)

Resolver = Callable[[str], Iterable[str]]

KEY: Final = "lookup_bmc_addresses"
_SUFFIX: Final = "_address"


def system_resolver(host: str) -> list[str]:
    """Return all addresses of a host, or raise OSError."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def collect(driver_info: Mapping[str, object], resolve: Resolver = system_resolver) -> list[str]:
    """Return the addresses, each once, in the order of driver_info."""
    found: dict[str, None] = {}
    for host in hosts(driver_info):
        for address in (host, *_resolved(host, resolve)):
            if (usable := _usable(address)) is not None:
                found[usable] = None
    return list(found)


def hosts(driver_info: Mapping[str, object]) -> list[str]:
    """Return the hosts that driver_info names as addresses of the BMC."""
    bridged = str(driver_info.get("ipmi_bridging", "no")).lower() not in ("no", "none", "")
    named = [
        _host_of(value)
        for key, value in driver_info.items()
        # Behind a bridge ipmi_*_address is that of another machine's BMC, or no IP address at all.
        if key.endswith(_SUFFIX) and isinstance(value, str) and not (bridged and key.startswith("ipmi_"))
    ]
    return list(dict.fromkeys(host for host in named if host))


def forms(address: str) -> list[str]:
    """Return how people may have written an address in driver_info, but for upper case."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return [address]
    return list(dict.fromkeys((str(found), found.exploded)))


def remember(store: Store, node: NodeRecord, addresses: list[str]) -> None:
    """Keep the addresses for look-ups; the caller saves the node."""
    if addresses:
        node.set_driver_internal_info(KEY, addresses)
    else:
        node.del_driver_internal_info(KEY)
    with store.writing():
        store.nodes.require_held(node)
        store.nodes.set_bmc_addresses(node.id, addresses)


def forget(store: Store, node: NodeRecord) -> None:
    """Drop the addresses; the caller saves the node."""
    remember(store, node, [])


def _host_of(value: str) -> str | None:
    """Return the host of a URL or of a bare address, without brackets and port."""
    text = value.strip()
    if _is_address(text):
        return text
    try:
        return urlsplit(text if "//" in text else f"//{text}").hostname
    except ValueError:
        return None


def _resolved(host: str, resolve: Resolver) -> Iterable[str]:
    if _is_address(host):
        return ()
    try:
        return tuple(resolve(host))
    except (OSError, UnicodeError) as error:
        LOG.warning("BMC address %s can't be resolved: %s. Ramdisks can't be found by it.", host, error)
        return ()


def _usable(address: str) -> str | None:
    """Return an address in its shortest form, a name in lower case, None for the service's own host."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None if address.lower() == "localhost" else address.lower()
    return None if found.is_loopback or found.is_unspecified else str(found)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
