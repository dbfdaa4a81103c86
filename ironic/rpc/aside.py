"""Doing aside what may block for ever: a library that looks for a lost broker does not come back before it has one."""

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def done_aside(act: Callable[[], T], check: Callable[[], None], every: float) -> T:
    """Return what ``act`` returns or raise what it raises; ``check``, called again and again, may end the wait.

    What was begun then goes on in its thread, for nobody any more; it keeps no process from ending.
    """
    outcome: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put((act(), None))
        except BaseException as error:
            outcome.put((None, error))

    threading.Thread(target=run, name="aside", daemon=True).start()
    return _awaited(outcome, check, every)


def _awaited(
    outcome: "queue.SimpleQueue[tuple[T | None, BaseException | None]]", check: Callable[[], None], every: float
) -> T:
    while True:
        try:
            value, error = outcome.get(timeout=every)
        except queue.Empty:
            check()
        else:
            if error is not None:
                raise error
            return value  # type: ignore[return-value]  # None only where T is None
