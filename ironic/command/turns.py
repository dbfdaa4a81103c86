"""Which of the API's threads takes the next request: one, for as long as it gets on with them.

Threads that compute fight for the interpreter lock and lose by it: ten need two to three times the CPU time of one for
the same answer, and the client waits longer (doc/many-machines.md has the figures). Threads that wait, for a conductor,
a database or a slow client, cost nothing and must keep nobody out. Which of both a thread does, its CPU clock tells.

The thread that has the turn looks itself for the connection that has something to say, and answers it: nothing passes
from one thread to another unless the turn does. cheroot reads the requests and writes the answers.
"""

import logging
import os
import select
import threading
import time
from typing import Any

LOG = logging.getLogger(__name__)

# Seconds after which somebody looks what a request is at; most are answered by then.
PATIENCE = 0.003
# Seconds that a request may compute while others wait behind it.
LONGEST = 0.1
# How often nothing may be found under way before the watch sleeps: to be woken costs more than to look.
LOOKS = 8
# Clients that are let in before those that are in already get on.
LET_IN = 64
# Seconds between two searches for connections that their clients have not used for too long.
SEARCH_EVERY = 1.0
# Seconds to pause after something went wrong with the connections, for want of file descriptors as a rule.
RELIEF = 0.1


class _Turn:
    """The right of one thread to take requests, and what it is at."""

    def __init__(self) -> None:
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self.descriptor: int = -1
        # When the request at hand was begun, by the wall and by the thread's CPU time; None between requests.
        self.since: float | None = None
        self._cpu_then = 0.0

    def begin(self, descriptor: int) -> None:
        """Be at what came in by this descriptor."""
        self.descriptor = descriptor
        self._cpu_then = time.thread_time()
        self.since = time.monotonic()

    def is_held_up(self, patience: float) -> bool:
        """Tell whether the request at hand waits for something, or computes for very long."""
        elapsed = time.monotonic() - (self.since or float("inf"))
        if elapsed < patience:
            return False
        computed = time.clock_gettime(self._clock) - self._cpu_then
        return computed < elapsed / 2 or elapsed > LONGEST


class Turns:
    """The connections of a cheroot server and the threads that serve them, in place of cheroot's own of both.

    One thread at a time has the turn and keeps it from one request to the next. When it turns out after ``patience``
    seconds that it waits, or that it computes for very long, the turn goes to another thread; it finishes what it has
    and queues for a turn again.
    """

    def __init__(self, server: Any, threads: int, patience: float = PATIENCE) -> None:
        self._server = server
        self._patience = patience
        self._threads = [threading.Thread(target=self._work, name=f"api-{n}", daemon=True) for n in range(threads)]
        self._watch = threading.Thread(target=self._pass_turns_on, name="api-turns", daemon=True)
        # The connections that wait for their client's next request, and the one that the turn is used for.
        self._open: dict[int, Any] = {}
        # Those of them whose client has sent its next request already, with the last one.
        self._ahead: set[int] = set()
        self._free = threading.Lock()
        self._guard = threading.Lock()
        self._turn: _Turn | None = None
        self._begun = threading.Event()
        self._watched = False
        self._stopping = threading.Event()
        self._next_search = 0.0

    @property
    def kept(self) -> int:
        """How many connections are held for their client's next request."""
        return len(self._open)

    def start(self) -> None:
        """Serve. cheroot calls this once it listens."""
        self._socket = self._server.socket
        self._socket.setblocking(False)
        self._epoll = select.epoll()
        self._woken = os.eventfd(0, os.EFD_CLOEXEC)
        self._epoll.register(self._woken, select.EPOLLIN)
        self._epoll.register(self._socket, select.EPOLLIN)
        for thread in [self._watch, *self._threads]:
            thread.start()

    def stop(self, timeout: float = 5) -> None:
        """Give running requests so many seconds to end, and close all connections."""
        self._stopping.set()
        self._pass_on(self._turn)
        os.eventfd_write(self._woken, 1)
        self._begun.set()
        deadline = time.monotonic() + timeout
        for thread in [self._watch, *self._threads]:
            thread.join(max(0.0, deadline - time.monotonic()))
        cut_off = sum(thread.is_alive() for thread in self._threads)
        if cut_off:
            LOG.warning("%d API requests did not end within %s seconds and are cut off", cut_off, timeout)
        while self._open:
            self._open.popitem()[1].close()
        self._epoll.close()
        os.close(self._woken)

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._free.acquire()
            turn = self._turn = _Turn()
            while turn is self._turn and not self._stopping.is_set():
                try:
                    self._take(turn)
                except Exception:
                    # A thread that ended here would take its turn with it, and nobody were served any more.
                    LOG.exception("The API could not attend to its connections; it goes on")
                    self._stopping.wait(RELIEF)
            if self._stopping.is_set():
                self._pass_on(turn)

    def _take(self, turn: _Turn) -> None:
        """Wait for something to come in, and attend to it."""
        for descriptor, _events in self._epoll.poll(SEARCH_EVERY, 1):
            turn.begin(descriptor)
            if not self._watched:
                self._begun.set()
            if descriptor in self._open:
                self._answer(turn, self._open[descriptor])
            elif descriptor != self._woken:
                self._let_in(turn)
        if time.monotonic() > self._next_search and turn is self._turn:
            self._close_unused()

    def _let_in(self, turn: _Turn) -> None:
        """Let in who waits at the door; the kernel turns away who finds it crowded, to try again in a second."""
        try:
            for _ in range(LET_IN):
                connection = self._server._connections._from_server_socket(self._socket)
                if connection is None:
                    break
                if self._stopping.is_set():  # cheroot knocks at its own door when it stops
                    connection.close()
                    break
                self._keep(connection, is_open=False)
        finally:
            self._is_done(turn)

    def _answer(self, turn: _Turn, connection: Any) -> None:
        kept = False
        try:
            kept = connection.communicate()
        except Exception:
            self._server.error_log("A request could not be answered", logging.ERROR, traceback=True)
        leads = self._is_done(turn)
        if kept and not self._stopping.is_set():
            self._keep(connection, is_open=leads)
        else:
            self._forget(turn.descriptor)
            connection.close()

    def _is_done(self, turn: _Turn) -> bool:
        """End the request at hand; tell whether the turn is still there."""
        with self._guard:
            turn.since = None
            return turn is self._turn

    def _keep(self, connection: Any, is_open: bool) -> None:
        """Wait for the next request of a connection."""
        connection.last_used = time.monotonic()
        descriptor = connection.socket.fileno()
        has_more = _has_more(connection)
        if is_open and not has_more and not self._ahead:
            return
        # What has arrived is not reported again; that an answer could be written is, in the order of all others.
        events = select.EPOLLIN | select.EPOLLOUT if has_more else select.EPOLLIN
        (self._ahead.add if has_more else self._ahead.discard)(descriptor)
        self._open[descriptor] = connection
        (self._epoll.modify if is_open else self._epoll.register)(descriptor, events)

    def _forget(self, descriptor: int) -> None:
        self._ahead.discard(descriptor)
        if self._open.pop(descriptor, None):
            self._epoll.unregister(descriptor)

    def _close_unused(self) -> None:
        now = time.monotonic()
        self._next_search = now + SEARCH_EVERY
        for descriptor, connection in self._open.copy().items():
            if connection.last_used < now - self._server.timeout:
                self._forget(descriptor)
                connection.close()

    def _pass_turns_on(self) -> None:
        while not self._stopping.is_set():
            self._begun.wait()
            self._begun.clear()
            self._watched = True
            in_vain = 0
            while in_vain < LOOKS and not self._stopping.wait(self._patience):
                in_vain = 0 if self._look() else in_vain + 1
            # Either this sees a request that begins meanwhile, or its thread sees that nobody watches it.
            self._watched = False
            if self._look():
                self._begun.set()

    def _look(self) -> bool:
        """Take the turn from a thread that makes no use of it; tell whether a request is under way."""
        turn = self._turn
        if turn is None or turn.since is None:
            return False
        if turn.is_held_up(self._patience):
            self._pass_on(turn)
        return True

    def _pass_on(self, turn: _Turn | None) -> None:
        """Give the turn to the next thread, but not the connection that this one is at."""
        with self._guard:
            if turn is None or turn is not self._turn:
                return
            if turn.since is not None:
                self._forget(turn.descriptor)
            self._turn = None
        self._free.release()


def _has_more(connection: Any) -> bool:
    """Tell whether more of the client's data is here already, read or decrypted."""
    pending = getattr(connection.socket, "pending", None)
    return bool(connection.rfile.has_data() or (pending and pending()))
