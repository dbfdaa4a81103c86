"""A listening socket that limits how many clients are in their TLS handshake.

A server knows of a client only when its handshake has ended, and each one costs a descriptor and 300 KiB of memory. So
the limit is kept where connections are accepted: the earliest client gives way to a new one.
"""

import contextlib
import socket
from typing import Any, Final

MOST_HANDSHAKES: Final = 200


class TlsListener(socket.socket):
    """Takes the place of a listening socket, whose descriptor it takes over."""

    def __init__(self, listener: socket.socket) -> None:
        super().__init__(fileno=listener.detach())
        # Clients whose handshake may be under way, the earliest first.
        self._strangers: list[socket.socket] = []

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a client; the earliest one in its handshake is sent away if there are too many."""
        client, address = super().accept()
        self._strangers = [each for each in self._strangers if each.fileno() >= 0]
        self._strangers.append(client)
        if len(self._strangers) > MOST_HANDSHAKES:
            # The event loop closes it, as after any other end of a connection.
            with contextlib.suppress(OSError):
                self._strangers.pop(0).shutdown(socket.SHUT_RDWR)
        return client, address

    def know(self, descriptor: int) -> None:
        """Take a client off the list: its handshake has ended."""
        self._strangers = [each for each in self._strangers if each.fileno() != descriptor]
