"""Clients in their TLS handshake, which asyncio shows to nobody: their connections are made when it has ended.

Until then a client costs a descriptor like any other, and needs to send nothing. So the listening socket counts them,
and ends the oldest handshake when there are too many; an honest one takes some round trips.
"""

import asyncio
import contextlib
import socket
from typing import Any, Self


class CountingListener(socket.socket):
    """A listening socket that lets a limited number of clients be in their handshake."""

    _most: int
    # By descriptor, the oldest first; those that were given up are closed and still here.
    _begun: dict[int, socket.socket]

    @classmethod
    def of(cls, listener: socket.socket, most: int) -> Self:
        """Take a listening socket over."""
        made = cls(listener.family, listener.type, listener.proto, fileno=listener.detach())
        made._most, made._begun = most, {}
        return made

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next client; it is in its handshake until `ended`."""
        client, address = super().accept()
        self._begun.pop(client.fileno(), None)
        self._begun[client.fileno()] = client
        while len(self._begun) > self._most:
            oldest = self._begun.pop(next(iter(self._begun)))
            with contextlib.suppress(OSError):  # it is gone already
                oldest.shutdown(socket.SHUT_RDWR)
        return client, address

    def ended(self, transport: asyncio.BaseTransport) -> None:
        """Note that the handshake of a client has ended well."""
        self._begun.pop(transport.get_extra_info("socket").fileno(), None)
