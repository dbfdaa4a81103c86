"""The signals that rule a service process, as a queue: a handler may do nothing else safely.

The process waits on a socket that the interpreter writes to when a signal comes, whatever thread the system gave it to;
a wait for a lock would not notice a signal that another thread got (after SIGCONT, for one). A second SIGTERM or SIGINT
finds no handler any more and ends the process at once.

Signals are handled, not blocked and fetched with `signal.sigtimedwait`: a main thread that is stuck would not fetch the
first one, so the second could not end it, and child processes inherit a blocked mask, also those that a driver starts.
"""

import select
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from types import FrameType
from typing import Final

HANG_UP: Final = signal.SIGHUP
DRAIN: Final = signal.SIGUSR2
ENDING: Final = (signal.SIGTERM, signal.SIGINT)

SIGNALS: Final = (*ENDING, HANG_UP, DRAIN)

Pause = Callable[[float], bool]


class Inbox:
    """Signals that have arrived and were not obeyed yet."""

    def __init__(self, bell: socket.socket) -> None:
        """Wait at one end of a pair of sockets; the other end gets a byte for every signal."""
        self._bell = bell
        self._arrived: deque[int] = deque()

    def put(self, number: int) -> None:
        """Note a signal; for the handler, which runs some time after the bell has rung."""
        self._arrived.append(number)

    def next(self, patience: float | None = None) -> int | None:
        """Return the next signal; None if none comes in that many seconds."""
        self._wait(lambda: bool(self._arrived), patience)
        return self._arrived.popleft() if self._arrived else None

    def pause(self, seconds: float) -> bool:
        """Wait so long; tell at once when a signal asks for the end. Other signals are obeyed later."""
        self._wait(self._told_to_end, seconds)
        return self._told_to_end()

    def _told_to_end(self) -> bool:
        return any(number != HANG_UP for number in self._arrived)

    def _wait(self, enough: Callable[[], bool], patience: float | None) -> None:
        until = None if patience is None else time.monotonic() + patience
        while not enough():
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return
            if select.select([self._bell], [], [], left)[0]:
                with suppress(BlockingIOError):
                    self._bell.recv(1024)


@contextmanager
def receiving() -> Iterator[Inbox]:
    """Collect signals while the block runs."""
    ringing, bell = socket.socketpair()
    with closing(ringing), closing(bell):
        ringing.setblocking(False)
        bell.setblocking(False)
        inbox = Inbox(bell)

        def receive(number: int, frame: FrameType | None) -> None:
            inbox.put(number)
            if number in ENDING:
                signal.signal(number, signal.SIG_DFL)

        rung_before = signal.set_wakeup_fd(ringing.fileno(), warn_on_full_buffer=False)
        before = {number: signal.signal(number, receive) for number in SIGNALS}
        try:
            yield inbox
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(rung_before)
