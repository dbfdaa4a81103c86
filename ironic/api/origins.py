"""Refuse requests that a web page makes a browser send without its user's knowledge.

An API without authentication that listens on loopback is protected by being unreachable from other hosts, but a browser
on the same host reaches it. Such an API answers only under its own host names (a page whose name was rebound to
127.0.0.1 asks under its own name) and not to pages of another origin. With HTTP basic authentication a browser adds the
password by itself, so changes that pages of other sites request are refused there too. Programs send none of these
headers.
"""

import functools
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from oslo_config import cfg

_ANY: Final = "*"
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITE: Final = frozenset({"same-origin", "none"})


@dataclass(frozen=True, slots=True)
class Origins:
    """Which requests of browsers are served.

    ``names`` are the host names under which an unauthenticated API on loopback answers, besides ``localhost`` and
    IP addresses; None for every other API. ``allowed`` are origins (``https://ui.example.org``) that CORS lets in.
    """

    names: frozenset[str] | None = None
    allowed: frozenset[str] = frozenset()
    basic: bool = False

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts, group: str = "api") -> "Origins":
        """Read the options; ``conf`` is oslo.config's object with our options registered, ``group`` that of the API."""
        # oslo.middleware registers the group when CORS is used.
        allowed = conf.cors.allowed_origin if "cors" in conf else None
        # Browsers do not use Unix sockets.
        has_port = group != "api" or not conf.api.unix_socket
        local = conf.auth_strategy == "noauth" and has_port and is_loopback(conf[group].host_ip)
        urls = (conf.api.public_endpoint, conf[group].public_endpoint, conf.service_catalog.endpoint_override)
        own = {name for url in urls if url and (name := urlsplit(url).hostname)}
        return cls(
            names=frozenset(own.union(name.lower() for name in conf.api.trusted_hosts)) if local else None,
            allowed=frozenset(allowed or ()),
            basic=conf.auth_strategy == "http_basic",
        )

    def refusal(self, environ: Mapping[str, Any]) -> str | None:
        """Return the text with which a request is refused, None for a request that is served."""
        if self.names is None:
            if not self.basic:
                return None
            own_site = environ.get("HTTP_SEC_FETCH_SITE", "none") in _OWN_SITE
            if environ["REQUEST_METHOD"] in _READS or own_site or environ.get("HTTP_ORIGIN") in self.allowed:
                return None
            return "Changes from pages of other sites are refused; [cors]allowed_origin can add an origin."
        if not _is_own(environ.get("HTTP_HOST", ""), self.names):
            return "The API does not answer under this host name; [api]trusted_hosts can add it."
        if _ANY in self.names:
            return None
        if (origin := environ.get("HTTP_ORIGIN")) is None:
            foreign = environ.get("HTTP_SEC_FETCH_SITE", "none") not in _OWN_SITE
        else:
            foreign = origin not in self.allowed and not self._is_own_page(origin, environ["HTTP_HOST"])
        return (
            "Requests from pages of other origins are refused; [cors]allowed_origin can add one." if foreign else None
        )

    def _is_own_page(self, origin: str, host: str) -> bool:
        """Return whether a page came from this service, or from a proxy in front of it under a trusted host name."""
        try:
            parts = urlsplit(origin)
            return bool(parts.netloc) and (parts.netloc == host or parts.hostname in (self.names or ()))
        except ValueError:
            return False


@functools.lru_cache(maxsize=64)
def _is_own(host: str, names: frozenset[str]) -> bool:
    """Return whether a Host header names this service: an IP address can't be rebound, any other name can."""
    if _ANY in names:
        return True
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name in names or name == "localhost" or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def is_local(conf: cfg.ConfigOpts) -> bool:
    """Return whether only processes of the same host can reach the API."""
    return bool(conf.api.unix_socket) or is_loopback(conf.api.host_ip)


def is_loopback(host: str) -> bool:
    """Return whether a server that listens on this address can be reached from its own host only."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
