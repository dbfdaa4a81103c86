"""A TCP relay in front of a server, whose connections a test can cut all at once."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Relay:
    """Passes on what comes in at ``port`` of the loopback, both ways, until its connections are cut."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target, self._guard = target, threading.Lock()
        self._door = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._flows = threading.Event()
        self._flows.set()
        self.port: int = self._door.getsockname()[1]
        # How many connections were made so far.
        self.made = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> int:
        """Cut every connection; return how many there were."""
        with self._guard:
            ends, self._open = self._open, set()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        return len(ends) // 2

    def freeze(self) -> None:
        """Pass on nothing, as a server that hangs, until `thaw`; connections are accepted all the same."""
        self._flows.clear()

    def thaw(self) -> None:
        """Pass on what has come in meanwhile, and go on."""
        self._flows.set()

    def close(self) -> None:
        """Take no more connections and cut those there are."""
        with contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self.thaw()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._door.accept()
                self._flows.wait()
                server = socket.create_connection(self._target)
                with self._guard:
                    self._open |= {client, server}
                    self.made += 1
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._pump, args=ends, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._flows.wait()
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
        with self._guard:
            self._open.discard(source)
        source.close()


@contextmanager
def relay(host: str, port: int) -> Iterator[Relay]:
    """Run a relay until the block ends."""
    running = Relay((host, port))
    try:
        yield running
    finally:
        running.close()
