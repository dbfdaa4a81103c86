"""The real service in processes of its own, with everything it writes in a directory of the test.

`Service` is one started program: where it answers, what it logged, how it ended. Used by the live tests and by the
scenarios; nothing in it knows what a node is.
"""

import atexit
import contextlib
import http.client
import itertools
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Protocol

import requests

from ironic.tests.forked_programs import ForkedProgram, may_be_forked

PROGRAMS = Path(sys.executable).parent
START_SECONDS = 60
_READY = re.compile(r"^.+ is ready(?: at \S+(?: and \S+)*)?; it logs to .+\.\n")
STOP_SECONDS = 60

Options = Mapping[str, Mapping[str, object]]

# What tests offer to the service is on the loopback; services side by side can't all have the usual port for files.
_USUAL: Options = {"outgoing": {"allow_loopback": True}, "deploy": {"http_server_port": 0}}


# Below the ports that the kernel gives to connections: none takes a port between its choice and its use.
_PORTS_OF_A_WORKER = 4000
_FIRST_PORT = 16_000 + _PORTS_OF_A_WORKER * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 4)
_chosen = itertools.count(os.getpid())


def free_port() -> int:
    """Return a free port of the loopback, which no other call of this worker returns soon."""
    for number in itertools.islice(_chosen, _PORTS_OF_A_WORKER):
        port = _FIRST_PORT + number % _PORTS_OF_A_WORKER
        with contextlib.suppress(OSError), contextlib.closing(socket.create_server(("127.0.0.1", port))):
            return port
    raise AssertionError("no port is free")


def write_options(path: Path, options: Options) -> Path:
    """Write a configuration file from groups of options and those of every test."""
    groups = {group: {**_USUAL.get(group, {}), **options.get(group, {})} for group in {**_USUAL, **options}}
    sections = (
        [f"[{group}]", *(f"{name} = {value}" for name, value in each.items())] for group, each in groups.items()
    )
    path.write_text("\n\n".join("\n".join(lines) for lines in sections) + "\n")
    return path


def create_database(*configuration: Path) -> None:
    """Create or upgrade the database that the files name; one in a new SQLite file is a copy of an earlier one."""
    found = _SQLITE_FILE.search("\n".join(path.read_text() for path in reversed(configuration)))
    if found is None or Path(found[1]).exists():
        _run_dbsync(configuration)
    else:
        shutil.copyfile(_upgraded_sqlite_file(), found[1])
        Path(found[1]).chmod(0o600)


_SQLITE_FILE = re.compile(r"^connection *= *sqlite:///(.+)$", re.MULTILINE)


@cache
def _upgraded_sqlite_file() -> Path:
    # The program is started once for all services of a process of tests; it takes as long as the service's own start.
    directory = Path(tempfile.mkdtemp(prefix="ironic-tests-"))
    atexit.register(shutil.rmtree, directory)
    path = directory / "upgraded.sqlite"
    _run_dbsync([write_options(directory / "dbsync.conf", {"database": {"connection": f"sqlite:///{path}"}})])
    return path


def _run_dbsync(configuration: Sequence[Path]) -> None:
    subprocess.run(
        [PROGRAMS / "ironic-dbsync", *_options(configuration), "upgrade"], check=True, stdin=subprocess.DEVNULL
    )


def _options(configuration: Sequence[Path]) -> list[str]:
    return [word for path in configuration for word in ("--config-file", str(path))]


class Answering(Protocol):
    """What answers requests at an address."""

    @property
    def url(self) -> str: ...


class Service:
    """One program of the service, running until it is stopped."""

    def __init__(
        self,
        program: str,
        configuration: Sequence[Path],
        log: Path,
        port: int | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        from_scratch: bool = False,
        words: Sequence[str] = (),
        within: Sequence[str] = (),
    ) -> None:
        """Start it as a fork of a process that has imported it; ``from_scratch`` starts the interpreter as well.

        ``words`` follow the names of the files. ``within`` is a command that becomes the one that follows it.
        """
        self.log_file, self.port = log, port
        command, variables = (
            [*within, str(PROGRAMS / program), *_options(configuration), *words],
            {**os.environ, **(environment or {})},
        )
        self._process: ForkedProgram | subprocess.Popen[str]
        if may_be_forked(variables) and not from_scratch and not within:
            self._process = ForkedProgram(command, variables)
        else:
            self._process = subprocess.Popen(
                command,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                # As a manager or a shell does: oslo.messaging's queue manager looks for the leader of its group.
                process_group=0,
            )

    @property
    def url(self) -> str:
        """Where its API answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def process_id(self) -> int:
        """The number the system knows it by; stands in every line it logs."""
        return self._process.pid

    @property
    def log(self) -> str:
        """What it has logged."""
        return self.log_file.read_text() if self.log_file.exists() else ""

    def await_ready(self) -> None:
        """Wait until it says in its log that it is ready; fail with what it said instead."""
        deadline = time.monotonic() + START_SECONDS
        while "is ready after" not in self.log:
            assert self._process.poll() is None, f"it ended instead of serving: {self.end()[1]}"
            assert time.monotonic() < deadline, f"it was not ready after {START_SECONDS} s:\n{self.log[-3000:]}"
            time.sleep(0.05)

    def signal(self, number: int) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def end(self) -> tuple[int, str]:
        """Wait for its end and return its exit status and what it printed."""
        output, _ = self._process.communicate(timeout=STOP_SECONDS)
        return self._process.wait(), output

    def ended_well(self) -> bool:
        """Wait for its end; return whether the status is 0 and all it printed is that it was ready."""
        status, output = self.end()
        return status == 0 and not _READY.sub("", output)

    def stop(self) -> int:
        """Ask it to end, wait, and return its exit status; safe for one that has ended."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            return self.end()[0]
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise

    def get(self, path: str, version: str = "1.115") -> requests.Response:
        """Ask the API."""
        return requests.get(f"{self.url}{path}", headers={"X-OpenStack-Ironic-API-Version": version}, timeout=30)


@contextlib.contextmanager
def all_in_one(configuration: Sequence[Path], log: Path, port: int, *, from_scratch: bool = False) -> Iterator[Service]:
    """Create the database, run `ironic` until the block ends, and see that it ends well."""
    create_database(*configuration)
    service = Service("ironic", configuration, log, port, from_scratch=from_scratch)
    try:
        service.await_ready()
        yield service
    except BaseException:
        service.stop()
        raise
    assert service.stop() == 0, f"it did not end cleanly:\n{service.log[-3000:]}"


def all_in_one_below(directory: Path, options: Options, port: int | None = None) -> AbstractContextManager[Service]:
    """Run `ironic` without credentials, with SQLite and a log below a directory; ``options`` add to that or replace it.

    ``port`` is that of its API, a free one by default.
    """
    port, log = port or free_port(), directory / "service.log"
    usual: Options = {
        "DEFAULT": {"auth_strategy": "noauth", "rpc_transport": "none", "host": "conductor-1", "log_file": log},
        "api": {"host_ip": "127.0.0.1", "port": port},
        "database": {"connection": f"sqlite:///{directory}/service.sqlite"},
    }
    merged = {group: {**usual.get(group, {}), **options.get(group, {})} for group in {**usual, **options}}
    return all_in_one([write_options(directory / "ironic.conf", merged)], log, port)


def listens(port: int) -> bool:
    """Return whether a server answers HTTP on a port of the loopback."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/")
        connection.getresponse().read()
    except OSError:
        return False
    finally:
        connection.close()
    return True
