"""The worker pool of a conductor: a bounded number of threads.

A slot is taken before anything is changed and started afterwards, so work that was accepted always gets a thread and
work that finds no slot is refused at once. A share of the slots is reserved for users' requests: heartbeats and
periodic tasks, which come again by themselves, can't have it. Threads come with the work and go when it is done.

Work that exceeds [conductor]work_deadline is written off: no thread can be ended from outside, but its slot is freed.
"""

import functools
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

import futurist
from futurist import rejection

from ironic.core.errors import NoFreeConductorWorker

LOG = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

# Threads that stay once they were needed. futurist counts a thread that has just picked up its work as idle for an
# instant; with a few spare threads and growth from half busy on, no work ever queues behind a long one because of it.
_SPARE_THREADS: Final = 4

# An idle thread sees within a second that it is to go.
_LONGEST_SHRINKING: Final = 3.0


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
    """Work that runs; the reference keeps its executor, and so its thread, alive."""

    purpose: str
    since: float
    executor: futurist.DynamicThreadPoolExecutor


def _settle(set_outcome: Callable[[T], None], outcome: T) -> bool:
    """Set the outcome of a future; return False when it was set before."""
    try:
        set_outcome(outcome)
    except InvalidStateError:
        return False
    return True


def _end_idle(executor: futurist.DynamicThreadPoolExecutor) -> None:
    """End an executor whose threads are all idle, and wait for them.

    An idle thread looks only once a second whether it is to go. One that has just ended a piece of work looks at once,
    so each gets a last piece, which ends as soon as all threads are to go.
    """
    leave = threading.Event()
    last_pieces = 0
    while last_pieces < executor.num_workers:
        executor.submit(leave.wait)
        last_pieces += 1
    executor.shutdown(wait=False)
    leave.set()
    executor.shutdown(wait=True)


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
        self._shrinking = threading.Lock()
        self._executor = self._new_executor()

    def _new_executor(self) -> futurist.DynamicThreadPoolExecutor:
        return futurist.DynamicThreadPoolExecutor(
            max_workers=self._size,
            min_workers=min(_SPARE_THREADS, self._size - 1),
            grow_threshold=0.5,
            shrink_threshold=0.2,
            check_and_reject=rejection.reject_when_reached(self._size),
        )

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
        """Free the slots of work that runs for longer than ``seconds``; its threads are abandoned."""
        before = time.monotonic() - seconds
        with self._changed:
            overdue = {future: work for future, work in self._running.items() if work.since < before}
            if not overdue:
                return
            self._lost |= {future: work.purpose for future, work in overdue.items()}
            # A lost thread would count in its executor for ever; the old executor ends with the rest of its work.
            self._executor = self._new_executor()
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
        """End the threads. Idle ones are joined; a thread still at work ends with its work."""
        # A thread that shrinks the pool now would leave behind the threads it has in hand.
        shrunk = self._shrinking.acquire(timeout=_LONGEST_SHRINKING)
        if self._taken or self._lost:
            self._executor.shutdown(wait=False)
        elif self._executor.alive:
            _end_idle(self._executor)
        if shrunk:
            self._shrinking.release()

    def shrink(self) -> None:
        """End, in a thread of its own, threads that a burst of work has left idle; the next call continues."""

        def maintain() -> None:
            try:
                self._executor.maintain()
            finally:
                self._shrinking.release()

        if self._shrinking.acquire(blocking=False):
            # Not in the caller's thread: that may be one of the idle ones and would wait for itself.
            threading.Thread(target=maintain, name="conductor-shrinking", daemon=True).start()

    def _submit(self, purpose: str, work: Callable[[], T]) -> Future[T]:
        future: Future[Any] = Future()
        with self._changed:
            executor = self._executor
            self._running[future] = _Work(purpose, time.monotonic(), executor)
        try:
            executor.submit(self._carry_out, work, future)
        except (RuntimeError, futurist.RejectedSubmission) as error:
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
