"""A listening socket that limits how many clients are in their TLS handshake.

A server gets a client only when its handshake has ended, and each handshake costs a descriptor and 300 KiB of memory.
So the limit is kept where connections are accepted: for a new client one of the address that has the most in their
handshake ends. It counts until the event loop has closed it; while too many wait for that, none is accepted.
"""

import asyncio
import contextlib
import resource
import socket
from typing import Any, Final, NamedTuple

from ironic.api.rate_limit import bucket_of
from ironic.command.memory import AfterCrowds, Collector
from ironic.command.victims import victim

MOST_HANDSHAKES: Final = 200
# The share of the process's file descriptors that they may use.
_DESCRIPTOR_SHARE: Final = 0.125
# Handshakes that failed until garbage is collected, and seconds between two looks for them: asyncio leaves each in a
# cycle of its exception and its future, which the collector would find after hundreds of MiB only.
FAILED: Final = 50
_SWEEP_SECONDS: Final = 1.0


class _Client(NamedTuple):
    """A client whose handshake may be under way."""

    socket: socket.socket
    address: str

    def disconnect(self) -> None:
        """End the connection; the event loop closes it then, as after any other end."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


class TlsListener(socket.socket):
    """Takes the place of a listening socket, whose descriptor it takes over."""

    def __init__(self, listener: socket.socket) -> None:
        super().__init__(fileno=listener.detach())
        self._most = min(MOST_HANDSHAKES, int(resource.getrlimit(resource.RLIMIT_NOFILE)[0] * _DESCRIPTOR_SHARE))
        # By descriptor, clients whose handshake may be under way, the earliest first; those that are being closed.
        self._in_handshake: dict[int, _Client] = {}
        self._ending: list[_Client] = []
        self._failed, self._is_swept = 0, False
        self._collector, self._after_crowds = Collector(), AfterCrowds()

    @property
    def handshakes(self) -> int:
        """The number of clients whose handshake is under way, or whose connection is being closed."""
        return len(self._in_handshake) + len(self._ending)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a client; if too many are in their handshake, one of them is disconnected.

        Raises BlockingIOError, as if there was none, while too many disconnected ones wait to be closed.
        """
        self._forget_closed()
        if len(self._ending) >= self._most:
            raise BlockingIOError
        client, address = super().accept()
        newcomer = _Client(client, bucket_of(address[0]) if isinstance(address, tuple) else "")
        if len(self._in_handshake) >= self._most:
            gone = victim(newcomer, self._in_handshake.values(), lambda each: each.address)
            self._in_handshake.pop(gone.socket.fileno(), None)
            self._ending.append(gone)
            gone.disconnect()
        self._in_handshake[client.fileno()] = newcomer
        if not self._is_swept:
            self._is_swept = True
            asyncio.get_running_loop().call_later(_SWEEP_SECONDS, self._sweep)
        return client, address

    def close(self) -> None:
        """Listen no more, and end the handshakes."""
        for client in self._in_handshake.values():
            client.disconnect()
        super().close()

    def handshake_ended(self, descriptor: int) -> None:
        """Take a client off the list."""
        self._in_handshake.pop(descriptor, None)

    def _forget_closed(self) -> None:
        """Count the handshakes that have failed since the last time, and free the memory of many of them."""
        before = self.handshakes
        self._in_handshake = {number: each for number, each in self._in_handshake.items() if each.socket.fileno() != -1}
        self._ending = [each for each in self._ending if each.socket.fileno() != -1]
        self._failed += before - self.handshakes
        if self._failed >= FAILED and self._collector.collect():
            self._failed = 0

    def _sweep(self) -> None:
        self._forget_closed()
        self._after_crowds.note(self.handshakes)
        self._is_swept = self.handshakes > 0
        if self._is_swept:
            asyncio.get_running_loop().call_later(_SWEEP_SECONDS, self._sweep)
