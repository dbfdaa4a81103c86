"""How a service process lives: its parts come up in order, signals rule it, its parts go down in reverse.

A part that can't start ends the process with one message and status 1; nothing stays up beside something dead. The
first SIGTERM or SIGINT asks for an orderly end, a second one ends at once. SIGUSR2 asks to drain: take no new work, end
when the present work has ended. SIGHUP makes options that allow it take their new values.
"""

import logging
import sys
import time
from collections.abc import Callable, Sequence

from oslo_config import cfg
from oslo_db import exception as db_errors

from ironic.command.lasting import lasting
from ironic.command.signals import DRAIN, HANG_UP, Inbox, Pause, receiving
from ironic.core.errors import IronicError

LOG = logging.getLogger(__name__)

# What people cause: the message says it all. Anything else is our fault and is logged with its traceback.
EXPLAINED = (IronicError, OSError, ValueError, cfg.Error, db_errors.DBError)

WELL, FAILED = 0, 1
# Work was left behind that did not end in time; its threads may still be there.
UNFINISHED = 3

# How often a process that drains looks whether its work has ended.
_LOOK_SECONDS = 0.5


class Part:
    """Something that runs; a concrete part overrides what it has to do."""

    # What did not end although `stop` waited for it.
    unfinished: Sequence[str] = ()

    @property
    def is_idle(self) -> bool:
        """Tell whether nothing is under way that its end would break off."""
        return True

    def start(self) -> None:
        """Come up, or raise; on return it works."""

    def retire(self) -> None:
        """Take no new work, while what is under way goes on."""

    def stop(self) -> None:
        """Finish what is under way and go down."""

    def reload(self) -> None:
        """Take the new values of options."""


class ToldToEnd(Exception):
    """A signal asked for the end while the process was still coming up."""


Build = Callable[[Pause], Sequence[Part]]


def run(conf: cfg.ConfigOpts, name: str, build: Build, *, began: float | None = None) -> int:
    """Build and start the parts, serve until a signal ends it, and return the exit status.

    ``build`` gets a function with which to wait: it tells whether the process shall end instead.
    """
    began = time.monotonic() if began is None else began
    with receiving() as inbox:
        started: list[Part] = []
        if fault := _bring_up(build, inbox.pause, started):
            status = _end_early(conf, name, fault)
            _stop(started)
            return status
        LOG.info("%s is ready after %.1f seconds.", name, time.monotonic() - began)
        _obey(conf, name, inbox, started)
        LOG.info("%s ends.", name)
        return _end(name, started)


def _bring_up(build: Build, pause: Pause, started: list[Part]) -> Exception | None:
    """Start the parts, noting each; return what went wrong instead of raising it, for oslo.log repeats what it finds
    in the air after every message."""
    try:
        with lasting():
            for part in build(pause):
                part.start()
                started.append(part)
    except Exception as fault:
        return fault
    return None


def _end_early(conf: cfg.ConfigOpts, name: str, fault: Exception) -> int:
    if isinstance(fault, ToldToEnd):
        LOG.info("%s ends before it was ready, as it was told to.", name)
        return WELL
    _explain(conf, name, fault)
    return FAILED


def _obey(conf: cfg.ConfigOpts, name: str, inbox: Inbox, parts: Sequence[Part]) -> None:
    """Return when it is time to end."""
    while (number := inbox.next()) == HANG_UP:
        _reload(conf, parts)
    if number == DRAIN:
        _drain(conf, name, inbox, parts)


def _drain(conf: cfg.ConfigOpts, name: str, inbox: Inbox, parts: Sequence[Part]) -> None:
    """Wait until all work has ended, its time is over, or a signal asks for the end at once."""
    LOG.info("%s drains: it takes no new work and ends when the present work has.", name)
    began = time.monotonic()
    for part in reversed(parts):
        part.retire()
    while not all(part.is_idle for part in parts):
        number = inbox.next(_LOOK_SECONDS)
        if number == HANG_UP:
            _reload(conf, parts)
        elif number not in (None, DRAIN):
            LOG.info("%s is told not to wait for its work to end by itself.", name)
            return
        if 0 < conf.drain_shutdown_timeout < time.monotonic() - began:
            LOG.warning("%s has drained for %s seconds and waits no longer.", name, conf.drain_shutdown_timeout)
            return


def _reload(conf: cfg.ConfigOpts, parts: Sequence[Part]) -> None:
    try:
        conf.mutate_config_files()
        for part in parts:
            part.reload()
    except EXPLAINED as fault:
        LOG.error("The configuration can't be read again, so nothing changes: %s", fault)


def _end(name: str, parts: Sequence[Part]) -> int:
    _stop(parts)
    left = [work for part in parts for work in part.unfinished]
    if left:
        LOG.error("%s has ended without waiting any longer for: %s", name, "; ".join(left))
        return UNFINISHED
    LOG.info("%s has ended.", name)
    return WELL


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
