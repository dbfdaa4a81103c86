"""Which of the API's threads takes the next request: one, for as long as it gets on with them.

Threads that compute fight for the interpreter lock and lose by it: ten need two to three times the CPU time of one for
the same answer, and the client waits longer (doc/many-machines.md has the figures). Threads that wait, for a conductor,
a database or a slow client, cost nothing and must keep nobody out. Which of both a thread does, its CPU clock tells.
"""

import threading
import time
from queue import Queue
from typing import Any

from cheroot.workers.threadpool import ThreadPool

# Seconds after which somebody looks what a request is at; most are answered by then.
PATIENCE = 0.003
# Seconds that a request may compute while others wait behind it.
LONGEST = 0.1


class TakingTurns(ThreadPool):
    """cheroot's pool, where one thread at a time has the turn to take requests.

    It keeps the turn from one request to the next. Where others are left waiting and it turns out after ``patience``
    seconds that it waits itself, or computes for very long, the turn goes to another thread; it finishes and queues for
    a turn again.
    """

    _queue: Queue[Any]  # made by cheroot

    def __init__(self, server: Any, threads: int, patience: float = PATIENCE) -> None:
        super().__init__(server, min=threads, max=threads)
        self._patience = patience
        # cheroot's workers ask for their connections with this, an attribute of the instance there as well.
        self.get = self._take
        self._lock = threading.Lock()
        self._free = threading.Semaphore(1)
        self._holder: int | None = None
        self._holder_clock = 0
        # When the holder took its request, by the wall and by its own CPU time; None while it waits for one.
        self._busy_since: float | None = None
        self._cpu_then = 0.0
        self._left_waiting = threading.Event()
        self._stopping = threading.Event()
        self._watch = threading.Thread(target=self._pass_turns_on, name="api-turns", daemon=True)

    def start(self) -> None:
        """Start the threads."""
        super().start()
        self._watch.start()

    def stop(self, timeout: int = 5) -> None:
        """End the threads, giving those that are busy so many seconds."""
        self._stopping.set()
        self._left_waiting.set()
        # Whoever queues for the turn must come to read the order to end.
        self._free.release(self.max)
        super().stop(timeout)

    def put(self, obj: Any) -> None:
        """Have a connection served."""
        super().put(obj)
        if self._busy_since is not None:
            self._left_waiting.set()

    def _take(self) -> Any:
        self._have_turn(threading.get_ident())
        connection = self._queue.get()
        self._cpu_then = time.thread_time()
        self._busy_since = time.monotonic()
        # Either this sees what was put meanwhile, or put() saw the holder busy: nothing waits without a watch.
        if not self._queue.empty():
            self._left_waiting.set()
        return connection

    def _have_turn(self, thread: int) -> None:
        with self._lock:
            if self._holder == thread:
                self._busy_since = None
                return
        self._free.acquire()
        self._holder_clock = time.pthread_getcpuclockid(thread)
        self._holder = thread

    def _pass_turns_on(self) -> None:
        while not self._stopping.is_set():
            self._left_waiting.wait()
            self._left_waiting.clear()
            while not self._queue.empty() and not self._stopping.wait(self._patience):
                self._look()

    def _look(self) -> None:
        """Take the turn from a thread that makes no use of it."""
        with self._lock:
            passed_on = self._busy_since is not None and self._is_held_up(time.monotonic() - self._busy_since)
            if passed_on:
                self._holder = self._busy_since = None
        if passed_on:
            self._free.release()

    def _is_held_up(self, elapsed: float) -> bool:
        if elapsed < self._patience:
            return False
        computed = time.clock_gettime(self._holder_clock) - self._cpu_then
        return computed < elapsed / 2 or elapsed > LONGEST
