"""The URL at which an agent wants to be called: taken apart, and compared with where the agent speaks from.

What comes here was made up by a machine, and this service will connect to it from its own place in the network. So it
names a server and nothing else. Which servers may be called is for those who connect.
"""

import ipaddress
from typing import Final, NamedTuple, Self

from ironic.core import syntax

LONGEST: Final = 2048
_PORTS: Final = {"http": 80, "https": 443}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class CallbackUrl(NamedTuple):
    """Scheme, host and port; ``host`` has no brackets."""

    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, url: str) -> Self:
        """Take a URL apart, or raise ValueError saying what is wrong with it."""
        if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
            raise ValueError("has to be an http or https URL with a host")
        if (parts := syntax.url_of(url, _PORTS)) is None or parts.port == 0:
            raise ValueError("has to be an http or https URL with a host")
        if "@" in parts.netloc:
            raise ValueError("must not hold a login")
        if parts.path not in ("", "/") or "?" in url or "#" in url:
            raise ValueError("has to end after the host and port")
        return cls(parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme])

    @property
    def address(self) -> Address | None:
        """The IP address that is its host; None for a name. Raises ValueError for an address with a zone."""
        if "%" in self.host:
            raise ValueError("must not hold an address with a zone")
        return address_of(self.host)


def address_of(text: str | None) -> Address | None:
    """Return an IP address, that of IPv4 where an IPv6 socket saw one; None for what is none."""
    try:
        found = ipaddress.ip_address((text or "").partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def are_two_machines(one: str | None, other: str | None) -> bool:
    """Tell whether two addresses of one family differ; with one of each a machine may have both."""
    first, second = address_of(one), address_of(other)
    return first is not None and second is not None and first.version == second.version and first != second
