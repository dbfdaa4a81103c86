"""How a service process lives: its parts come up in order, signals rule it, its parts go down in reverse.

A part that can't start ends the process with one message and status 1; nothing stays up beside something dead. The
first SIGTERM or SIGINT asks for an orderly end, a second one ends at once. SIGHUP makes options that allow it take
their new values.
"""

import logging
import queue
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from oslo_config import cfg
from oslo_db import exception as db_errors

from ironic.core.errors import IronicError

LOG = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

# What people cause: the message says it all. Anything else is our fault and is logged with its traceback.
EXPLAINED = (IronicError, OSError, ValueError, cfg.Error, db_errors.DBError)


class Part(Protocol):
    """Something that runs."""

    def start(self) -> None:
        """Come up, or raise; on return it works."""

    def stop(self) -> None:
        """Finish what is under way and go down."""

    def reload(self) -> None:
        """Take the new values of options."""


def run(conf: cfg.ConfigOpts, name: str, build: Callable[[], Sequence[Part]], *, began: float | None = None) -> int:
    """Build and start the parts, serve until a signal ends it, and return the exit status."""
    began = time.monotonic() if began is None else began
    with _signals() as inbox:
        started: list[Part] = []
        if fault := _bring_up(build, started):
            _explain(conf, name, fault)
            _stop(started)
            return 1
        LOG.info("%s is ready after %.1f seconds.", name, time.monotonic() - began)
        _obey(conf, inbox, started)
        LOG.info("%s ends.", name)
        _stop(started)
        LOG.info("%s has ended.", name)
    return 0


@contextmanager
def _signals() -> Iterator["queue.SimpleQueue[int]"]:
    """Collect signals in a queue, which unlike most things may be filled by a signal handler."""
    inbox: queue.SimpleQueue[int] = queue.SimpleQueue()

    def receive(number: int, frame: FrameType | None) -> None:
        inbox.put(number)
        if number != signal.SIGHUP:
            signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, receive) for number in SIGNALS}
    try:
        yield inbox
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _bring_up(build: Callable[[], Sequence[Part]], started: list[Part]) -> Exception | None:
    """Start the parts, noting each; return what went wrong instead of raising it, for oslo.log repeats what it finds
    in the air after every message."""
    try:
        for part in build():
            part.start()
            started.append(part)
    except Exception as fault:
        return fault
    return None


def _obey(conf: cfg.ConfigOpts, inbox: "queue.SimpleQueue[int]", parts: Sequence[Part]) -> None:
    while inbox.get() == signal.SIGHUP:
        try:
            conf.mutate_config_files()
            for part in parts:
                part.reload()
        except EXPLAINED as fault:
            LOG.error("The configuration can't be read again, so nothing changes: %s", fault)


def _stop(parts: Sequence[Part]) -> None:
    for part in reversed(parts):
        try:
            part.stop()
        except Exception:
            LOG.exception("%s did not end cleanly.", type(part).__name__)


def _explain(conf: cfg.ConfigOpts, name: str, fault: Exception) -> None:
    message = f"{name} can't start: {fault}"
    LOG.error(message, exc_info=None if isinstance(fault, EXPLAINED) else fault)
    if conf.log_file or conf.log_dir or conf.use_syslog:
        # Whoever started it by hand looks at the terminal, not into the log.
        print(message, file=sys.stderr)
