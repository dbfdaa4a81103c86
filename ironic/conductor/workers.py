"""The worker pool of a conductor: a bounded number of threads.

A slot is taken before anything is changed and started afterwards, so work that was accepted always gets a thread and
work that finds no slot is refused at once. A share of the slots is reserved for users' requests: heartbeats and
periodic tasks, which come again by themselves, can't have it. Each piece of work has a thread of its own, which comes
with it and goes with it: work takes seconds, a thread a tenth of a millisecond.

Work that exceeds [conductor]work_deadline is written off: no thread can be ended from outside, but its slot is freed.
At most as many threads are lost so as there are slots; then work keeps its slot, so there are never more than twice as
many threads.
"""

import functools
import logging
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ironic.core.errors import NoFreeConductorWorker

LOG = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class WorkerSlot:
    """A worker thread that is reserved for one piece of work; start the work or release the slot, once."""

    __slots__ = ("_purpose", "_workers")

    def __init__(self, workers: "Workers", purpose: str) -> None:
        self._workers: Workers | None = workers
        self._purpose = purpose

    def start(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the function on a worker, which frees the slot when it ends; NoFreeConductorWorker at shutdown."""
        return self._detach()._submit(self._purpose, functools.partial(function, *args, **kwargs))

    def release(self) -> None:
        """Free the slot without using it; a second call, or one after start, has no effect."""
        if self._workers is not None:
            self._detach()._free()

    def _detach(self) -> "Workers":
        workers, self._workers = self._workers, None
        if workers is None:
            raise RuntimeError("This worker slot was used already.")
        return workers


class WorkLost(Exception):
    """The work did not end in time and is no longer waited for."""


class _Work(NamedTuple):
    """Work that runs, and since when on the monotonic clock."""

    purpose: str
    since: float


def _settle(set_outcome: Callable[[T], None], outcome: T) -> bool:
    """Set the outcome of a future; return False when it was set before."""
    try:
        set_outcome(outcome)
    except InvalidStateError:
        return False
    return True


class Workers:
    """A bounded pool of threads that refuses instead of queueing."""

    def __init__(self, host: str, size: int, reserved_percentage: int = 0) -> None:
        self._host = host
        self._size = size
        self._size_for_background = size - size * reserved_percentage // 100
        self._taken = 0
        self._stopping = False
        self._changed = threading.Condition()
        self._running: dict[Future[Any], _Work] = {}
        self._lost: dict[Future[Any], str] = {}
        self._threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        self._closed = False

    @property
    def taken(self) -> int:
        """Return the number of slots in use."""
        return self._taken

    @property
    def is_draining(self) -> bool:
        """Return whether new work is refused because the conductor stops."""
        return self._stopping

    def take(self, purpose: str, *, background: bool = False) -> WorkerSlot:
        """Take a slot, or raise NoFreeConductorWorker; background work can't have the reserved share."""
        with self._changed:
            if self._stopping or self._taken >= (self._size_for_background if background else self._size):
                raise NoFreeConductorWorker(host=self._host)
            self._taken += 1
        return WorkerSlot(self, purpose)

    def drain(self, timeout: float) -> list[str]:
        """Refuse new work and wait for what runs; return the purposes of what still runs after ``timeout`` seconds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._stopping = True
            while self._taken and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            return sorted([*(work.purpose for work in self._running.values()), *self._lost.values()])

    def write_off(self, seconds: float) -> None:
        """Free the slots of work that runs for longer than ``seconds``, the longest first; its threads are abandoned.

        No slot is freed while as many threads are lost as there are slots.
        """
        before = time.monotonic() - seconds
        with self._changed:
            late = sorted(
                (item for item in self._running.items() if item[1].since < before), key=lambda item: item[1].since
            )
            room = self._size - len(self._lost)
            overdue = dict(late[:room])
            self._lost |= {future: work.purpose for future, work in overdue.items()}
        if len(late) > room:
            LOG.error(
                "Conductor %s has lost %d threads and replaces no more; %d workers stay busy with work that does not "
                "end. Restart it",
                self._host,
                self._size,
                len(late) - room,
            )
        for future, work in overdue.items():
            LOG.error(
                "Conductor %s gives up on %s, which did not end within %d seconds. Its thread is lost until the "
                "process is restarted, if what it waits for never comes",
                self._host,
                work.purpose,
                seconds,
            )
            _settle(future.set_exception, WorkLost(work.purpose))

    def close(self) -> None:
        """Start no work any more. A thread still at work ends with its work, all others have ended on return."""
        with self._changed:
            self._closed = True
            threads = [] if self._taken or self._lost else list(self._threads)
        for thread in threads:
            thread.join()

    def _submit(self, purpose: str, work: Callable[[], T]) -> Future[T]:
        future: Future[Any] = Future()
        thread = threading.Thread(target=self._carry_out, args=(work, future), name="conductor-worker", daemon=True)
        with self._changed:
            self._running[future] = _Work(purpose, time.monotonic())
            is_refused = self._closed
            self._threads.add(thread)
        try:
            if is_refused:
                raise RuntimeError("The pool is closed.")
            thread.start()
        except RuntimeError as error:
            # It is closed, or the system has no thread to give.
            self._threads.discard(thread)
            self._ended(future)
            raise NoFreeConductorWorker(host=self._host) from error
        future.add_done_callback(self._ended)
        return future

    def _carry_out(self, work: Callable[[], object], future: Future[object]) -> None:
        try:
            result = work()
        except BaseException as error:
            in_time = _settle(future.set_exception, error)
        else:
            in_time = _settle(future.set_result, result)
        if not in_time and (purpose := self._lost.pop(future, None)):
            LOG.warning("Conductor %s had given up on %s, which has ended now", self._host, purpose)

    def _ended(self, future: Future[object]) -> None:
        with self._changed:
            del self._running[future]
        self._free()

    def _free(self) -> None:
        with self._changed:
            self._taken -= 1
            self._changed.notify_all()
