"""Check where a host name leads before a request is sent there.

All addresses of a name are resolved once and checked together; the caller connects to one of these addresses and does
not resolve the name again. Addresses at which this service itself, its database or its message bus listens are refused:
these servers may trust requests of this host.
"""

import os
import posixpath
import socket
from collections.abc import Collection, Iterator
from ipaddress import ip_address
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from ironic.conf import CONF
from ironic.core.addresses.allowed_addresses import Address, AddressPolicy, fault_of, plain_form, server_of
from ironic.integrations import host_files, web_root

# What a project reads about a BMC at an address of its choice, whatever went wrong: it must not map the network.
UNREACHABLE: Final = "it can't be reached; check its address and its certificate, or ask an operator: the log says why"
# Default ports by URL scheme.
_PORTS: Final = {"mysql": 3306, "mariadb": 3306, "postgresql": 5432, "rabbit": 5672, "amqp": 5672, "kafka": 9092}
_ZERO: Final = "\0"


def bmc_policy(*, by_project: bool) -> AddressPolicy:
    """Return where BMCs may be: anywhere, also on the loopback, where emulated ones are, unless a project chose it."""
    return AddressPolicy(allows_loopback=not by_project or CONF.outgoing.allow_loopback)


class Refused(Exception):
    """The address may not be contacted; the text says why, after "is"."""


class SocketAddress(NamedTuple):
    """An address that may be contacted, as a socket takes it."""

    family: socket.AddressFamily
    address: tuple[Any, ...]


def resolve_allowed(
    host: str, port: int, *, is_checked: bool = True, policy: AddressPolicy | None = None
) -> list[SocketAddress]:
    """Return the socket addresses of a host and port, best first; those that an operator has named are not checked.

    The default ``policy`` is that of [outgoing].

    Raises Refused when any address of the host may not be contacted, and OSError when it has none.
    """
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (UnicodeError, ValueError) as error:
        raise Refused("no host name") from error
    found = [SocketAddress(family, sockaddr) for family, _, _, _, sockaddr in answers if _is_internet(family)]
    for one in found if is_checked else ():
        if fault := fault_at(str(one.address[0]), port, policy):
            raise Refused(fault)
    return found


def check_path(addresses: Collection[SocketAddress], port: int, path: str) -> None:
    """Raise Refused for files that web servers of conductors offer to one machine: images, boot files with tokens."""
    wanted = posixpath.normpath(f"/{unquote(path).replace(_ZERO, '').lstrip('/')}")
    for web in _web_servers():
        if web.port != port or not wanted.startswith(web.path):
            continue
        file = os.path.realpath(f"{CONF.deploy.http_root}/{wanted.removeprefix(web.path)}")
        if host_files.is_of_nodes(file) and (
            web.host is None
            or any(_is_address_of(plain_form(ip_address(one.address[0])), web.host) for one in addresses)
        ):
            raise Refused("that of a file which is offered to one machine only")


class _WebServer(NamedTuple):
    """Where [deploy]http_root is served; without a host it is every one, as other conductors serve their own."""

    host: str | None
    port: int
    path: str


def _web_servers() -> Iterator[_WebServer]:
    if not CONF.deploy.http_url and CONF.deploy.http_server_port:
        yield _WebServer(None, CONF.deploy.http_server_port, "")
    for url in filter(None, (CONF.deploy.http_url, web_root.OwnServer.url, CONF.deploy.external_http_url)):
        if server := server_of(url):
            yield _WebServer(server.host, server.port, urlsplit(url).path.rstrip("/"))


def fault_at(address: str, port: int, policy: AddressPolicy | None = None) -> str | None:
    """Return why an IP address and port may not be contacted, in a few words; None when they may.

    The default ``policy`` is that of [outgoing].
    """
    found = ip_address(address)
    if fault := fault_of(found, policy or AddressPolicy(CONF.outgoing.allow_loopback, tuple(CONF.outgoing.networks))):
        return fault
    if any(_is_address_of(plain_form(found), host) for host, taken in _own_servers() if taken == port):
        return "an address of this service itself"
    return None


def _is_internet(family: int) -> bool:
    return family in (socket.AF_INET, socket.AF_INET6)


def _own_servers() -> Iterator[tuple[str, int]]:
    """Yield host and port of this service, its database and its message bus."""
    yield CONF.api.host_ip, CONF.api.port
    yield CONF.inspector_api.host_ip, CONF.inspector_api.port
    if CONF.rpc_transport == "json-rpc":
        yield CONF.json_rpc.host_ip, CONF.json_rpc.port
    named = CONF.service_catalog.endpoint_override, CONF.api.public_endpoint, CONF.inspector_api.public_endpoint
    for url in named:
        # When the URL of the API has a path, other services answer on the same port.
        if (server := server_of(url or "")) and not urlsplit(url).path.strip("/"):
            yield server.host, server.port
    # The option of the message bus exists once its library is loaded.
    for url in (CONF.database.connection, CONF.database.slave_connection, getattr(CONF, "transport_url", None)):
        parts = urlsplit(url or "")
        usual = _PORTS.get(parts.scheme.partition("+")[0])
        for text in parts.netloc.split(","):
            try:
                named_server = urlsplit(f"//{text}")
                port = named_server.port or usual
            except ValueError:
                continue
            if named_server.hostname and port:
                yield named_server.hostname, port


def _is_address_of(address: Address, host: str) -> bool:
    """Return whether an address belongs to a host; an unspecified host address (0.0.0.0) means all of this host."""
    try:
        known = {ip_address(answer[4][0]) for answer in socket.getaddrinfo(host, None) if _is_internet(answer[0])}
    except (OSError, UnicodeError):
        return False
    if any(one.is_unspecified for one in known):
        return _is_local(address)
    return address in {plain_form(one) for one in known}


def _is_local(address: Address) -> bool:
    """Return whether an address belongs to this host: only then a socket can be bound to it."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True
