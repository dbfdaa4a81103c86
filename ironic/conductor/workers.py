"""The worker pool of a conductor: a bounded number of threads.

A slot is taken before anything is changed and started afterwards, so work that was accepted always gets a thread and
work that finds no slot is refused at once. A share of the slots is reserved for users' requests: heartbeats and
periodic tasks, which come again by themselves, can't have it. Work for nodes counts for their owner, who can't have all
slots while there are nodes of others (`fair_shares`). Each piece of work has a thread of its own, which comes with it
and goes with it: work takes seconds, a thread a tenth of a millisecond.

Work that exceeds [conductor]work_deadline is written off: no thread can be ended from outside, but its slot is freed.
At most as many threads are lost so as there are slots; then work keeps its slot, so there are never more than twice as
many threads.
"""

import functools
import logging
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextvars import copy_context
from enum import Enum
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

from ironic.core.clock import CLOCK, Clock
from ironic.core.errors import NoFreeConductorWorker, OwnersWorkersInUse
from ironic.core.projects.fair_shares import Party, has_room
from ironic.core.threads import THREADS, Threads

LOG = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class Whose(Enum):
    """Whose work it is, if it is not for nodes of a party."""

    SERVICE = "the service's own"


SERVICE: Final = Whose.SERVICE


class WorkerSlot:
    """A worker thread that is reserved for one piece of work; start the work or release the slot, once."""

    __slots__ = ("_party", "_purpose", "_workers")

    def __init__(self, workers: "Workers", purpose: str, party: Party | Whose) -> None:
        self._workers: Workers | None = workers
        self._purpose, self._party = purpose, party

    def start(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the function on a worker, which frees the slot when it ends; NoFreeConductorWorker at shutdown."""
        workers = self._detach()
        work = _Work(self._purpose, self._party, workers.clock.monotonic())
        return workers._submit(work, functools.partial(function, *args, **kwargs))

    def release(self) -> None:
        """Free the slot without using it; a second call, or one after start, has no effect."""
        if self._workers is not None:
            self._detach()._free(self._party)

    def _detach(self) -> "Workers":
        workers, self._workers = self._workers, None
        if workers is None:
            raise RuntimeError("This worker slot was used already.")
        return workers


class WorkLost(Exception):
    """The work did not end in time and is no longer waited for."""


class _Work(NamedTuple):
    """Work that runs, for whom, and since when on the monotonic clock."""

    purpose: str
    party: Party | Whose
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

    def __init__(
        self,
        host: str,
        size: int,
        reserved_percentage: int = 0,
        party_percentage: int = 100,
        is_alone: Callable[[Party], bool] = lambda _: False,
        *,
        clock: Clock = CLOCK,
        threads: Threads = THREADS,
    ) -> None:
        """Have so many slots; ``is_alone`` returns whether no other party has nodes, and may read the database."""
        self._host, self._party_percentage, self._is_alone = host, party_percentage, is_alone
        self.clock, self.threads = clock, threads
        self._size = size
        self._size_for_background = size - size * reserved_percentage // 100
        self._taken = 0
        self._of_party: Counter[Party] = Counter()
        self._stopping = False
        self._changed = clock.condition()
        self._running: dict[Future[Any], _Work] = {}
        self._lost: dict[Future[Any], str] = {}
        self._threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        self._closed = False

    @property
    def size(self) -> int:
        """Return the number of slots."""
        return self._size

    @property
    def taken(self) -> int:
        """Return the number of slots in use."""
        return self._taken

    @property
    def is_draining(self) -> bool:
        """Return whether new work is refused because the conductor stops."""
        return self._stopping

    def take(self, purpose: str, party: Party | Whose = SERVICE, *, background: bool = False) -> WorkerSlot:
        """Take a slot, or raise NoFreeConductorWorker; background work can't have the reserved share.

        Raises OwnersWorkersInUse, a kind of that, when the party has its share and others have nodes, too.
        """
        if party is not SERVICE and not self._has_share(party) and not self._is_alone(party):
            raise OwnersWorkersInUse(host=self._host, count=self._of_party[party])
        with self._changed:
            if self._stopping or self._taken >= (self._size_for_background if background else self._size):
                raise NoFreeConductorWorker(host=self._host)
            self._taken += 1
            if party is not SERVICE:
                self._of_party[party] += 1
        return WorkerSlot(self, purpose, party)

    def _has_share(self, party: Party) -> bool:
        with self._changed:
            free = self._size - self._taken
            # A full pool has no room for any party, which is another refusal.
            return not free or has_room(self._of_party[party], free, self._party_percentage)

    def drain(self, timeout: float) -> list[str]:
        """Refuse new work and wait for what runs; return the purposes of what still runs after ``timeout`` seconds."""
        deadline = self.clock.monotonic() + timeout
        with self._changed:
            self._stopping = True
            while self._taken and (left := deadline - self.clock.monotonic()) > 0:
                self._changed.wait(left)
            return sorted([*(work.purpose for work in self._running.values()), *self._lost.values()])

    def write_off(self, seconds: float) -> None:
        """Free the slots of work that runs for longer than ``seconds``, the longest first; its threads are abandoned.

        No slot is freed while as many threads are lost as there are slots.
        """
        before = self.clock.monotonic() - seconds
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

    def _submit(self, work: _Work, act: Callable[[], T]) -> Future[T]:
        future: Future[Any] = Future()
        # The thread works on behalf of the request that began the work, which its lines in the log name.
        thread = self.threads.make("conductor-worker", copy_context().run, self._carry_out, act, future)
        with self._changed:
            self._running[future] = work
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
            work = self._running.pop(future)
        self._free(work.party)

    def _free(self, party: Party | Whose) -> None:
        with self._changed:
            self._taken -= 1
            if party is not SERVICE:
                self._of_party[party] -= 1
                if not self._of_party[party]:
                    del self._of_party[party]
            self._changed.notify_all()
