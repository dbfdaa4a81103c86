"""Hash ring: which conductor owns which node; one ring per conductor group and hardware type.

Consistent hashing: each host has many points on a ring and owns the keys between its points and those before them. When
a host is added or removed, only the keys that it gets or had change their owner. Processes with the same hosts, number
of points and algorithm compute the same owner.

A node of a group is served by conductors of that group only; "" is a group as well. Each process reads the table of
live conductors every few seconds by itself, so two may disagree for a moment: the reservation of a node decides which
conductor may change it, never the ring.
"""

import bisect
import functools
import hashlib
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironic.core.clock import CLOCK
from ironic.core.errors import NoValidHost
from ironic.core.errors.resource_errors import NoLiveConductor

if TYPE_CHECKING:
    from ironic.db import ServedInterface, Store


_DIGEST_BYTES = 16


class HashRing:
    """An immutable ring of hosts."""

    __slots__ = ("_algorithm", "_only", "_owners", "_points")

    def __init__(self, hosts: Iterable[str], *, points_per_host: int, algorithm: str = "md5") -> None:
        self._algorithm, hosts = algorithm, set(hosts)
        # One host owns every key, and no key has to be hashed to know that.
        self._only = next(iter(hosts)) if len(hosts) == 1 else None
        # A set, as a host may be named twice. Hosts with an equal point are ordered by their names.
        pairs = sorted((self._position(f"{host}-{n}"), host) for host in hosts for n in range(points_per_host))
        self._points = [point for point, _host in pairs]
        self._owners = [host for _point, host in pairs]

    def owner(self, key: str) -> str | None:
        """Return the host that owns the key; None if the ring is empty."""
        if self._only is not None or not self._owners:
            return self._only
        index = bisect.bisect_right(self._points, self._position(key)) % len(self._points)
        return self._owners[index]

    def _position(self, text: str) -> int:
        digest = hashlib.new(self._algorithm, text.encode(), usedforsecurity=False)
        # Algorithms of the shake family have digests of any length; of the others the first bytes are used.
        # SHAKE digests have no size of their own; the stubs do not know that they take one.
        found = digest.digest(_DIGEST_BYTES) if digest.digest_size == 0 else digest.digest()  # type: ignore[call-arg]
        return int.from_bytes(found[:_DIGEST_BYTES])


# Without a conductor for a request, a snapshot that is older than this is read again: one may have just started.
_RETRY_SECONDS: Final = 1.0
# No snapshot is that young: the table is read.
_NOW: Final = -1.0


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The live conductors at one moment."""

    taken_at: float
    hosts: dict[tuple[str, str], tuple[str, ...]]
    served: "list[ServedInterface]"


class HashRingManager:
    """Finds the conductors of nodes, hardware types and other work."""

    def __init__(
        self,
        store: "Store",
        *,
        heartbeat_timeout: float,
        reset_interval: float = 15,
        partition_exponent: int = 5,
        algorithm: str = "md5",
        clock: Callable[[], float] = CLOCK.monotonic,
    ) -> None:
        self._store = store
        self._heartbeat_timeout = heartbeat_timeout
        self._reset_interval = reset_interval
        self._clock = clock
        self._snapshot: _Snapshot | None = None
        self._lock = threading.Lock()
        self._ring = functools.lru_cache(maxsize=256)(
            functools.partial(HashRing, points_per_host=2**partition_exponent, algorithm=algorithm)
        )

    def host_for(self, uuid: str, driver: str, group: str, *, reread: bool = False) -> str:
        """Return the conductor that owns a node; raises NoValidHost if no live one serves it.

        ``reread``: the table is read before the error is raised, however young the snapshot is.
        """
        key = (group.casefold(), driver)
        hosts = self._current().hosts.get(key) or self._current(_NOW if reread else _RETRY_SECONDS).hosts.get(key)
        owner = self._ring(hosts).owner(uuid) if hosts else None
        if owner is None:
            raise NoValidHost(driver=driver, group=group)
        return owner

    def is_mine(self, host: str, uuid: str, driver: str, group: str) -> bool:
        """Return whether a conductor owns a node; no one owns a node that no live conductor serves."""
        try:
            return self.host_for(uuid, driver, group) == host
        except NoValidHost:
            return False

    def hosts_of(self, driver: str) -> list[str]:
        """Return the live conductors of any group that serve a hardware type; the table is read before none is."""

        def serving(snapshot: _Snapshot) -> list[str]:
            return sorted({host for (_, name), hosts in snapshot.hosts.items() if name == driver for host in hosts})

        return serving(self._current()) or serving(self._current(_NOW))

    def any_host(self, key: str) -> str:
        """Return the conductor for work with this key, of all that serve nodes; raises NoLiveConductor."""
        snapshot = self._current()
        if not snapshot.hosts:
            snapshot = self._current(_RETRY_SECONDS)
        hosts = {host for names in snapshot.hosts.values() for host in names}
        owner = self._ring(_ordered(hosts)).owner(key) if hosts else None
        if owner is None:
            raise NoLiveConductor()
        return owner

    def served(self, *, reread: bool = False) -> "list[ServedInterface]":
        """Return what the live conductors serve: hardware types, interfaces, defaults; ``reread`` reads the table."""
        return self._current(_NOW if reread else None).served

    def reset(self, *, heartbeat_timeout: float | None = None) -> None:
        """Read the table again at the next call; ``heartbeat_timeout`` replaces the one of the constructor."""
        with self._lock:
            self._snapshot = None
            self._heartbeat_timeout = self._heartbeat_timeout if heartbeat_timeout is None else heartbeat_timeout

    def _current(self, max_age: float | None = None) -> _Snapshot:
        """Return a snapshot of this age at most, in seconds; the reset interval by default."""
        limit = self._reset_interval if max_age is None else max_age
        snapshot = self._snapshot
        if snapshot is not None and self._clock() - snapshot.taken_at <= limit:
            return snapshot
        # One thread reads the table; the others wait for its snapshot.
        with self._lock:
            if self._snapshot is snapshot or self._snapshot is None:
                now = self._clock()
                alive = self._store.conductors.alive(self._heartbeat_timeout)
                served = self._store.conductors.served_interfaces(self._heartbeat_timeout)
                hosts: dict[tuple[str, str], set[str]] = {}
                for conductor in alive:
                    for driver in conductor.drivers:
                        hosts.setdefault((conductor.conductor_group.casefold(), driver), set()).add(conductor.hostname)
                self._snapshot = _Snapshot(now, {key: _ordered(names) for key, names in hosts.items()}, served)
            return self._snapshot


def _ordered(names: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
