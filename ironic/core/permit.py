"""The permit to compute: threads that answer requests hold it while they compute and release it while they wait.

Threads that compute at the same time compete for the interpreter lock and need up to twice the CPU time for the same
answers (doc/wsgi-server.md has the figures). So one of them computes at a time; threads that wait for a conductor, a
database, a lock or another service release the permit.

The thread of an event loop must never block. It computes in nonblocking mode: where it would have to wait, or to change
something, MustWait is raised and the request is started again in a worker thread. What may wait for long, for a service
that a user has named or for Keystone, must not occupy the common worker threads: MustMove starts it again in one of the
few threads reserved for such requests.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

# Computing takes milliseconds. A thread that keeps the permit from another for this long, in seconds, loses it and goes
# on without: it computes for very long, or waits for something that is not declared as a wait.
MAX_HOLD = 0.03


class MustWait(BaseException):
    """Nonblocking work would have to wait; it has changed nothing. No error handler may catch this."""


# The key of the WSGI environment that names the kind of thread answering a request: a common one, one of the few for
# slow requests or for asking about tokens, or a common one because those are busy. Third-party WSGI servers do not set
# it.
LANE: Final = "ironic.lane"
QUICK, SLOW, LOGIN, FULL = "quick", "slow", "login", "full"


class MustMove(MustWait):
    """Work that may wait for long runs in a common thread; it has changed nothing and is started again in ``lane``."""

    def __init__(self, lane: str = SLOW) -> None:
        super().__init__()
        self.lane = lane


class MustRead(MustWait):
    """The body of a request has not arrived yet; it has changed nothing and is started again with the body.

    ``size`` is the number of bytes that are asked for: more of the body need not be read.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


# The key of the WSGI environment of a request whose body has not arrived: to read it raises MustRead.
HEAD_ALONE: Final = "ironic.head_alone"
# The key of the WSGI environment of a request that was judged by its head before, and is started again with its body.
JUDGED: Final = "ironic.judged"
# The key of the WSGI environment of a request whose body finds no memory: it is refused, whatever it asks for.
NO_ROOM: Final = "ironic.no_room"


class _OfThread(threading.local):
    turn: int | None = None
    is_nonblocking: bool = False
    on_wait: Callable[[], None] | None = None


class Permit:
    """The right of one thread at a time to compute."""

    def __init__(self, max_hold: float = MAX_HOLD) -> None:
        self._taken, self._guard = threading.Lock(), threading.Lock()
        self._thread = _OfThread()
        self._max_hold = max_hold
        # Changes whenever the permit changes hands: a thread holds it while the number is that of its own turn.
        self._turn = 0
        # Whether that turn goes on. Between the end of a turn and the start of the next one nothing can be taken away.
        self._is_held = False

    @property
    def is_mine(self) -> bool:
        """Whether the calling thread holds the permit."""
        return self._thread.turn == self._turn

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Hold the permit while the block runs; wait for it at most ``max_hold``. Nonblocking threads go without it."""
        if self._thread.is_nonblocking:
            yield
            return
        self._take()
        try:
            yield
        finally:
            self._release()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Release the permit while the block runs; threads without it just run the block.

        Raises MustWait in a nonblocking thread.
        """
        self.check_may_wait()
        self._report_wait()
        if not self._release():
            yield
            return
        try:
            yield
        finally:
            self._take()

    @contextmanager
    def nonblocking(self) -> Iterator[None]:
        """Make the calling thread raise MustWait where it would wait or change something, while the block runs."""
        self._thread.is_nonblocking = True
        try:
            yield
        finally:
            self._thread.is_nonblocking = False

    def check_may_wait(self) -> None:
        """Raise MustWait in a nonblocking thread: what follows may wait, or must not be done twice."""
        if self._thread.is_nonblocking:
            raise MustWait

    def on_first_wait(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when the calling thread waits for the first time, also when it waits for the permit."""
        self._thread.on_wait = callback

    def _report_wait(self) -> None:
        callback, self._thread.on_wait = self._thread.on_wait, None
        if callback is not None:
            callback()

    def _take(self) -> None:
        is_free = self._taken.acquire(blocking=False)
        if not is_free:
            self._report_wait()
        while True:
            seen = self._turn
            is_free = is_free or self._taken.acquire(timeout=self._max_hold)
            with self._guard:
                # Either it was free, or one thread has held it all the time and loses it.
                if is_free or (self._is_held and self._turn == seen):
                    self._turn, self._is_held = self._turn + 1, True
                    self._thread.turn = self._turn
                    return

    def _release(self) -> bool:
        with self._guard:
            held = self.is_mine
            if held:
                self._turn, self._is_held = self._turn + 1, False
                self._taken.release()
        return held


# Shared by all requests of the process.
PERMIT = Permit()
