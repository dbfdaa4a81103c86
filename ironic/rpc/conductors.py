"""Conductors as the rest of the service meets them: objects with the methods of the conversation.

Which conductor is asked is placement's knowledge, how it is reached is the transport's. One that is not there any more
has left its nodes to others, so placement is asked again, and the call, which was not begun, is made of the new owner.
"""

import random
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from ironic.core.call_errors import ConductorAbsent
from ironic.core.context import RequestContext
from ironic.core.errors import DriverNotFound
from ironic.rpc.call import Call
from ironic.rpc.conversation import CALLS, ConductorCalls
from ironic.rpc.placement import Placement
from ironic.rpc.transport import Transport


class HasPlacement(Protocol):
    """What decides on a node's conductor."""

    @property
    def uuid(self) -> str: ...
    @property
    def driver(self) -> str: ...
    @property
    def conductor_group(self) -> str: ...


class _Remote:
    """Where the calls of one proxy go, and who can say where else."""

    __slots__ = ("_host", "_look_again", "_transport")

    def __init__(self, transport: Transport, host: str, look_again: Callable[[], str] | None = None) -> None:
        self._transport, self._host, self._look_again = transport, host, look_again

    def ask(self, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call, of another conductor if this one is gone and its work has passed on."""
        # Without a hook, as in production, this is nothing; the tests refuse calls while a transaction is open.
        sys.audit("ironic.conductor.call", call.name)
        try:
            return self._transport.ask(self._host, context, call, arguments)
        except ConductorAbsent:
            before, self._host = self._host, self._look_again() if self._look_again else self._host
            if self._host == before:
                raise
        return self._transport.ask(self._host, context, call, arguments)


def _forwarder(call: Call) -> Callable[..., object]:
    def forward(self: _Remote, context: RequestContext, *args: Any, **kwargs: Any) -> object:
        return self.ask(context, call, call.arguments(*args, **kwargs))

    forward.__name__ = call.name
    return forward


_RemoteConductor: Final = type(
    "RemoteConductor", (_Remote, ConductorCalls), {name: _forwarder(call) for name, call in CALLS.items()}
)


class Conductors:
    """All conductors that can be asked."""

    def __init__(self, transport: Transport, placement: Placement) -> None:
        self._transport = transport
        self._placement = placement

    def serving(self, node: HasPlacement) -> ConductorCalls:
        """Return the conductor that owns a node, or raise NoValidHost."""
        return self._found(lambda: self._placement.host_for(node.uuid, node.driver, node.conductor_group))

    def for_driver(self, name: str) -> ConductorCalls:
        """Return any conductor that serves a hardware type, or raise DriverNotFound."""
        return self._found(lambda: self._any_for(name))

    def for_work(self, key: str) -> ConductorCalls:
        """Return the conductor that work on no node of its own falls to, or raise NoLiveConductor."""
        return self._found(lambda: self._placement.any_host(key))

    def at(self, hostname: str) -> ConductorCalls:
        """Return the conductor of that name, be it alive or not."""
        conductor: ConductorCalls = _RemoteConductor(self._transport, hostname)
        return conductor

    def _any_for(self, driver: str) -> str:
        hosts = self._placement.hosts_of(driver)
        if not hosts:
            raise DriverNotFound(driver=driver)
        return random.choice(hosts)

    def _found(self, find: Callable[[], str]) -> ConductorCalls:
        def look_again() -> str:
            self._placement.reset()
            return find()

        conductor: ConductorCalls = _RemoteConductor(self._transport, find(), look_again)
        return conductor
