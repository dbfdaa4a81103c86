"""Validate the callback URL and the certificate that an agent sends in a heartbeat.

Both come from an untrusted machine. This service connects to the URL from its own network, so the URL may hold a server
and nothing else; which servers may be called is decided by the caller (`allowed_addresses`). Certificates are parsed
and serialized again, so the stored text names no file, holds nothing but certificates, and is of limited size.
"""

import ipaddress
from typing import Final, NamedTuple, Self

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from ironic.core.texts import syntax

LONGEST_URL: Final = 2048
_PORTS: Final = {"http": 80, "https": 443}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class CallbackUrl(NamedTuple):
    """Scheme, host and port; ``host`` has no brackets."""

    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, url: str) -> Self:
        """Parse a URL; raise ValueError with the reason when it is not acceptable."""
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
        """The host as an IP address; None for a name. Raises ValueError for an address with a zone."""
        if "%" in self.host:
            raise ValueError("must not hold an address with a zone")
        return address_of(self.host)


def address_of(text: str | None) -> Address | None:
    """Return the IP address in a text, IPv4 for an IPv4-mapped one; None for other text."""
    try:
        found = ipaddress.ip_address((text or "").partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def are_two_machines(one: str | None, other: str | None) -> bool:
    """Return whether two addresses of the same family differ; a machine may have one of each family."""
    first, second = address_of(one), address_of(other)
    return first is not None and second is not None and first.version == second.version and first != second


LONGEST_CERTIFICATES: Final = 64 * 1024
MOST_CERTIFICATES: Final = 16


def certificates_from_pem(text: str) -> str:
    """Parse the certificates of a PEM text and return them as PEM again; ValueError gives the reason of a refusal."""
    if len(text) > LONGEST_CERTIFICATES:
        raise ValueError(f"must not be longer than {LONGEST_CERTIFICATES} characters")
    try:
        found = x509.load_pem_x509_certificates(text.encode("ascii"))
    except (ValueError, x509.InvalidVersion):
        raise ValueError("must be certificates in PEM format") from None
    if len(found) > MOST_CERTIFICATES:
        raise ValueError(f"must not hold more than {MOST_CERTIFICATES} certificates")
    return "".join(one.public_bytes(Encoding.PEM).decode() for one in found)
