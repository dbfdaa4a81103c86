"""The signals that rule a service process, as a queue: a handler may do nothing else safely.

A second SIGTERM or SIGINT finds no handler any more and ends the process at once.
"""

import queue
import signal
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

HANG_UP: Final = signal.SIGHUP
DRAIN: Final = signal.SIGUSR2
ENDING: Final = (signal.SIGTERM, signal.SIGINT)

SIGNALS: Final = (*ENDING, HANG_UP, DRAIN)

Pause = Callable[[float], bool]


class Inbox:
    """Signals that have arrived and were not obeyed yet."""

    def __init__(self) -> None:
        # Unlike most things this may be filled by a signal handler, whatever its thread is doing.
        self._arriving: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._set_aside: deque[int] = deque()

    def put(self, number: int) -> None:
        """Note a signal."""
        self._arriving.put(number)

    def next(self, patience: float | None = None) -> int | None:
        """Return the next signal; None if none comes in that many seconds."""
        if self._set_aside:
            return self._set_aside.popleft()
        try:
            return self._arriving.get(timeout=patience)
        except queue.Empty:
            return None

    def pause(self, seconds: float) -> bool:
        """Wait so long; tell at once when a signal asks for the end. Other signals are obeyed later."""
        with suppress(queue.Empty):
            self._set_aside.append(self._arriving.get(timeout=seconds))
        return any(number != HANG_UP for number in self._set_aside)


@contextmanager
def receiving() -> Iterator[Inbox]:
    """Collect signals while the block runs."""
    inbox = Inbox()

    def receive(number: int, frame: FrameType | None) -> None:
        inbox.put(number)
        if number in ENDING:
            signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, receive) for number in SIGNALS}
    try:
        yield inbox
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
