"""A listening socket that limits how many clients are in their TLS handshake.

A server knows of a client only when its handshake has ended, and each one costs a descriptor and 300 KiB of memory. So
the limit is kept where connections are accepted: the earliest client gives way to a new one.
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
        # Clients whose handshake may be under way by descriptor, the earliest first.
        self._strangers: dict[int, socket.socket] = {}

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a client; the earliest one in its handshake is sent away if there are too many."""
        client, address = super().accept()
        # A client that had the descriptor before is gone.
        self._strangers.pop(client.fileno(), None)
        self._strangers[client.fileno()] = client
        if len(self._strangers) > self._most:
            # The event loop closes it, as after any other end of a connection.
            with contextlib.suppress(OSError):
                self._strangers.pop(next(iter(self._strangers))).shutdown(socket.SHUT_RDWR)
        return client, address

    def know(self, descriptor: int) -> None:
        """Take a client off the list: its handshake has ended."""
        self._strangers.pop(descriptor, None)
