"""The permit to compute: threads that answer requests hold it while they work, and give it up while they wait.

Threads that compute at the same time compete for the interpreter lock and need up to twice the CPU time for the same
answers (doc/many-machines.md has the figures). So one of them computes at a time; those that wait for a conductor, a
database, a lock or another service cost nothing and keep nobody out.

The thread of an event loop must never wait. It computes in a hurry: where it would have to wait, or change something,
MustWait says so, and the work is begun anew in another thread. What may wait for long, for a service that a user has
named, must not keep the threads that others need: MustMove has it begun anew among the few that are there for it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

# Computing takes milliseconds. A thread that has kept the permit from another for this long, in seconds, loses it and
# goes on without: it computes for very long, or waits for something that is not known as a wait.
PATIENCE = 0.03


class MustWait(BaseException):
    """What is done in a hurry would have to wait; nothing was changed by it. No handler of errors may take this."""


class MustMove(MustWait):
    """What may wait for long was begun among the quick; nothing was changed by it, and it is begun anew elsewhere."""


# Where a WSGI environment says by whom a request is answered: one of the threads for all, one of the few for what may
# wait for long, or one for all because too many wait for those few. Other servers than ours say nothing.
LANE: Final = "ironic.lane"
QUICK, SLOW, FULL = "quick", "slow", "full"


class _OfThread(threading.local):
    turn: int | None = None
    hurries: bool = False
    tell: Callable[[], None] | None = None


class Permit:
    """The right of one thread at a time to compute."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._taken, self._guard = threading.Lock(), threading.Lock()
        self._thread = _OfThread()
        self._patience = patience
        # Changes whenever the permit does: a thread holds it while the number is still that of its own turn.
        self._turn = 0

    @property
    def is_mine(self) -> bool:
        """Whether the calling thread holds the permit."""
        return self._thread.turn == self._turn

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Hold the permit while the block runs; wait for it first, but not for long. In a hurry, go on without it."""
        if self._thread.hurries:
            yield
            return
        self._take()
        try:
            yield
        finally:
            self._give_up()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Leave the permit to others while the block runs; threads without it just run the block.

        Raises MustWait in a hurry.
        """
        self.must_not_hurry()
        self._tell()
        if not self._give_up():
            yield
            return
        try:
            yield
        finally:
            self._take()

    @contextmanager
    def hurrying(self) -> Iterator[None]:
        """Let the calling thread raise MustWait where it would wait, or change something, while the block runs."""
        self._thread.hurries = True
        try:
            yield
        finally:
            self._thread.hurries = False

    def must_not_hurry(self) -> None:
        """Raise MustWait in a hurry: what follows may wait, or must not be done twice."""
        if self._thread.hurries:
            raise MustWait

    def tell_of_wait(self, tell: Callable[[], None]) -> None:
        """Have ``tell`` called once the calling thread waits for the first time, be it for the permit."""
        self._thread.tell = tell

    def _tell(self) -> None:
        tell, self._thread.tell = self._thread.tell, None
        if tell is not None:
            tell()

    def _take(self) -> None:
        is_free = self._taken.acquire(blocking=False)
        if not is_free:
            self._tell()
        while True:
            seen = self._turn
            is_free = is_free or self._taken.acquire(timeout=self._patience)
            with self._guard:
                # Either it was free, or one thread has had it all the time and loses it.
                if is_free or self._turn == seen:
                    self._turn += 1
                    self._thread.turn = self._turn
                    return

    def _give_up(self) -> bool:
        with self._guard:
            held = self.is_mine
            if held:
                self._turn += 1
                self._taken.release()
        return held


# Shared by all requests of the process.
PERMIT = Permit()
