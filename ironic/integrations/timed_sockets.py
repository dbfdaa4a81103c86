"""Connections that end with their time, however slowly the other side sends.

A timeout of a socket holds for one wait only: who sends a byte now and then prolongs a call for ever. These count down
to one end for all waits.
"""

import socket
import ssl
import time
from collections.abc import Iterable
from typing import Any, Self

from ironic.integrations.destinations import Place


class _Timed(socket.socket):
    """A socket whose waits end at ``until`` (monotonic seconds), and each of them after ``idle`` seconds."""

    until: float
    idle: float

    def hurry(self) -> Self:
        """Have the next wait end in time; raise TimeoutError when that was before."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for this call is over")
        self.settimeout(min(left, self.idle))
        return self

    def recv_into(self, *args: Any, **options: Any) -> int:
        self.hurry()
        return super().recv_into(*args, **options)

    def send(self, data: Any, *args: Any) -> int:
        self.hurry()
        return super().send(data, *args)

    def sendall(self, data: Any, *args: Any) -> None:
        self.hurry()
        super().sendall(data, *args)


class _Secure(_Timed, ssl.SSLSocket):
    """The same with TLS."""


def connected(places: Iterable[Place], until: float, idle: float) -> socket.socket:
    """Return a connection to the first of several addresses that takes it; raises OSError when none does."""
    fault: OSError = OSError("the name has no address")
    for place in places:
        made = _Timed(place.family, socket.SOCK_STREAM)
        made.until, made.idle = until, idle
        try:
            made.hurry().connect(place.address)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made
        except OSError as error:
            made.close()
            fault = error
    raise fault


def secured(plain: socket.socket, context: ssl.SSLContext, name: str) -> socket.socket:
    """Speak TLS over a connection; the other side shows a certificate for ``name`` as the context wants it."""
    assert isinstance(plain, _Timed)
    until, idle = plain.until, plain.idle
    context.sslsocket_class = _Secure
    made = context.wrap_socket(plain.hurry(), server_hostname=name)
    assert isinstance(made, _Secure)
    made.until, made.idle = until, idle
    return made
