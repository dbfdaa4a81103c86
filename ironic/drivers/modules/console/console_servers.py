"""The socat processes of this conductor: started, stopped, and reported when one ends by itself.

One thread waits for the ends of all of them and reads their standard error, of which the last bytes are kept. A console
outlives its conductor: the next process of the conductor finds it by its marks, and replaces or ends it.
"""

import contextlib
import functools
import logging
import os
import select
import subprocess
import threading
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from ironic.conf import CONF
from ironic.core.clock import CLOCK
from ironic.core.errors.hardware_errors import ConsoleError, ConsoleSubprocessFailed
from ironic.core.texts.syntax import is_stored_uuid
from ironic.core.threads import THREADS
from ironic.drivers.modules.console import console_processes, socat_command
from ironic.drivers.modules.console.console_ports import is_free
from ironic.drivers.modules.console.console_processes import ConsoleProcess
from ironic.drivers.modules.console.socat_command import PROGRAM, ConsoleCommand

LOG = logging.getLogger(__name__)

# Bytes of standard error that are kept for the message about an end.
_KEPT_BYTES: Final = 1000
_FIRST_PAUSE: Final = 0.01
# A process that was killed and does not end within so many seconds is stuck in the kernel.
_LAST_SECONDS: Final = 10.0
_ROUNDS: Final = 3
_SUFFIX: Final = ".pid"
# Files of a console without a process are left alone for so many seconds: it may be starting.
_FRESH_SECONDS: Final = 60.0


class ConsoleEnd(NamedTuple):
    """A console that has ended by itself: its node and why."""

    uuid: str
    reason: str


@dataclass(slots=True)
class _Served:
    """A console that runs: its process, a descriptor that becomes readable at its end, and its last messages."""

    uuid: str
    process: subprocess.Popen[bytes]
    handle: int
    messages: bytearray = field(default_factory=bytearray)

    @property
    def output(self) -> int:
        """The descriptor of its standard error."""
        assert self.process.stderr
        return self.process.stderr.fileno()

    def read_messages(self) -> bool:
        """Read its standard error; return False when nothing more will come."""
        try:
            while chunk := os.read(self.output, 4096):
                self.messages += chunk
                del self.messages[:-_KEPT_BYTES]
        except BlockingIOError:
            return True
        return False

    def has_ended(self) -> bool:
        """Return whether the process has ended; it is not reaped."""
        return os.waitid(os.P_PIDFD, self.handle, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def reap(self) -> str:
        """Reap the process, which was ended or has ended by itself; return why, in words."""
        self.read_messages()
        assert self.process.stderr
        self.process.stderr.close()
        os.close(self.handle)
        try:
            status = self.process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise ConsoleError(node=self.uuid, error=f"process {self.process.pid} can't be ended") from error
        how = f"was killed by signal {-status}" if status < 0 else f"ended with exit code {status}"
        text = self.messages.decode(errors="replace").strip()
        return f"{PROGRAM} {how}" + (f": {text}" if text else "")


class ConsoleServers:
    """The consoles that this process has started, by node."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._served: dict[str, _Served] = {}
        self._on_end: Callable[[ConsoleEnd], None] = lambda end: LOG.warning("%s", end)

    def report_to(self, on_end: Callable[[ConsoleEnd], None]) -> None:
        """Call a function, which must not wait, for every console that ends without being stopped."""
        self._on_end = on_end

    def start(self, uuid: str, command: ConsoleCommand, port: int) -> None:
        """Offer the console of a node on a port; an earlier one of the node is stopped first.

        Raises ConsoleSubprocessFailed with the messages of the program.
        """
        self.stop(uuid)
        options = CONF.console
        address, pid_file = str(options.socat_address), _pid_file(uuid)
        arguments = socat_command.arguments(address, port, pid_file, options.terminal_timeout)
        variables = socat_command.environment(command, pid_file, CONF.host)
        try:
            process = subprocess.Popen(
                arguments,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ConsoleSubprocessFailed(node=uuid, error=f"{PROGRAM} can't be started: {error}") from error
        served = _Served(uuid, process, os.pidfd_open(process.pid))
        os.set_blocking(served.output, False)
        self._await_start(served, address, port, pid_file)
        with self._lock:
            self._served[uuid] = served
            self._ends.register(served.output, select.EPOLLIN)
            self._ends.register(served.handle, select.EPOLLIN)

    def stop(self, uuid: str) -> None:
        """End all processes of a node's console, those of an earlier process of this conductor too."""
        with self._lock:
            if served := self._served.pop(uuid, None):
                self._forget(served)
        pid_file = _pid_file(uuid)
        # A process may have started another one before it ended.
        for _round in range(_ROUNDS):
            processes = [process for process in console_processes.running() if process.pid_file == pid_file]
            console_processes.end(processes, CONF.console.kill_timeout)
            if not processes:
                break
        if served:
            served.reap()
        _remove(pid_file)

    def disconnect_viewers(self, uuid: str) -> None:
        """End the present sessions at a console, which goes on for the next viewers."""
        with self._lock:
            served = self._served.get(uuid)
        if served:
            pid_file = _pid_file(uuid)
            found = (process for process in console_processes.running() if process.pid_file == pid_file)
            viewers = [process for process in found if process.pid != served.process.pid]
            console_processes.end(viewers, CONF.console.kill_timeout)

    def sweep(self, is_needed: Callable[[str], bool]) -> None:
        """End what this conductor, or an earlier process of it, has started for nodes that need no console here.

        What is started meanwhile goes on. PID files of consoles that have no process are removed, also those that
        others have started.
        """
        found = console_processes.running()
        directory = _directory()
        own: dict[str, list[ConsoleProcess]] = defaultdict(list)
        for process in found:
            if process.conductor == CONF.host and process.pid_file.parent == directory:
                own[process.pid_file.stem].append(process)
        for uuid, processes in own.items():
            if not is_needed(uuid):
                LOG.info("Node %s: its console on this host is closed, because the node needs none here", uuid)
                self._end(uuid, processes)
        living = {process.pid_file.stem for process in found}
        for path in directory.glob(f"*{_SUFFIX}*"):
            uuid = path.name.partition(_SUFFIX)[0]
            if is_stored_uuid(uuid) and uuid not in living and _is_old(path):
                _remove(directory / f"{uuid}{_SUFFIX}")

    def _end(self, uuid: str, processes: Collection[ConsoleProcess]) -> None:
        """End these processes of a node, and no console that has come after them."""
        with self._lock:
            served = self._served.get(uuid)
            if served and any(process.pid == served.process.pid for process in processes):
                self._forget(self._served.pop(uuid))
            else:
                served = None
        console_processes.end(processes, CONF.console.kill_timeout)
        if served:
            served.reap()

    @functools.cached_property
    def _ends(self) -> select.epoll:
        """What the watching thread waits for; the thread starts with the first console."""
        ends = select.epoll()
        THREADS.make("console-watch", self._watch, ends).start()
        return ends

    def _watch(self, ends: select.epoll) -> None:
        while True:
            for descriptor, _event in ends.poll():
                try:
                    if end := self._handle_event(descriptor):
                        self._on_end(end)
                except Exception:
                    LOG.exception("The end of a console could not be handled")

    def _handle_event(self, descriptor: int) -> ConsoleEnd | None:
        """Read the messages of a console, or return its end."""
        with self._lock:
            for served in self._served.values():
                if served.output == descriptor:
                    if not served.read_messages():
                        self._ends.unregister(descriptor)
                    return None
                # The number of a descriptor may be that of a later console by now, which goes on.
                if served.handle == descriptor and served.has_ended():
                    del self._served[served.uuid]
                    self._forget(served)
                    return ConsoleEnd(served.uuid, served.reap())
        return None

    def _forget(self, served: _Served) -> None:
        for descriptor in (served.output, served.handle):
            with contextlib.suppress(FileNotFoundError):  # nothing more came from it
                self._ends.unregister(descriptor)

    def _await_start(self, served: _Served, address: str, port: int, pid_file: Path) -> None:
        """Wait until the console can be reached; end it and raise ConsoleSubprocessFailed if that fails."""
        until = CLOCK.monotonic() + CONF.console.subprocess_timeout
        pause, poll = _FIRST_PAUSE, select.poll()
        poll.register(served.handle, select.POLLIN)
        while not poll.poll(pause * 1000):
            if _has_written(pid_file, served.process.pid) and not is_free(address, port):
                return
            if CLOCK.monotonic() > until:
                reason = f"{PROGRAM} did not listen in time"
                served.process.kill()
                served.reap()
                break
            pause = min(pause * 2, CONF.console.subprocess_checking_interval)
        else:
            reason = served.reap()
        _remove(pid_file)
        raise ConsoleSubprocessFailed(node=served.uuid, error=reason)


SERVERS: Final = ConsoleServers()


def _directory() -> Path:
    return Path(os.path.abspath(CONF.console.terminal_pid_dir or CONF.tempdir))


def _pid_file(uuid: str) -> Path:
    directory = _directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConsoleError(
            node=uuid, error=f"{directory} can't be made: {error.strerror}. Set [console]terminal_pid_dir to another"
        ) from error
    return directory / f"{uuid}{_SUFFIX}"


def _remove(pid_file: Path) -> None:
    """Remove the PID file, and what socat leaves beside it when it can't write it; a console can end without that."""
    try:
        for path in pid_file.parent.glob(f"{pid_file.name}*"):
            path.unlink(missing_ok=True)
    except OSError as error:
        LOG.warning("%s can't be removed: %s. Check [console]terminal_pid_dir", pid_file, error.strerror)


def _has_written(pid_file: Path, pid: int) -> bool:
    try:
        return pid_file.read_text().strip() == str(pid)
    except OSError:
        return False


def _is_old(path: Path) -> bool:
    try:
        return CLOCK.epoch() - path.lstat().st_mtime > _FRESH_SECONDS
    except OSError:
        return False
