"""Bridge from complete requests of uvicorn (ASGI) to a WSGI application (PEP 3333), and back.

The event loop itself answers a GET that only computes: the transfer to a thread and back costs as much as the answer.
If such a request has to wait (`ironic.core.permit`), it is repeated in a thread; all other requests begin in one. While
a thread computes, the loop waits for it, for a few milliseconds at most: both would compete for the interpreter lock.
doc/many-machines.md has the measurements.

A request that may wait for long raises MustMove before it changes anything, and is repeated in a thread of another
lane. A limited number of such requests may wait for these threads, for a limited time; the application refuses others.

Client addresses take turns (`http_turns`), on the loop and for threads. A request with a large body begins when its
head has arrived: whatever can be refused without the body is refused then. One that asks for its body raises MustRead,
and is begun again when the body has arrived, for which memory is reserved first (`http_bodies`). If there is none in
time, or others need that of a slow one, the application refuses the request, in the form of its other errors.
"""

import asyncio
import contextlib
import functools
import logging
import math
import queue
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, Final

from ironic.api.rate_limit import bucket_of
from ironic.command.http_answers import Answers
from ironic.command.http_bodies import SMALLER, STEP, BodyRooms, Reserved
from ironic.command.http_connection import Connection
from ironic.command.http_turns import Turns
from ironic.command.wsgi_call import Application, Asked, Scope, answer_of
from ironic.core.permit import FULL, LOGIN, PERMIT, QUICK, SLOW, MustMove, MustRead, MustWait

LOG = logging.getLogger(__name__)

Receive = Callable[[], Awaitable[dict[str, Any]]]
# The pieces of an answer, None if the request has to be repeated in another lane; CPU seconds that it took; that lane.
Answer = tuple[list[bytes] | None, float, str]

# Bytes of a body that needs no reserved memory.
SMALL_BODY = 65536
# Requests that the loop answers, or begins in threads, before it looks for others that have come.
AT_ONCE = 4
# CPU seconds of an answer after which its path is answered in threads, until it is quick again; how many such paths.
LONG_SECONDS = 0.01
MOST_LONG_PATHS = 1000
# Seconds for which the loop waits while a thread computes. Most requests have ended by then, or wait.
LOOP_WAIT_SECONDS = 0.005
# So many threads begin requests at the same time: more would only compete for the permit to compute. After so many
# seconds a request waits for something, and another may begin.
MOST_STARTING, STARTING_SECONDS = 3, 0.01
# Bytes of bodies that wait for the slow lane, so that there is room for other bodies.
MOST_SLOW_BODIES = 32 * 1024 * 1024
# Seconds that a request may wait for such a lane: the time-out of clients is a little longer, and they try again.
LONGEST_WAIT = 15.0
# Threads that ask Keystone about tokens, those that one address may have, and requests that may wait for them.
LOGIN_THREADS, LOGIN_SHARE, MOST_LOGINS = 20, 10, 1000
# How often a request may move.
MOST_MOVES = 4

# One of so many common threads is kept for other addresses than the one that has all the others.
KEPT_FOR_OTHERS = 8

# Seconds after which a refusal beyond a limit is sent, so that a client that does not wait can't send many requests.
PAUSE_SECONDS = 1.0

_TOO_MANY: Final = b"HTTP/1.1 429 "


def threads_of_one(threads: int) -> int:
    """Return how many of the common threads one address may have."""
    return threads - threads // KEPT_FOR_OTHERS


class _Worker(threading.Thread):
    """A thread that runs one job after another until it gets None."""

    def __init__(self, lane: str) -> None:
        # A daemon, as a request that does not end must not keep the process alive.
        super().__init__(name="api" if lane == QUICK else f"api-{lane}", daemon=True)
        self.jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        """Run the jobs."""
        while job := self.jobs.get():
            job()
            del job  # with its request, which may be large, before the wait for the next one


class _Lane:
    """Threads for one kind of requests, and the number of requests that wait for them."""

    def __init__(self, name: str, turns: Turns, most: float = math.inf, timeout: float | None = None) -> None:
        self.name, self.turns, self._most, self.timeout = name, turns, most, timeout
        # Threads without a job; the last one used comes first, so that no more are started than needed.
        self.idle = list[_Worker]()
        # Requests that wait for a thread, and the bytes of their bodies.
        self.waiting = self.size = 0

    def has_room(self, address: str, size: int) -> bool:
        """Return whether one more request, with a body of so many bytes, gets a thread or may wait for one."""
        may_wait = self.waiting < self._most and self.size + size <= MOST_SLOW_BODIES
        return may_wait or not self.turns.are_taken(address)


class WsgiBridge:
    """An ASGI application that calls a WSGI application and writes short answers in one piece."""

    def __init__(
        self,
        application: Application,
        *,
        threads: int,
        computes_in_loop: bool,
        slow_threads: int,
        slow_waiting: int,
        trusts_proxy: bool = False,
    ) -> None:
        """Take the numbers of threads and whether the loop answers a GET; see `ServerSettings`."""
        self.application, self._computes_in_loop, self._trusts_proxy = application, computes_in_loop, trusts_proxy
        self._quick = _Lane(QUICK, Turns(threads, threads_of_one(threads)))
        self._lanes = {
            QUICK: self._quick,
            SLOW: _Lane(SLOW, Turns(slow_threads), slow_waiting, LONGEST_WAIT),
            LOGIN: _Lane(LOGIN, Turns(LOGIN_THREADS, LOGIN_SHARE), MOST_LOGINS, LONGEST_WAIT),
        }
        self._at_once, self._starting = Turns(AT_ONCE), Turns(MOST_STARTING)
        self._long_paths: set[bytes] = set()
        self.bodies, self.answers = BodyRooms(), Answers()

    async def __call__(self, scope: Scope, receive: Receive, _send: object) -> None:
        """Read one request, answer it and send the answer."""
        asked = Asked(scope, self._address(scope))
        pieces: list[bytes] = []
        is_whole: bool | None = asked.announced == 0 and not asked.cycle.disconnected
        if not is_whole and (asked.announced or 0) <= SMALL_BODY:
            is_whole = await _read(receive, pieces, SMALL_BODY)
        if is_whole is None:
            return  # the client has gone
        if is_whole:
            asked.body = b"".join(pieces)
            answer = await self._answer(asked)
        else:
            answer = await self._answer_large(asked, receive, pieces)
        del asked.body, pieces
        if answer is not None:
            if asked.is_over_limit or answer[0].startswith(_TOO_MANY):
                await asyncio.sleep(PAUSE_SECONDS)
            await self.answers.send(asked.connection, asked.cycle, answer)

    def _address(self, scope: Scope) -> str:
        """Return whose turn a request takes: the address of the client, as a trusted proxy has seen it."""
        if self._trusts_proxy:
            hops = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
            if hops:
                return bucket_of(hops[-1].rpartition(b",")[2].strip().decode("latin-1"))
        connection: Connection = scope["state"]["connection"]
        return connection.address

    async def _answer_large(self, asked: Asked, receive: Receive, pieces: list[bytes]) -> list[bytes] | None:
        """Return the answer to a request with a large body: by its head if it can be refused, else with its body."""
        connection, keep_alive = asked.connection, asked.cycle.keep_alive
        # An answer that does not wait for the body is the last one of its connection.
        asked.cycle.keep_alive = False
        try:
            return await self._answer(asked)
        except MustRead as more:
            size = min(more.size, asked.announced or connection.body_limit)
        asked.is_judged, asked.cycle.keep_alive = True, keep_alive
        with self.bodies.of(asked.address, lambda: connection.body_size) as reserved:
            try:
                is_whole = await _read_reserved(asked, receive, pieces, reserved, size)
            except TimeoutError:
                pieces.clear()
                reserved.release()
                asked.has_room, asked.cycle.keep_alive = False, False
                return await self._answer(asked)
            if is_whole is None:
                return None
            if not is_whole:
                asked.cycle.keep_alive = False  # longer than what the application takes, which refuses it
            asked.body = b"".join(pieces)
            pieces.clear()
            return await self._answer(asked)

    def close(self) -> None:
        """End the threads without a job."""
        for lane in self._lanes.values():
            while lane.idle:
                lane.idle.pop().jobs.put(None)

    async def _answer(self, asked: Asked) -> list[bytes] | None:
        """Return the answer of the application, computed in the loop if possible, else in a thread.

        None: the client has gone before a thread began, or the server ends. Raises MustRead for a request that can't be
        answered without its body.
        """
        path, answer, seconds = asked.scope["raw_path"], None, 0.0
        is_of_loop = self._computes_in_loop and asked.scope["method"] == "GET" and asked.body is not None
        try:
            # The loop waits for threads as well, so each request takes a turn on it.
            if not self._at_once.take_now(asked.address):
                await self._at_once.take(asked.address)
            asked.connection.loop.call_soon(self._at_once.give_back, asked.address)
            if is_of_loop and path not in self._long_paths:
                with contextlib.suppress(MustWait), PERMIT.nonblocking():
                    answer, seconds, _ = self._call(asked, QUICK)
            if answer is None:
                answer, seconds = await self._in_lanes(asked)
        except asyncio.CancelledError:
            return None
        if seconds < LONG_SECONDS:
            self._long_paths.discard(path)
        elif self._computes_in_loop:
            if len(self._long_paths) >= MOST_LONG_PATHS:
                self._long_paths.clear()
            self._long_paths.add(path)
        return answer

    async def _in_lanes(self, asked: Asked) -> tuple[list[bytes] | None, float]:
        """Return the answer of the last lane that the request moves to, or that of a common thread if one is full."""
        name = QUICK
        for _ in range(MOST_MOVES):
            lane = self._lanes[name]
            if lane is not self._quick and not lane.has_room(asked.address, len(asked.body or b"")):
                break
            try:
                answer, seconds, name = await self._in_thread(asked, lane, name)
            except TimeoutError:
                break
            if answer is not None or asked.cycle.disconnected:
                return answer, seconds
        answer, seconds, _ = await self._in_thread(asked, self._quick, FULL)
        return answer, seconds

    async def _in_thread(self, asked: Asked, lane: _Lane, name: str) -> Answer:
        """Return the answer of a thread of the lane; ``name`` is the lane in the application's environment.

        Raises TimeoutError if no thread of a slow lane becomes free in time.
        """
        if not lane.turns.take_now(asked.address):
            await self._wait_for_thread(asked, lane)
        try:
            if not self._starting.take_now(asked.address):
                asked.connection.queued = asyncio.current_task()
                await self._starting.take(asked.address)
            asked.connection.queued = None
            worker = lane.idle.pop() if lane.idle else _Worker(lane.name)
            try:
                return await self._run_job(worker, asked.address, lambda on_wait: self._call(asked, name, on_wait))
            finally:
                lane.idle.append(worker)
        finally:
            lane.turns.give_back(asked.address)

    @staticmethod
    async def _wait_for_thread(asked: Asked, lane: _Lane) -> None:
        asked.connection.queued, size = asyncio.current_task(), len(asked.body or b"")
        lane.waiting, lane.size = lane.waiting + 1, lane.size + size
        try:
            async with asyncio.timeout(lane.timeout):
                await lane.turns.take(asked.address)
        finally:
            lane.waiting, lane.size = lane.waiting - 1, lane.size - size

    async def _run_job(self, worker: _Worker, address: str, call: Callable[[Callable[[], None]], Answer]) -> Answer:
        """Return what the call returns in a thread; the loop blocks until it waits or returns, or for a short time."""
        answer: Future[Answer] = Future()
        answer.set_running_or_notify_cancel()  # a task that is cancelled does not cancel the call
        resume: queue.SimpleQueue[None] = queue.SimpleQueue()

        def job() -> None:
            try:
                answer.set_result(call(functools.partial(resume.put, None)))
            except BaseException as fault:
                answer.set_exception(fault)
            resume.put(None)

        worker.jobs.put(job)
        try:
            with contextlib.suppress(queue.Empty):
                resume.get(timeout=LOOP_WAIT_SECONDS)
            if answer.done():
                return answer.result()
            ended = asyncio.wrap_future(answer)
            await asyncio.wait((ended,), timeout=STARTING_SECONDS)
        finally:
            self._starting.give_back(address)
        return await ended

    def _call(self, asked: Asked, lane: str, on_wait: Callable[[], None] | None = None) -> Answer:
        """Call the application; return its answer, and what it took."""
        began = time.thread_time()
        if on_wait:
            PERMIT.on_first_wait(on_wait)
        try:
            return answer_of(self.application, asked, lane), time.thread_time() - began, lane
        except MustMove as move:
            return None, time.thread_time() - began, move.lane


async def _read_reserved(
    asked: Asked, receive: Receive, pieces: list[bytes], reserved: Reserved, most: int
) -> bool | None:
    """Read a body for which memory is reserved: all of it if its length is known, else more as it arrives.

    Returns what `_read` does; raises TimeoutError if there is no room for it in time, or not while it is so slow.
    """
    size = most if asked.announced is not None else min(SMALLER, most)
    while True:
        asked.connection.wait_for_room()
        async with reserved.arriving(LONGEST_WAIT):
            await reserved.grow(size)
        asked.connection.read_body(size)
        async with reserved.arriving():
            is_whole = await _read(receive, pieces, size)
        if is_whole is not False or size == most:
            return is_whole
        size = min((size // STEP + 1) * STEP, most)


async def _read(receive: Receive, pieces: list[bytes], most: int) -> bool | None:
    """Add what comes of a body; return whether that is all of it, or more than ``most`` bytes came, None: no client."""
    size = sum(map(len, pieces))
    while (message := await receive())["type"] == "http.request":
        pieces.append(message["body"])
        size += len(message["body"])
        if not message["more_body"]:
            return True
        if size > most:
            return False
    return None
