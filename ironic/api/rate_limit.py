"""How often one address may call what asks for no credentials.

Each address has a minute's worth of calls and gets them back evenly over the minute. Only the addresses seen last are
remembered; one that was forgotten begins anew. IPv6 addresses count by their /64, which one machine may have all of.
"""

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

_MINUTE: Final = 60.0
_MOST: Final = 10_000  # addresses


class RateLimit:
    """A limit for each of many addresses."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = float(per_minute), clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def admits(self, source: str | None) -> bool:
        """Count a call from this address; tell whether it is within the limit."""
        name, now = counted_as(source), self._clock()
        with self._lock:
            left, since = self._left.pop(name, (self._most, now))
            left = min(self._most, left + (now - since) * self._most / _MINUTE)
            admitted = left >= 1
            self._left[name] = (left - admitted, now)
            if len(self._left) > _MOST:
                self._left.popitem(last=False)
        return admitted

    def give_back(self, source: str | None) -> None:
        """Take back the count of one call, for a limit that counts failures only."""
        with self._lock:
            if found := self._left.get(name := counted_as(source)):
                self._left[name] = (min(self._most, found[0] + 1), found[1])


def counted_as(source: str | None) -> str:
    """Return what calls from an address are counted under."""
    try:
        address = ipaddress.ip_address((source or "").partition("%")[0])
    except ValueError:
        return source or ""
    if isinstance(address, ipaddress.IPv6Address):
        # A server that listens on IPv6 sees IPv4 machines under such addresses.
        return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)
