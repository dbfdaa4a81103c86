"""Which conductor owns which node, from a picture of the live conductors that is a few seconds old at most.

One hash ring per conductor group and hardware type spreads the nodes; a node of a group is only served by conductors
of that group, "" being a group like any other. Everybody computes this alone from the same table, so for a moment two
may disagree: who may touch a node is decided by its reservation, never here.
"""

import functools
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironic.core.errors import NoValidHost
from ironic.core.hash_ring import HashRing
from ironic.core.resource_errors import NoLiveConductor

if TYPE_CHECKING:
    from ironic.db import ServedInterface, Store

# A conductor that has just come up is found this soon although the picture is younger than the reset interval.
_RETRY_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class _Picture:
    """The live conductors at one moment."""

    taken_at: float
    hosts: dict[tuple[str, str], tuple[str, ...]]
    served: "list[ServedInterface]"


class Placement:
    """Answers who serves what."""

    def __init__(
        self,
        store: "Store",
        *,
        heartbeat_timeout: float,
        reset_interval: float = 15,
        partition_exponent: int = 5,
        algorithm: str = "md5",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._heartbeat_timeout = heartbeat_timeout
        self._reset_interval = reset_interval
        self._clock = clock
        self._picture: _Picture | None = None
        self._lock = threading.Lock()
        self._ring = functools.lru_cache(maxsize=256)(
            functools.partial(HashRing, points_per_host=2**partition_exponent, algorithm=algorithm)
        )

    def host_for(self, uuid: str, driver: str, group: str) -> str:
        """Return the conductor that owns a node, or raise NoValidHost."""
        hosts = self._hosts(driver, group)
        owner = self._ring(hosts).owner(uuid) if hosts else None
        if owner is None:
            raise NoValidHost(driver=driver, group=group)
        return owner

    def is_mine(self, host: str, uuid: str, driver: str, group: str) -> bool:
        """Tell whether a conductor owns a node; nobody owns what no live conductor serves."""
        try:
            return self.host_for(uuid, driver, group) == host
        except NoValidHost:
            return False

    def hosts_of(self, driver: str) -> list[str]:
        """Return the live conductors that serve a hardware type, of whatever group."""
        if not (found := self._all_hosts(driver)):
            self._look(not_older_than=_RETRY_SECONDS)
            found = self._all_hosts(driver)
        return found

    def any_host(self, key: str) -> str:
        """Return the live conductor, of any that serve nodes, that work of this name falls to; or NoLiveConductor."""
        hosts = self._serving() or self._serving(not_older_than=_RETRY_SECONDS)
        owner = self._ring(hosts).owner(key) if hosts else None
        if owner is None:
            raise NoLiveConductor()
        return owner

    def served(self) -> "list[ServedInterface]":
        """Return what the live conductors serve: hardware types, interfaces, defaults."""
        return self._look().served

    def reset(self, *, heartbeat_timeout: float | None = None) -> None:
        """Forget the picture, and judge life by another limit if one is given; the table answers the next question."""
        with self._lock:
            self._picture = None
            self._heartbeat_timeout = self._heartbeat_timeout if heartbeat_timeout is None else heartbeat_timeout

    def _hosts(self, driver: str, group: str) -> tuple[str, ...]:
        key = (group.casefold(), driver)
        return self._look().hosts.get(key) or self._look(not_older_than=_RETRY_SECONDS).hosts.get(key, ())

    def _serving(self, *, not_older_than: float | None = None) -> tuple[str, ...]:
        hosts = self._look(not_older_than=not_older_than).hosts
        return _ordered({host for names in hosts.values() for host in names})

    def _all_hosts(self, driver: str) -> list[str]:
        return sorted({host for (_, name), hosts in self._look().hosts.items() if name == driver for host in hosts})

    def _look(self, *, not_older_than: float | None = None) -> _Picture:
        limit = self._reset_interval if not_older_than is None else not_older_than
        picture = self._picture
        if picture is not None and self._clock() - picture.taken_at <= limit:
            return picture
        # One reads, the others wait for its picture instead of asking the same.
        with self._lock:
            if self._picture is picture or self._picture is None:
                self._picture = self._take()
            return self._picture

    def _take(self) -> _Picture:
        now = self._clock()
        alive = self._store.conductors.alive(self._heartbeat_timeout)
        served = self._store.conductors.served_interfaces(self._heartbeat_timeout)
        hosts: dict[tuple[str, str], set[str]] = {}
        for conductor in alive:
            for driver in conductor.drivers:
                hosts.setdefault((conductor.conductor_group.casefold(), driver), set()).add(conductor.hostname)
        return _Picture(now, {key: _ordered(names) for key, names in hosts.items()}, served)


def _ordered(names: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
