"""BMC addresses by which inspection data are matched with a node.

They are collected from driver_info when an inspection starts, with names resolved to IPv4 and IPv6, and stored in an
indexed table for look-ups and as a list in driver_internal_info for operators. Addresses of the service's own host are
left out: they would match any machine. Source: doc/contract/inspection.md#bmc-addresses; demand S78.
"""

import ipaddress
import logging
import socket
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from ironic.core.addresses.allowed_addresses import plain_form
from ironic.core.addresses.bmc_hosts import hosts, is_address
from ironic.core.keys.internal_keys import InternalKey
from ironic.db import NodeRecord, Store

LOG = logging.getLogger(__name__)

Resolver = Callable[[str], Iterable[str]]

_ADDRESSES: Final = InternalKey(
    "lookup_bmc_addresses", list[str], "The addresses of its BMC by which the ramdisk of an inspection finds it."
)


def system_resolver(host: str) -> list[str]:
    """Return all addresses of a host, or raise OSError."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def collect(
    driver_info: Mapping[str, object], resolve: Resolver = system_resolver, *, keys: Collection[str] | None = None
) -> list[str]:
    """Return the BMC addresses that driver_info names, each once, in its order; names are resolved and kept as well.

    ``keys`` are those that the hardware type declares, None if it declares none.
    """
    found: dict[str, None] = {}
    for host in hosts(driver_info, keys):
        resolved: Iterable[str] = ()
        if not is_address(host):
            try:
                resolved = tuple(resolve(host))
            except (OSError, UnicodeError) as error:
                LOG.warning("BMC address %s can't be resolved: %s. Ramdisks can't be found by it.", host, error)
        for address in (host, *resolved):
            if (usable := _usable(address)) is not None:
                found[usable] = None
    return list(found)


def server_of(driver_info: Mapping[str, object]) -> str | None:
    """Return the BMC that requests go to, by host and port; nodes behind one bridge have the same."""
    direct = {key: value for key, value in driver_info.items() if key != "ipmi_bridging"}
    host = next(iter(hosts(direct)), None)
    port = driver_info.get("ipmi_port")
    return f"{host}:{port}" if host and port else host


def forms(address: str) -> list[str]:
    """Return the usual spellings of an address, in lower case."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return [address]
    return list(dict.fromkeys((str(found), found.exploded)))


def remember(store: Store, node: NodeRecord, addresses: list[str]) -> None:
    """Store the addresses for look-ups and save the node, in one transaction; TakenOver when the node is lost."""
    if addresses:
        _ADDRESSES.set(node, addresses)
    else:
        _ADDRESSES.delete(node)

    def write(_connection: object) -> None:
        if not node.stored_changes():
            store.nodes.require_held(node)  # else saving the node checks it
        node.save()
        store.nodes.set_bmc_addresses(node.id, addresses)

    store.run(write, repeatable=True)


def forget(store: Store, node: NodeRecord) -> None:
    """Drop the addresses and save the node, in one transaction; TakenOver when the node is lost."""
    remember(store, node, [])


def _usable(address: str) -> str | None:
    """Return an address in its shortest form, a name in lower case, None for the service's own host."""
    try:
        found = plain_form(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:
        return None if address.lower() == "localhost" else address.lower()
    return None if found.is_loopback or found.is_unspecified else str(found)
