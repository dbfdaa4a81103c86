"""Waking threads that wait for a node of this process to be released.

Waiting for a lock by looking again and again is slow or wasteful; most locks are released by a thread of the same
process, which can simply say so. Locks released elsewhere are found by looking, so nothing depends on being woken.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ironic.core.permit import PERMIT


class Wakeups:
    """Which nodes were released, for as long as somebody waits for any."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        self._waiting = 0
        self._released: dict[int, int] = {}

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Take note of releases while this block runs."""
        with self._changed:
            self._waiting += 1
        try:
            yield
        finally:
            with self._changed:
                self._waiting -= 1
                if not self._waiting:
                    self._released.clear()

    def mark(self) -> int:
        """Return a mark; a release after it is not missed by `wait`."""
        with self._changed:
            return self._count

    def released(self, node_id: int) -> None:
        """Wake those who wait for this node."""
        with self._changed:
            self._count += 1
            if self._waiting:
                self._released[node_id] = self._count
                self._changed.notify_all()

    def wait(self, node_id: int, mark: int, timeout: float) -> bool:
        """Return when the node has been released since the mark, or after the time; tell which."""
        with PERMIT.waiting(), self._changed:
            return self._changed.wait_for(lambda: self._released.get(node_id, 0) > mark, timeout)
