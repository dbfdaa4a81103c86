"""Where a host name leads, judged before anything is sent there.

All addresses of a name are looked up once and judged together; whoever connects does so to one of these addresses and
does not look the name up again. Where this service itself listens is refused, and so are its database and its message
bus: they take this host for a friend.
"""

import contextlib
import os
import posixpath
import socket
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from ironic.conf import CONF
from ironic.core.destinations import Address, Policy, fault_of, plain_form
from ironic.core.servers import server_of
from ironic.integrations import own_files

_OF_BMCS: Final = Policy(allows_loopback=True)
# Ports of servers whose URL names none, by what their URLs begin with.
_PORTS: Final = {"mysql": 3306, "mariadb": 3306, "postgresql": 5432, "rabbit": 5672, "amqp": 5672, "kafka": 9092}
_ZERO: Final = "\0"


class Refused(Exception):
    """The address may not be contacted; the text says why, after "is"."""


class Place(NamedTuple):
    """An address that may be contacted, as a socket takes it."""

    family: socket.AddressFamily
    address: tuple[Any, ...]


def places_of(host: str, port: int, *, judged: bool = True) -> list[Place]:
    """Return where a host and port lead, best first; ``judged`` is false for what an operator has named.

    Raises Refused when any address of the host may not be contacted, and OSError when it has none.
    """
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (UnicodeError, ValueError) as error:
        raise Refused("no host name") from error
    places = [Place(family, sockaddr) for family, _, _, _, sockaddr in answers if _is_internet(family)]
    for place in places if judged else ():
        if fault := fault_at(str(place.address[0]), port):
            raise Refused(fault)
    return places


def check_path(places: Iterable[Place], port: int, path: str) -> None:
    """Raise Refused for what this host's web server offers to one machine: images, boot files with tokens in them."""
    web = server_of(CONF.deploy.http_url or "")
    if web is None or web.port != port:
        return
    if any(_leads_to(plain_form(ip_address(place.address[0])), web.host) for place in places):
        wanted = posixpath.normpath(f"/{unquote(path).replace(_ZERO, '').lstrip('/')}")
        base = urlsplit(CONF.deploy.http_url).path.rstrip("/")
        file = os.path.realpath(f"{CONF.deploy.http_root}/{wanted.removeprefix(base)}")
        if wanted.startswith(base) and own_files.is_of_nodes(file):
            raise Refused("that of a file which is offered to one machine only")


def check_bmc(host: str, port: int) -> None:
    """Raise Refused when a BMC can't be there; BMCs have networks of their own, and emulated ones are on the loopback.

    A name that leads nowhere is left to whoever calls the BMC.
    """
    with contextlib.suppress(OSError):
        for place in places_of(host, port, judged=False):
            if fault := fault_at(str(place.address[0]), port, _OF_BMCS):
                raise Refused(fault)


def fault_at(address: str, port: int, policy: Policy | None = None) -> str | None:
    """Return what speaks against contacting an IP address at a port, in a few words; None when nothing does."""
    found = ip_address(address)
    if fault := fault_of(found, policy or Policy(CONF.outgoing.allow_loopback, tuple(CONF.outgoing.networks))):
        return fault
    if any(_leads_to(plain_form(found), host) for host, taken in _own() if taken == port):
        return "an address of this service itself"
    return None


def _is_internet(family: int) -> bool:
    return family in (socket.AF_INET, socket.AF_INET6)


def _own() -> Iterator[tuple[str, int]]:
    """Yield host and port of what must not be called in the name of others."""
    yield CONF.api.host_ip, CONF.api.port
    for url in (CONF.service_catalog.endpoint_override, CONF.api.public_endpoint):
        # Where the API has a path only, other services answer on the same port.
        if (named := server_of(url or "")) and not urlsplit(url).path.strip("/"):
            yield named.host, named.port
    # The bus has an option once its library was loaded.
    for url in (CONF.database.connection, CONF.database.slave_connection, getattr(CONF, "transport_url", None)):
        parts = urlsplit(url or "")
        usual = _PORTS.get(parts.scheme.partition("+")[0])
        for text in parts.netloc.split(","):
            host, port = _host_and_port(text)
            if host and (port or usual):
                yield host, port or usual or 0


def _host_and_port(text: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(f"//{text}")
        return parts.hostname, parts.port
    except ValueError:
        return None, None


def _leads_to(address: Address, host: str) -> bool:
    """Tell whether an address is one of a host's; that of a server that listens everywhere is any of this host."""
    try:
        known = {ip_address(answer[4][0]) for answer in socket.getaddrinfo(host, None) if _is_internet(answer[0])}
    except (OSError, UnicodeError):
        return False
    if any(one.is_unspecified for one in known):
        return _is_here(address)
    return address in {plain_form(one) for one in known}


def _is_here(address: Address) -> bool:
    """Tell whether an address belongs to this host: only then can a socket take it as its own."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True
