"""Run a program that talks to a BMC, with an end: so many seconds, so many bytes."""

import os
import selectors
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final

from ironic.core.clock import CLOCK
from ironic.drivers.modules.ipmi.command_line import CommandLine

_PIECE: Final = 64 * 1024
# Seconds between two checks for something more urgent.
_GLANCE: Final = 0.25


class TooLate(Exception):
    """The program did not end in its time and was killed."""


class Preempted(Exception):
    """The program was killed for something more urgent."""


class TooMuch(Exception):
    """The program wrote too much and was killed."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that has ended: its status and what it wrote."""

    status: int
    output: str
    errors: str


def run(
    line: CommandLine, *, seconds: float, most_bytes: int, is_preempted: Callable[[], bool] = lambda: False
) -> Ended:
    """Run a program to its end; raise TooLate, TooMuch, or OSError when it can't be started.

    When ``is_preempted`` becomes true the program is killed; raise Preempted.
    """
    until = CLOCK.monotonic() + seconds
    with subprocess.Popen(
        line.arguments,
        env=line.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A group of its own: children of the program are killed with it.
        start_new_session=True,
    ) as process:
        try:
            output, errors = _read(process, until, most_bytes, is_preempted)
            status = process.wait(max(0.0, until - CLOCK.monotonic()))
        except subprocess.TimeoutExpired:
            raise TooLate from None
        finally:
            if process.returncode is None:
                _kill(process)
    return Ended(status, output.decode(errors="replace"), errors.decode(errors="replace"))


def _read(
    process: "subprocess.Popen[bytes]", until: float, most_bytes: int, is_preempted: Callable[[], bool]
) -> tuple[bytes, bytes]:
    """Return both outputs of a program once it has closed them."""
    assert process.stdout is not None and process.stderr is not None
    pieces: dict[IO[bytes], list[bytes]] = {process.stdout: [], process.stderr: []}
    size = 0
    with selectors.DefaultSelector() as selector:
        for stream in pieces:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, min(until - CLOCK.monotonic(), _GLANCE)))
            if CLOCK.monotonic() >= until:
                raise TooLate
            if not ready and is_preempted():
                raise Preempted
            for key, _ in ready:
                stream = next(one for one in pieces if one is key.fileobj)
                piece = os.read(key.fd, _PIECE)
                if not piece:
                    selector.unregister(stream)
                pieces[stream].append(piece)
                size += len(piece)
                if size > most_bytes:
                    raise TooMuch
    return b"".join(pieces[process.stdout]), b"".join(pieces[process.stderr])


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
