"""Which of several hosts owns a key: consistent hashing.

Every host stands at many points of a ring and owns the keys between the point before and its own. When a host comes
or goes only the keys that it takes or leaves change hands. Everyone who computes with the same hosts, number of
points and algorithm gets the same answer.
"""

import bisect
import hashlib
from collections.abc import Iterable

_DIGEST_BYTES = 16


class HashRing:
    """An immutable ring of hosts."""

    __slots__ = ("_algorithm", "_owners", "_points")

    def __init__(self, hosts: Iterable[str], *, points_per_host: int, algorithm: str = "md5") -> None:
        self._algorithm = algorithm
        # A set first: a host named twice stands once. Two hosts on one point are put in order by their names.
        pairs = sorted((self._position(f"{host}-{n}"), host) for host in set(hosts) for n in range(points_per_host))
        self._points = [point for point, _host in pairs]
        self._owners = [host for _point, host in pairs]

    def owner(self, key: str) -> str | None:
        """Return the host that owns the key; None if the ring is empty."""
        if not self._owners:
            return None
        index = bisect.bisect_right(self._points, self._position(key)) % len(self._points)
        return self._owners[index]

    def _position(self, text: str) -> int:
        digest = hashlib.new(self._algorithm, text.encode(), usedforsecurity=False)
        # The shake family gives as much as one asks for; of the others the beginning is enough.
        found = digest.digest(_DIGEST_BYTES) if digest.digest_size == 0 else digest.digest()  # type: ignore[call-arg]
        return int.from_bytes(found[:_DIGEST_BYTES])
