"""Token buckets that limit the rate of requests per client address, and the client's address behind a proxy.

Forwarding headers (scheme, host, mount point, client address) count only if
[oslo_middleware]enable_proxy_headers_parsing is on, because any client can send them.

A token bucket per address limits the endpoints that need no credentials: an address has a minute's worth of calls and
gets them back evenly over the minute. Only the most recent addresses are remembered; one that was dropped gets a full
bucket. IPv6 addresses count by their /64, all of which one machine may have. Wrong passwords are limited alike, by
address and user name.
"""

import hashlib
import ipaddress
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

# The path of a URL.
_PREFIX: Final = re.compile(r"(/[A-Za-z0-9._~%!$&'()*+;=:@-]*)+")


def apply_proxy_headers(environ: dict[str, object]) -> None:
    """Replace scheme, host and mount point by those in the headers of a proxy; the first of several values counts."""
    if (scheme := _first(environ, "HTTP_X_FORWARDED_PROTO").lower()) in ("http", "https"):
        environ["wsgi.url_scheme"] = scheme
    if host := _first(environ, "HTTP_X_FORWARDED_HOST"):
        environ["HTTP_HOST"] = host
    if _PREFIX.fullmatch(prefix := _first(environ, "HTTP_X_FORWARDED_PREFIX")):
        environ["SCRIPT_NAME"] = prefix.rstrip("/")


def client_address(environ: Mapping[str, object], *, trusted: bool) -> str | None:
    """Return the client's address; behind a trusted proxy, the address that the proxy has seen."""
    if trusted and (hops := environ.get("HTTP_X_FORWARDED_FOR")):
        # Values before the last comma were sent by the client and may be forged.
        return str(hops).rpartition(",")[2].strip()
    found = environ.get("REMOTE_ADDR")
    return str(found) if found else None


def _first(environ: Mapping[str, Any], header: str) -> str:
    value: str = environ.get(header, "")
    return value.split(",")[0].strip()


_MINUTE: Final = 60.0
_MOST: Final = 10_000  # addresses


class TokenBuckets:
    """Token buckets of many addresses; ``per_minute`` is the number of calls that each may make per minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = float(per_minute), clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def admits(self, source: str | None) -> bool:
        """Count a call from an address and return whether it is within the limit."""
        name, now = bucket_of(source), self._clock()
        with self._lock:
            left, since = self._left.pop(name, (self._most, now))
            left = min(self._most, left + (now - since) * self._most / _MINUTE)
            admitted = left >= 1
            self._left[name] = (left - admitted, now)
            if len(self._left) > _MOST:
                self._left.popitem(last=False)
        return admitted

    def give_back(self, source: str | None) -> None:
        """Undo the count of one call, for a limit that counts failures only."""
        with self._lock:
            if found := self._left.get(name := bucket_of(source)):
                self._left[name] = (min(self._most, found[0] + 1), found[1])


def bucket_of(source: str | None) -> str:
    """Return the key of the bucket of an address."""
    try:
        address = ipaddress.ip_address((source or "").partition("%")[0])
    except ValueError:
        return source or ""
    if isinstance(address, ipaddress.IPv6Address):
        # A server that listens on IPv6 sees IPv4 clients under such addresses.
        return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)


class Guesses:
    """The limit on wrong passwords per minute and client address: for one name, and ten times that for all names."""

    def __init__(self, per_minute: int) -> None:
        self._for_name, self._for_all = TokenBuckets(per_minute), TokenBuckets(10 * per_minute)

    def begin(self, source: str | None, name: bytes) -> bool:
        """Count an attempt as wrong and return whether it is within the limit."""
        return self._for_all.admits(source) and self._for_name.admits(_pair(source, name))

    def was_right(self, source: str | None, name: bytes) -> None:
        """Undo the count of an attempt, whose password was correct."""
        self._for_all.give_back(source)
        self._for_name.give_back(_pair(source, name))


def _pair(source: str | None, name: bytes) -> str:
    return f"{bucket_of(source)} {hashlib.blake2b(name).hexdigest()}"
