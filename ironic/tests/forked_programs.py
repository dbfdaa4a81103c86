"""Programs of the service that are forks of a process which has imported it: see `fork_server`."""

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any, Final

from ironic.tests.fork_server import LARGEST_PACKET


def _read_by_interpreter(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the interpreter reads at its start, before a fork could be told."""
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


_USUAL: Final = _read_by_interpreter(os.environ)


def may_be_forked(environment: Mapping[str, str]) -> bool:
    """Return whether a fork is the same as a program that is started with this environment."""
    return _read_by_interpreter(environment) == _USUAL


class ForkedProgram:
    """A running program, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        reading, writing = os.pipe()
        request = {"words": list(words), "environment": dict(environment), "directory": os.getcwd()}
        try:
            self.pid = _server().start(json.dumps(request).encode(), writing)
        finally:
            os.close(writing)
        self.returncode: int | None = None
        self._output: IO[str] | None = os.fdopen(reading, encoding="utf-8")
        self._said = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        if self._output is not None:
            with self._output as output:
                self._said = output.read()

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        if self.returncode is None:
            self.returncode = _server().status_of(self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its exit status; raises subprocess.TimeoutExpired."""
        until = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if until is not None and time.monotonic() >= until:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            time.sleep(0.01)
        return status

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for its end and return what it printed."""
        self.wait(timeout)
        self._reader.join()
        return self._said, None

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


class _Server:
    """The process that forks, and the statuses of forks that have ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._statuses: dict[int, int] = {}
        self._channel, others = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with others:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "ironic.tests.fork_server", str(others.fileno())],
                env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | _USUAL,
                pass_fds=[others.fileno()],
                stdin=subprocess.DEVNULL,
            )
        atexit.register(self._end)

    def _end(self) -> None:
        self._channel.close()
        self._process.wait(10)

    def start(self, request: bytes, output: int) -> int:
        """Have a program started and return its process id."""
        with self._lock:
            socket.send_fds(self._channel, [request], [output])
            while True:
                told = self._receive()
                if "started" in told:
                    return int(told["started"])

    def status_of(self, pid: int) -> int | None:
        """Return the exit status of a program that has ended."""
        with self._lock:
            self._channel.setblocking(False)
            try:
                while pid not in self._statuses:
                    self._receive()
            except BlockingIOError:
                return None
            finally:
                self._channel.setblocking(True)
            return self._statuses[pid]

    def _receive(self) -> dict[str, Any]:
        packet = self._channel.recv(LARGEST_PACKET)
        assert packet, "the process that forks has ended"
        told: dict[str, Any] = json.loads(packet)
        if "ended" in told:
            self._statuses[told["ended"]] = told["status"]
        return told


@functools.cache
def _server() -> _Server:
    return _Server()
