"""The life of a service process: read options, start components in order, handle signals, stop in reverse order.

A component that can't start ends the process with one message and status 1; the components that did start are stopped.
The first SIGTERM or SIGINT asks for an orderly end, a second one ends the process at once. SIGUSR2 asks to drain: take
no new work, end when the present work has ended. SIGHUP makes options that allow it take their new values.

The function that builds the components imports the modules it needs, and is called once the options were read: a
mistyped command line or file is reported at once, and no program loads what only others use.
"""

import ctypes
import gc
import logging
import os
import select
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from types import FrameType
from typing import Final

from oslo_config import cfg
from oslo_db import exception as db_errors
from oslo_log.log import LogConfigError

from ironic.command import service_manager
from ironic.conf import CONF, checked_values, config_files, logging_setup, prepare
from ironic.core.errors import IronicError

LOG = logging.getLogger(__name__)

# The start of the program: the modules that take long to load are imported later.
BEGAN: Final = time.monotonic()

# Exit statuses. UNFINISHED: some work did not end in time and was left behind; its threads may still run.
WELL, FAILED, UNFINISHED = 0, 1, 3

# Caused by the operator: the message is enough. Anything else is a bug and is logged with its traceback.
EXPLAINED = (IronicError, OSError, ValueError, cfg.Error, db_errors.DBError, LogConfigError)

_STACK_SIZE: Final = "IRONIC_THREAD_STACK_SIZE"

# Seconds between two checks whether the work of a draining process has ended.
_DRAIN_POLL_SECONDS: Final = 0.5

# Waits for so many seconds; returns early and true if the process shall end.
Pause = Callable[[float], bool]


class Component:
    """A part of a service process; a concrete component overrides what it has to do."""

    # Why this part had the process end.
    fault: str | None = None

    # Descriptions of the work that did not end although `stop` waited for it.
    unfinished: Sequence[str] = ()

    @property
    def places(self) -> Sequence[str]:
        """Where users find what this part serves, for the line that says that the process is ready."""
        return ()

    @property
    def is_idle(self) -> bool:
        """Return whether no work is under way that stopping would interrupt."""
        return True

    def start(self) -> None:
        """Start, or raise; on return the component works."""

    def retire(self) -> None:
        """Take no new work, while what is under way continues."""

    def stop(self) -> None:
        """Finish what is under way and stop."""

    def reload(self) -> None:
        """Take the new values of options, or raise; after an error it is called again, with the old values."""


class StopRequested(Exception):
    """A signal asked for the end while the process was still starting."""


Build = Callable[[Pause], Sequence[Component]]


def run_program(name: str, build: Build, argv: Sequence[str]) -> int:
    """Read the options and run the program that consists of these components; return its exit status."""
    try:
        prepare(argv)
    except (cfg.Error, OSError, ValueError, LogConfigError) as fault:
        print(f"{name} can't start: {config_files.in_words(fault)}", file=sys.stderr)
        return FAILED

    try:
        set_thread_stacks(os.environ)
    except ValueError as fault:
        LOG.error("%s can't start: %s", name, fault)
        _tell(CONF, f"{name} can't start: {fault}")
        return FAILED
    status = run_components(CONF, name, build, began=BEGAN)
    if status == UNFINISHED:
        # Threads are still at work, and the interpreter would wait for them for ever.
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


def set_thread_stacks(environment: Mapping[str, str]) -> None:
    """Give threads stacks of IRONIC_THREAD_STACK_SIZE bytes; ValueError for a size that the system refuses."""
    text = environment.get(_STACK_SIZE, "").strip()
    if not text:
        return
    try:
        size = int(text)
        if size <= 0:
            raise ValueError("it must be a number of bytes above 0")
        threading.stack_size(size)
    except (ValueError, OverflowError, RuntimeError) as error:
        raise ValueError(f"{_STACK_SIZE} in the environment is {text[:64]!r}: {error}") from error


def run_components(conf: cfg.ConfigOpts, name: str, build: Build, *, began: float | None = None) -> int:
    """Build and start the components, serve until a signal ends it, and return the exit status.

    ``build`` gets a `Pause` for its waits; ``began`` is when the program started, on the monotonic clock.
    """
    began = time.monotonic() if began is None else began
    with receive_signals() as signals:
        started: list[Component] = []
        fault = _start_components(conf, build, signals.pause, started)
        if isinstance(fault, StopRequested):
            LOG.info("%s ends before it was ready: a signal asked for it.", name)
        elif fault is not None:
            message = f"{name} can't start: {_in_words(fault)}"
            LOG.error(message, exc_info=None if isinstance(fault, EXPLAINED) else fault)
            _tell(conf, message)
        else:
            _serve(conf, name, signals, started, began)
        service_manager.tell("STOPPING=1")

        for component in reversed(started):
            try:
                component.stop()
            except Exception:
                LOG.exception("%s did not end cleanly.", type(component).__name__)
        if fault is not None:
            return WELL if isinstance(fault, StopRequested) else FAILED
        if reasons := [component.fault for component in started if component.fault]:
            _tell(conf, " ".join(reasons))
            return FAILED
        if left := [work for component in started for work in component.unfinished]:
            LOG.error("%s has ended without waiting any longer for: %s", name, "; ".join(left))
            return UNFINISHED
        LOG.info("%s has ended.", name)
        return WELL


def _serve(
    conf: cfg.ConfigOpts, name: str, signals: "SignalQueue", components: Sequence[Component], began: float
) -> None:
    """Say that the process is ready, and return when a signal asks for its end and a drain, if any, is over."""
    LOG.info(
        "%s is ready after %.1f seconds; its configuration is %s.",
        name,
        time.monotonic() - began,
        config_files.sources(conf),
    )
    places = [place for component in components for place in component.places]
    where = f"{' at ' if places else ''}{' and '.join(places)}"
    _tell(
        conf,
        f"{name} is ready{where}; it logs to {_log_of(conf)}; its configuration is {config_files.sources(conf)}.",
    )
    service_manager.tell("READY=1")
    beat = service_manager.watchdog_seconds()
    while (number := signals.next(beat)) in (HANG_UP, None):
        service_manager.tell("WATCHDOG=1")
        if number == HANG_UP:
            service_manager.tell(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")
            _reload(conf, components)
            service_manager.tell("READY=1")
    if number == DRAIN:
        _drain(conf, name, signals, components)
    LOG.info("%s ends.", name)


def _tell(conf: cfg.ConfigOpts, message: str) -> None:
    """Print what a person who started the program has to see, unless the log is on the terminal as well."""
    if conf.log_file or conf.log_dir or conf.use_syslog:
        print(message, file=sys.stderr, flush=True)


def _log_of(conf: cfg.ConfigOpts) -> str:
    """Return where the log is, as the handler that writes it says."""
    files = [each.baseFilename for each in logging.getLogger().handlers if isinstance(each, logging.FileHandler)]
    return ", ".join(files) or "syslog"


def _in_words(fault: BaseException) -> str:
    """Return the text of an error; of one of the system, without its number."""
    return (
        fault.strerror
        if isinstance(fault, OSError) and fault.strerror and not fault.filename
        else config_files.in_words(fault)
    )


def _start_components(conf: cfg.ConfigOpts, build: Build, pause: Pause, started: list[Component]) -> Exception | None:
    """Start the components, adding each to the list; return what failed instead of raising it.

    While an exception is being handled, oslo.log repeats it after every message.
    """
    try:
        with without_garbage_collection():
            components = build(pause)
            # Drivers of other packages have registered their options by now.
            checked_values.require_again(conf)
            for component in components:
                component.start()
                started.append(component)
    except Exception as fault:
        return fault
    return None


def _drain(conf: cfg.ConfigOpts, name: str, signals: "SignalQueue", components: Sequence[Component]) -> None:
    """Wait until all work has ended, [DEFAULT]drain_shutdown_timeout is over, or a signal asks for the end."""
    LOG.info("%s drains: it takes no new work and ends when the present work has.", name)
    began = time.monotonic()
    for component in reversed(components):
        component.retire()
    while not all(component.is_idle for component in components):
        number = signals.next(_DRAIN_POLL_SECONDS)
        if number == HANG_UP:
            _reload(conf, components)
        elif number not in (None, DRAIN):
            LOG.info("%s stops draining: a signal asked for the end.", name)
            return
        service_manager.tell("WATCHDOG=1")
        if 0 < conf.drain_shutdown_timeout < time.monotonic() - began:
            LOG.warning("%s has drained for %s seconds and waits no longer.", name, conf.drain_shutdown_timeout)
            return


def _reload(conf: cfg.ConfigOpts, components: Sequence[Component]) -> None:
    """Take new values of options if all values are right and every component can work by them."""
    reloaded: list[Component] = []
    fault: BaseException | None = None
    try:
        checked_values.require_again(conf)
        with checked_values.taken(conf):
            logging_setup.make_harmless(conf)
            for component in components:
                reloaded.append(component)
                component.reload()
    except (Exception, SystemExit) as error:
        fault = error
    # While an exception is being handled, oslo.log repeats it after every message.
    if isinstance(fault, LogConfigError):
        # The handlers were gone before the file was read.
        with suppress(Exception):
            logging_setup.set_up(conf)
            logging_setup.make_harmless(conf)
    if fault is not None:
        LOG.error(
            "The configuration can't be read again, so nothing changes: %s. Mend it and send SIGHUP again.",
            _in_words(fault),
            exc_info=None if isinstance(fault, EXPLAINED) else fault,
        )
        for component in reloaded:
            with suppress(Exception):
                component.reload()


# Signals are handled, not blocked and fetched with `signal.sigtimedwait`: a main thread that is stuck would not fetch
# the first one, so the second could not end it, and child processes, such as those of drivers, would inherit the mask.

HANG_UP: Final = signal.SIGHUP
DRAIN: Final = signal.SIGUSR2
ENDING: Final = (signal.SIGTERM, signal.SIGINT)
SIGNALS: Final = (*ENDING, HANG_UP, DRAIN)


class SignalQueue:
    """Signals that have arrived and were not handled yet.

    The process waits on a socket, which the interpreter writes to for a signal in any thread; a wait for a lock would
    not end when another thread gets the signal (as after SIGCONT).
    """

    def __init__(self, wakeup: socket.socket) -> None:
        """Wait at one end of a pair of sockets; the other end gets a byte for every signal."""
        self._wakeup = wakeup
        self._arrived: deque[int] = deque()

    def put(self, number: int) -> None:
        """Add a signal; for the handler, which runs some time after the byte was written."""
        self._arrived.append(number)

    def next(self, timeout: float | None = None) -> int | None:
        """Return the next signal; None if none comes in that many seconds."""
        self._wait(lambda: bool(self._arrived), timeout)
        return self._arrived.popleft() if self._arrived else None

    def pause(self, seconds: float) -> bool:
        """Wait so long; return true, and at once, when a signal asks for the end. Other signals are handled later."""
        self._wait(self._stop_requested, seconds)
        return self._stop_requested()

    def _stop_requested(self) -> bool:
        return any(number != HANG_UP for number in self._arrived)

    def _wait(self, condition: Callable[[], bool], timeout: float | None) -> None:
        until = None if timeout is None else time.monotonic() + timeout
        while not condition():
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return
            if select.select([self._wakeup], [], [], left)[0]:
                with suppress(BlockingIOError):
                    self._wakeup.recv(1024)


@contextmanager
def receive_signals() -> Iterator[SignalQueue]:
    """Collect signals in the block; a second SIGTERM or SIGINT has its default effect."""
    writing, wakeup = socket.socketpair()
    with closing(writing), closing(wakeup):
        writing.setblocking(False)
        wakeup.setblocking(False)
        signals = SignalQueue(wakeup)

        def receive(number: int, frame: FrameType | None) -> None:
            signals.put(number)
            if number in ENDING:
                signal.signal(number, signal.SIG_DFL)

        earlier_fd = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        earlier = {number: signal.signal(number, receive) for number in SIGNALS}
        try:
            yield signals
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(earlier_fd)


# Memory.

# mallopt(3) of the GNU C library: free blocks of so many bytes are returned to the system. By default the library
# raises this limit to the largest block that was ever freed, and large bodies leave holes in the heap.
_M_MMAP_THRESHOLD: Final = -3
_LARGE_BLOCK: Final = 1024 * 1024


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Collect no garbage in the block, and exclude the objects that exist at its end from all collections.

    A full collection walks all that was imported and built: a hundred thousand objects, a tenth of a second in which
    every request waits, several times during the start and then whenever enough new objects were made.
    """
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
