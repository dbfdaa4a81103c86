"""Servers by scheme, host and port, and lists in which operators name some of them."""

from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from ironic.core import syntax

PORTS: Final = {"http": 80, "https": 443}


class Server(NamedTuple):
    """One web server."""

    scheme: str
    host: str  # as urlsplit has it: in small letters, an IPv6 address without brackets
    port: int

    @property
    def netloc(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def server_of(url: str) -> Server | None:
    """Return the web server that a URL names; None when it names none."""
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
    """Tell whether a list names a server: by host, by host:port or by scheme://host[:port].

    What an entry leaves out may be anything; with a scheme alone, the port is that scheme's.
    """
    return any(_is_named(server, entry.strip()) for entry in named)


def _is_named(server: Server, entry: str) -> bool:
    if "://" in entry:
        return (meant := server_of(entry)) is not None and _same_host(meant, server) and meant[::2] == server[::2]
    try:
        parts = urlsplit(f"//[{entry}]" if entry.count(":") > 1 and "[" not in entry else f"//{entry}")
        port = parts.port
    except ValueError:
        return False
    host = parts.hostname or ""
    return host.rstrip(".") == server.host.rstrip(".") and port in (None, server.port)


def _same_host(one: Server, other: Server) -> bool:
    return one.host.rstrip(".") == other.host.rstrip(".")
