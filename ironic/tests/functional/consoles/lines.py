"""Viewers of consoles, their processes, and waits for what happens to them."""

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ironic.drivers.modules.console import console_processes

PATIENCE = 60.0


def until(holds: Callable[[], Any], what: str) -> Any:
    """Wait until a condition holds; return what it gave."""
    deadline = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < deadline, f"waited too long until {what}"
        time.sleep(0.02)
    return found


class Viewer:
    """A client of a console."""

    def __init__(self, url: str) -> None:
        address, _, port = url.removeprefix("tcp://").rpartition(":")
        self._socket = socket.create_connection((address.strip("[]"), int(port)), PATIENCE)

    def send(self, text: bytes) -> None:
        self._socket.sendall(text)

    def read_until(self, end: bytes) -> bytes:
        """Return all that comes until these bytes have come."""
        seen = b""
        while end not in seen:
            chunk = self._socket.recv(4096)
            assert chunk, f"the console ended after {seen!r}"
            seen += chunk
        return seen

    def asked(self, text: bytes) -> bytes:
        """Send something; return what comes within half a second."""
        self.send(text)
        seen, end = b"", time.monotonic() + 0.5
        while (left := end - time.monotonic()) > 0 and select.select([self._socket], [], [], left)[0]:
            chunk = self._socket.recv(4096)
            assert chunk, f"the console ended after {seen!r}"
            seen += chunk
        return seen

    def is_over(self) -> bool:
        """Wait for the end of the connection; fail when it does not come."""
        try:
            while self._socket.recv(4096):
                pass
        except ConnectionResetError:
            pass
        self.close()
        return True

    def close(self) -> None:
        self._socket.close()


def talk(url: str, text: bytes = b"hello\n") -> bytes:
    """Say something to a console whose command repeats it; return what came back."""
    with contextlib.closing(Viewer(url)) as viewer:
        viewer.send(text)
        return viewer.read_until(text.strip())


def processes(pid_file: Path) -> list[int]:
    """Return the processes of a console."""
    return [process.pid for process in console_processes.running() if process.pid_file == pid_file]


def kill(pid_file: Path) -> int:
    """Kill the process that a PID file names, as a lack of memory does; return its ID."""
    pid = int(pid_file.read_text())
    os.kill(pid, signal.SIGKILL)
    return pid
