"""Requests that a web page makes a browser send, without its user knowing.

An API without authentication that listens on loopback is protected by being out of reach; a browser on the same host
is not out of reach. Such an API is asked under its own names only (a page whose name was rebound to 127.0.0.1 asks
under its own), and by no page of another origin. With HTTP basic authentication a browser adds the password by itself,
so changes asked for by pages of other sites are refused there too. Programs send none of these headers.
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

    ``names`` are the host names under which an unauthenticated API on loopback may be asked, beside ``localhost`` and
    IP addresses; None for every other API. ``allowed`` are origins (``https://ui.example.org``) that CORS lets in.
    """

    names: frozenset[str] | None = None
    allowed: frozenset[str] = frozenset()
    basic: bool = False

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "Origins":
        """Read the options; ``conf`` is oslo.config's object with our options registered."""
        # A library registers the group once CORS is used.
        allowed = conf.cors.allowed_origin if "cors" in conf else None
        # No browser asks over a Unix socket.
        local = conf.auth_strategy == "noauth" and not conf.api.unix_socket and is_local(conf)
        urls = (conf.api.public_endpoint, conf.service_catalog.endpoint_override)
        own = {name for url in urls if url and (name := urlsplit(url).hostname)}
        return cls(
            names=frozenset(own.union(name.lower() for name in conf.api.trusted_hosts)) if local else None,
            allowed=frozenset(allowed or ()),
            basic=conf.auth_strategy == "http_basic",
        )

    def refusal(self, environ: Mapping[str, Any]) -> str | None:
        """Return why a request is not served, None when it is."""
        if self.names is None:
            return self._forged(environ) if self.basic else None
        if not _is_own(environ.get("HTTP_HOST", ""), self.names):
            return "The API does not answer under this host name; [api]trusted_hosts can add it."
        if _ANY in self.names:
            return None
        if (origin := environ.get("HTTP_ORIGIN")) is None:
            foreign = environ.get("HTTP_SEC_FETCH_SITE", "none") not in _OWN_SITE
        else:
            foreign = origin not in self.allowed and not self._is_own_page(origin, environ["HTTP_HOST"])
        return "Pages of other origins are not served here; [cors]allowed_origin can add one." if foreign else None

    def _is_own_page(self, origin: str, host: str) -> bool:
        """Tell whether a page came from this service, or from what stands in front of it under a trusted name."""
        try:
            parts = urlsplit(origin)
            return bool(parts.netloc) and (parts.netloc == host or parts.hostname in (self.names or ()))
        except ValueError:
            return False

    def _forged(self, environ: Mapping[str, object]) -> str | None:
        if environ["REQUEST_METHOD"] in _READS or environ.get("HTTP_SEC_FETCH_SITE", "none") in _OWN_SITE:
            return None
        if environ.get("HTTP_ORIGIN") in self.allowed:
            return None
        return "A page of another site can't change anything here; [cors]allowed_origin can add its origin."


@functools.lru_cache(maxsize=64)
def _is_own(host: str, names: frozenset[str]) -> bool:
    """Tell whether a Host header names this service: an IP address can't be rebound, any other name can."""
    if _ANY in names:
        return True
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name in names or name == "localhost" or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def is_local(conf: cfg.ConfigOpts) -> bool:
    """Tell whether the API listens where only processes of the same host reach it."""
    if conf.api.unix_socket:
        return True
    try:
        return conf.api.host_ip == "localhost" or ipaddress.ip_address(conf.api.host_ip).is_loopback
    except ValueError:
        return False
