"""The RPC client: objects that have the methods of the RPC API and send each call to the right conductor.

The hash ring decides which conductor that is, the transport carries the call. If the conductor is absent, the call was
not begun and its nodes belong to others: the call is sent to the new owner.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from ironic.core.clock import CLOCK, Clock
from ironic.core.context import RequestContext
from ironic.core.errors import DriverNotFound
from ironic.core.errors.call_errors import ConductorAbsent, ConductorSilent
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.rpc_api import CALLS, Call, ConductorAPI
from ironic.rpc.waiting_calls import WaitingCalls

_MOST_HOSTS: Final = 4096


class Transport(Protocol):
    """Carries calls to conductors by host name."""

    def send(self, host: str, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call; return its result or raise its error, ConductorUnreachable without an answer."""


class _Watched:
    """A transport that counts the calls that wait, and notes which conductors did not take a call, until they do."""

    def __init__(self, transport: Transport, waiting: WaitingCalls, clock: Clock) -> None:
        self._transport, self._waiting, self._clock = transport, waiting, clock
        self.missed_at: dict[str, float] = {}

    def send(self, host: str, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call; raises ProjectsCallsWait if too many of its project wait."""
        try:
            with self._waiting.one_of(context):
                result = self._transport.send(host, context, call, arguments)
        except (ConductorAbsent, ConductorSilent):
            if len(self.missed_at) >= _MOST_HOSTS:
                self.missed_at.clear()
            self.missed_at[host] = self._clock.monotonic()
            raise
        self.missed_at.pop(host, None)
        return result


class RoutableNode(Protocol):
    """The attributes of a node that decide on its conductor."""

    @property
    def uuid(self) -> str: ...
    @property
    def driver(self) -> str: ...
    @property
    def conductor_group(self) -> str: ...


class _Client:
    """Sends the calls of one conductor's proxy."""

    __slots__ = ("_find_host", "_host", "_transport")

    def __init__(self, transport: Transport, host: str, find_host: Callable[[], str] | None = None) -> None:
        self._transport, self._host, self._find_host = transport, host, find_host

    def send(self, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call; if the conductor is absent, so that the call was not begun, make it of its successor."""
        # In production this has no hook; in tests it refuses calls while a transaction is open.
        sys.audit("ironic.conductor.call", call.name)
        try:
            return self._transport.send(self._host, context, call, arguments)
        except ConductorAbsent:
            before, self._host = self._host, self._find_host() if self._find_host else self._host
            if self._host == before:
                raise
        return self._transport.send(self._host, context, call, arguments)


def _method(call: Call) -> Callable[..., object]:
    """Return the method of a proxy that makes this call."""

    def method(self: _Client, context: RequestContext, *args: Any, **kwargs: Any) -> object:
        return self.send(context, call, call.arguments(*args, **kwargs))

    method.__name__ = call.name
    return method


_RemoteConductor: Final = type(
    "RemoteConductor", (_Client, ConductorAPI), {name: _method(call) for name, call in CALLS.items()}
)


class ConductorClients:
    """The proxies of all conductors."""

    def __init__(
        self,
        transport: Transport,
        hash_ring: HashRingManager,
        waiting: WaitingCalls | None = None,
        clock: Clock = CLOCK,
    ) -> None:
        """Send calls by this transport; ``waiting`` counts those that wait (None: with no limit)."""
        self.waiting = waiting or WaitingCalls()
        self._transport = _Watched(transport, self.waiting, clock)
        self._hash_ring, self._clock = hash_ring, clock

    def seconds_since_missed(self, hostname: str) -> float | None:
        """Return how long ago a conductor did not take a call of this process, None if it took the last one."""
        missed_at = self._transport.missed_at.get(hostname)
        return None if missed_at is None else self._clock.monotonic() - missed_at

    def serving(self, node: RoutableNode) -> ConductorAPI:
        """Return the conductor that owns a node; raises NoValidHost."""
        return self._found(lambda: self._hash_ring.host_for(node.uuid, node.driver, node.conductor_group, reread=True))

    def for_driver(self, name: str) -> ConductorAPI:
        """Return any conductor that serves a hardware type; raises DriverNotFound."""

        def find() -> str:
            hosts = self._hash_ring.hosts_of(name)
            if not hosts:
                raise DriverNotFound(driver=name)
            # One that did not take the last call may be dead, which the table shows later.
            return self._clock.chance.choice([one for one in hosts if one not in self._transport.missed_at] or hosts)

        return self._found(find)

    def for_work(self, key: str) -> ConductorAPI:
        """Return the conductor for work that belongs to no node, by a key of that work; raises NoLiveConductor."""
        return self._found(lambda: self._hash_ring.any_host(key))

    def at(self, hostname: str) -> ConductorAPI:
        """Return the conductor of that name, be it alive or not."""
        conductor: ConductorAPI = _RemoteConductor(self._transport, hostname)
        return conductor

    def _found(self, find: Callable[[], str]) -> ConductorAPI:
        """Return the proxy of the conductor that ``find`` returns; it is called again if that one is absent."""

        def find_again() -> str:
            self._hash_ring.reset()
            return find()

        conductor: ConductorAPI = _RemoteConductor(self._transport, find(), find_again)
        return conductor
