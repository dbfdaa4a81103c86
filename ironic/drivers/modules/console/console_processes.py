"""Processes of consoles on this host: found by marks in their environment, ended without doubt about their identity.

A process ID in a file may belong to another process by now, and the socat that wrote it may be gone while a process for
its viewer lives. So the processes of a console are all that carry its mark and belong to the user of this service. A
process is signalled through a descriptor that was opened before its mark was read.
"""

import contextlib
import os
import select
import signal
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from ironic.core.clock import CLOCK
from ironic.drivers.modules.console.socat_command import CONDUCTOR, PID_FILE


class ConsoleProcess(NamedTuple):
    """One process of a console, the PID file of the console, and the conductor that has started it."""

    pid: int
    pid_file: Path
    conductor: str


def running() -> list[ConsoleProcess]:
    """Return the processes of all consoles on this host that this user has started."""
    pids = (int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit())
    return [found for pid in pids if (found := _console_of(pid))]


def _console_of(pid: int) -> ConsoleProcess | None:
    """Return what a process says of itself; None when it is no console's, is gone, or belongs to another user."""
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.geteuid():
            return None
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    marks = dict(entry.split(b"=", 1) for entry in variables if entry.startswith(b"IRONIC_CONSOLE_"))
    try:
        pid_file, conductor = marks[PID_FILE.encode()], marks[CONDUCTOR.encode()]
    except KeyError:
        return None
    return ConsoleProcess(pid, Path(os.fsdecode(pid_file)), os.fsdecode(conductor))


def end(processes: Collection[ConsoleProcess], patience: float) -> None:
    """End processes and wait until they are gone; after ``patience`` seconds they are killed."""
    with contextlib.ExitStack() as stack:
        handles = [handle for process in processes if (handle := _handle(process)) is not None]
        for handle in handles:
            stack.callback(os.close, handle)
        left = _after(signal.SIGTERM, handles, patience)
        # A process that does not even end by this is stuck in the kernel: waiting longer would not help.
        _after(signal.SIGKILL, left, max(patience, 1.0))


def _handle(process: ConsoleProcess) -> int | None:
    """Return a descriptor of the process if it is still the same one."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return None
    if _console_of(process.pid) == process:
        return handle
    os.close(handle)
    return None


def _after(number: signal.Signals, handles: Collection[int], patience: float) -> list[int]:
    """Send a signal to processes; return those that live after so many seconds."""
    left, poll = set(handles), select.poll()
    for handle in handles:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, number)
        poll.register(handle, select.POLLIN)
    until = CLOCK.monotonic() + patience
    while left and (seconds := until - CLOCK.monotonic()) > 0:
        for handle, _event in poll.poll(seconds * 1000):
            poll.unregister(handle)
            left.discard(handle)
    return sorted(left)
