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
from urllib.parse import urlsplit

from ironic.db import NodeRecord, Store

LOG = logging.getLogger(__name__)

Resolver = Callable[[str], Iterable[str]]

KEY: Final = "lookup_bmc_addresses"
_SUFFIX: Final = "_address"
# Addresses of controllers on IPMB, which are numbers.
_ON_THE_BUS: Final = frozenset({"ipmi_local_address", "ipmi_transit_address", "ipmi_target_address"})


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
        if not _is_address(host):
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


def hosts(driver_info: Mapping[str, object], keys: Collection[str] | None = None) -> list[str]:
    """Return the hosts that driver_info names as addresses of the BMC under these keys; None: under any `*_address`."""
    bridged = str(driver_info.get("ipmi_bridging", "no")).lower() not in ("no", "none", "")
    named = [
        _host_of(value)
        for key, value in driver_info.items()
        if (key.endswith(_SUFFIX) if keys is None else key in keys)
        and isinstance(value, str)
        and key not in _ON_THE_BUS
        # Behind a bridge it is the address of another machine's BMC.
        and not (bridged and key.startswith("ipmi_"))
    ]
    return list(dict.fromkeys(host for host in named if host))


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
        node.set_driver_internal_info(KEY, addresses)
    else:
        node.del_driver_internal_info(KEY)

    def write(_connection: object) -> None:
        if not node.stored_changes():
            store.nodes.require_held(node)  # else saving the node checks it
        node.save()
        store.nodes.set_bmc_addresses(node.id, addresses)

    store.run(write, repeatable=True)


def forget(store: Store, node: NodeRecord) -> None:
    """Drop the addresses and save the node, in one transaction; TakenOver when the node is lost."""
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
