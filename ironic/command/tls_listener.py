"""A listening socket that limits how many clients are in their TLS handshake.

A server gets a client only when its handshake has ended, and each handshake costs a descriptor and 300 KiB of memory.
So the limit is kept where connections are accepted: a new client replaces the earliest one.
"""

import contextlib
import resource
import socket
from typing import Any, Final

MOST_HANDSHAKES: Final = 200
# The share of the process's file descriptors that they may use.
_DESCRIPTOR_SHARE: Final = 0.125


class TlsListener(socket.socket):
    """Takes the place of a listening socket, whose descriptor it takes over."""

    def __init__(self, listener: socket.socket) -> None:
        super().__init__(fileno=listener.detach())
        self._most = min(MOST_HANDSHAKES, int(resource.getrlimit(resource.RLIMIT_NOFILE)[0] * _DESCRIPTOR_SHARE))
        # By descriptor, clients whose handshake may be under way; the earliest first.
        self._in_handshake: dict[int, socket.socket] = {}

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a client; if too many are in their handshake, the earliest of them is disconnected."""
        client, address = super().accept()
        # A client that had the descriptor before is gone.
        self._in_handshake.pop(client.fileno(), None)
        self._in_handshake[client.fileno()] = client
        if len(self._in_handshake) > self._most:
            # The event loop closes it, as after any other end of a connection.
            with contextlib.suppress(OSError):
                self._in_handshake.pop(next(iter(self._in_handshake))).shutdown(socket.SHUT_RDWR)
        return client, address

    def handshake_ended(self, descriptor: int) -> None:
        """Take a client off the list."""
        self._in_handshake.pop(descriptor, None)
