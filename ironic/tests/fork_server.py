"""A process that has imported the service and forks for every program that a test starts.

    python -m ironic.tests.fork_server CHANNEL

Importing takes most of the time of a start. The channel is a socket of packets: a request to start a program comes with
the file that its output goes to; the answer has its process id, and its exit status follows when it has ended. A child
leaves `serve` with the request and becomes the program: it has its words, its environment, and no more than it has.
"""

import importlib
import importlib.metadata
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any, Final

LARGEST_PACKET: Final = 128 * 1024
# What every program imports when it starts.
_IMPORTED: Final = ("ironic.command.lifecycle", "ironic.command.wiring")
_DRIVERS: Final = ("ironic.hardware.", "ironic.dhcp", "ironic.console.container", "ironic.inspection.")


def prepare() -> None:
    """Import what programs import, and run nothing."""
    for name in _IMPORTED:
        importlib.import_module(name)
    for point in importlib.metadata.distribution("ironic").entry_points:
        if point.group.startswith(_DRIVERS):
            importlib.import_module(point.module)


def serve(channel: socket.socket) -> dict[str, Any] | None:
    """Fork for each request; return the request in a child, and None in this process when the other side has gone."""
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    while True:
        ready, _, _ = select.select([channel, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _tell_of_ends(channel)
        if channel in ready:
            packet, files, _, _ = socket.recv_fds(channel, LARGEST_PACKET, 1)
            if not packet:
                return None
            if pid := os.fork():
                os.close(files[0])
                channel.send(json.dumps({"started": pid}).encode())
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (channel, woken, waker):
                one.close()
            _take_output(files[0])
            request: dict[str, Any] = json.loads(packet)
            return request


def _tell_of_ends(channel: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        channel.send(json.dumps({"ended": pid, "status": os.waitstatus_to_exitcode(status)}).encode())


def _take_output(file: int) -> None:
    for number in (1, 2):
        os.dup2(file, number)
    os.close(file)


def become(request: dict[str, Any]) -> int:
    """Run the program of a request and return its exit status."""
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["directory"])
    sys.argv[:] = request["words"]
    name = os.path.basename(sys.argv[0])
    (point,) = (
        each
        for each in importlib.metadata.distribution("ironic").entry_points
        if each.group == "console_scripts" and each.name == name
    )
    status: int = point.load()()
    return status


if __name__ == "__main__":
    prepare()
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    sys.exit(become(asked) if asked else 0)
