"""Conductors as the rest of the service meets them: objects with the methods of the conversation.

Which conductor is asked is placement's knowledge, how it is reached is the transport's.
"""

import random
from collections.abc import Callable
from typing import Any, Final, Protocol

from ironic.core.context import RequestContext
from ironic.core.errors import DriverNotFound
from ironic.rpc.conversation import CALLS, Call, ConductorCalls
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
    """Where the calls of one proxy go."""

    __slots__ = ("_host", "_transport")

    def __init__(self, transport: Transport, host: str) -> None:
        self._transport = transport
        self._host = host


def _forwarder(call: Call) -> Callable[..., Any]:
    def forward(self: _Remote, context: RequestContext, *args: Any, **kwargs: Any) -> Any:
        return self._transport.ask(self._host, context, call, call.arguments(*args, **kwargs))

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
        return self.at(self._placement.host_for(node.uuid, node.driver, node.conductor_group))

    def for_driver(self, name: str) -> ConductorCalls:
        """Return any conductor that serves a hardware type, or raise DriverNotFound."""
        hosts = self._placement.hosts_of(name)
        if not hosts:
            raise DriverNotFound(driver=name)
        return self.at(random.choice(hosts))

    def at(self, hostname: str) -> ConductorCalls:
        """Return the conductor of that name, be it alive or not."""
        conductor: ConductorCalls = _RemoteConductor(self._transport, hostname)
        return conductor
