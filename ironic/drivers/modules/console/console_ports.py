"""TCP ports for consoles: which one is free, and which ones this process has given to nodes."""

import errno
import socket
import threading
from collections.abc import Iterable
from typing import Final

from ironic.drivers.modules.console.socat_command import is_ipv6


class ConsolePorts:
    """The ports in use by the consoles of this process; no two nodes get the same one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: set[int] = set()

    def take(self, address: str, ranges: Iterable[range], besides: Iterable[int] = ()) -> int | None:
        """Return the first port that no node has and no program listens on, now in use; None when there is none."""
        with self._lock:
            excluded = self._used.union(besides)
            free = (port for each in ranges for port in each if port not in excluded and is_free(address, port))
            port = next(free, None)
            if port is not None:
                self._used.add(port)
            return port

    def release(self, port: int) -> None:
        """Have the port free for others."""
        with self._lock:
            self._used.discard(port)


def is_free(address: str, port: int) -> bool:
    """Return whether no program listens on a port; for an address of another host too, as socat reports that."""
    with socket.socket(socket.AF_INET6 if is_ipv6(address) else socket.AF_INET) as probe:
        # Connections that have ended keep no port, and socat may take the port while this probe has it.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            return error.errno not in (errno.EADDRINUSE, errno.EACCES)
        return True


PORTS: Final = ConsolePorts()
