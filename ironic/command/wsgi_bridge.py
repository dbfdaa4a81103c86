"""Bridge from complete requests of uvicorn (ASGI) to a WSGI application (PEP 3333), and back.

The event loop itself answers a GET that only computes: the transfer to a thread and back costs as much as the answer.
If such a request has to wait (`ironic.core.permit`), it is repeated in a thread; all other requests begin in one. While
a thread computes, the loop waits for it, for a few milliseconds at most: both would compete for the interpreter lock.
doc/many-machines.md has the measurements.

A request that may wait for long raises MustMove before it changes anything, and is repeated in a thread of another
lane. A limited number of such requests may wait for these threads, for a limited time; the application refuses others.
"""

import asyncio
import contextlib
import functools
import io
import logging
import math
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from ironic.command.http_connection import Connection, head
from ironic.core.permit import FULL, LANE, LOGIN, PERMIT, QUICK, SLOW, MustMove, MustWait

LOG = logging.getLogger(__name__)

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]
Headers = list[tuple[str, str]]
Scope = dict[str, Any]
# The bytes of an answer, None if the request has to be repeated in another lane; CPU seconds that it took; that lane.
Answer = tuple[bytes | None, float, str]

# Bytes of request bodies in memory; beyond that only small bodies are read.
MOST_BODIES = 64 * 1024 * 1024
SMALL_BODY = 65536
# Bytes of long answers that clients have not received yet, and of the pieces in which such answers are written.
MOST_UNSENT = 64 * 1024 * 1024
PIECE = 128 * 1024
# CPU seconds of an answer after which its path is answered in threads, until it is quick again; how many such paths.
LONG_SECONDS = 0.01
MOST_LONG_PATHS = 1000
# Seconds for which the loop waits while a thread computes. Most requests have ended by then, or wait.
LOOP_WAIT_SECONDS = 0.005
# So many threads begin requests at the same time: more would only compete for the permit to compute. After so many
# seconds a request waits for something, and another may begin.
MOST_STARTING, STARTING_SECONDS = 3, 0.01
# Bytes of bodies that wait for the slow lane, so that there is room for other bodies.
MOST_SLOW_BODIES = MOST_BODIES // 2
# Seconds that a request may wait for such a lane: the time-out of clients is a little longer, and they try again.
LONGEST_WAIT = 15.0
# Threads that ask Keystone about tokens, and requests that may wait for them. How often a request may move.
LOGIN_THREADS, MOST_LOGINS = 10, 1000
MOST_MOVES = 4

# Seconds after which a refusal with 429 is sent, so that a client that does not wait can't send many requests.
PAUSE_SECONDS = 1.0

_TOO_MANY: Final = b"HTTP/1.1 429 "
# Headers that the server writes itself.
_SERVER_HEADERS: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "date", "server"})
_WITHOUT_BODY: Final = ("204", "304")
_SLASH: Final = re.compile(rb"%2[Ff]")


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

    def __init__(self, name: str, threads: int, most: float = math.inf, timeout: float | None = None) -> None:
        self.name, self._most, self.timeout = name, most, timeout
        # Threads without a job; the last one used comes first, so that no more are started than needed.
        self.free, self.idle = asyncio.Semaphore(threads), list[_Worker]()
        # Requests that wait for a thread, and the bytes of their bodies.
        self.waiting = self.size = 0

    def has_room(self, size: int) -> bool:
        """Return whether one more request, with a body of so many bytes, gets a thread or may wait for one."""
        may_wait = self.waiting < self._most and self.size + size <= MOST_SLOW_BODIES
        return may_wait or not self.free.locked()


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
    ) -> None:
        """Take the numbers of threads and whether the loop answers a GET; see `ServerSettings`."""
        self.application, self._computes_in_loop = application, computes_in_loop
        self._quick = _Lane(QUICK, threads)
        self._lanes = {
            QUICK: self._quick,
            SLOW: _Lane(SLOW, slow_threads, slow_waiting, LONGEST_WAIT),
            LOGIN: _Lane(LOGIN, LOGIN_THREADS, MOST_LOGINS, LONGEST_WAIT),
        }
        self._starting = asyncio.Semaphore(MOST_STARTING)
        self._long_paths: set[bytes] = set()
        # Bytes of bodies in memory; connections with an incomplete large body, and with bytes of a long answer that
        # are not sent yet, the earliest first.
        self.held = 0
        self._large: dict[Connection, asyncio.Event] = {}
        self._unsent: dict[Connection, int] = {}

    async def __call__(self, scope: Scope, receive: Callable[[], Any], _send: object) -> None:
        """Read one request, answer it and send the answer."""
        connection: Connection = scope["state"]["connection"]
        pieces: list[bytes] = []
        size = 0
        try:
            while (message := await receive())["type"] == "http.request":
                pieces.append(message["body"])
                size += len(message["body"])
                self.held += len(message["body"])
                if not message["more_body"]:
                    break
                if size > SMALL_BODY:
                    # Beyond the limit only the earliest large body is read.
                    turn = self._large.setdefault(connection, asyncio.Event())
                    while self.held > MOST_BODIES and next(iter(self._large)) is not connection:
                        turn.clear()
                        await turn.wait()
            else:
                return  # the client has gone
            self._release_body(connection, 0)
            answer = await self._answer(connection, scope, b"".join(pieces))
        finally:
            self._release_body(connection, size)
        if answer is not None:
            if answer.startswith(_TOO_MANY):
                await asyncio.sleep(PAUSE_SECONDS)
            await self._send(connection, scope["state"]["cycle"], answer)

    def close(self) -> None:
        """End the threads without a job."""
        for lane in self._lanes.values():
            while lane.idle:
                lane.idle.pop().jobs.put(None)

    def _release_body(self, connection: Connection, size: int) -> None:
        """Subtract the bytes of a body that is not needed any more, and let the next large body be read."""
        self.held -= size
        self._large.pop(connection, None)
        for turn in self._large.values():
            turn.set()

    async def _send(self, connection: Connection, cycle: RequestResponseCycle, answer: bytes) -> None:
        """Send an answer, a long one in pieces; beyond `MOST_UNSENT` the earliest slow client is disconnected."""
        cycle.response_started = True
        if len(answer) > PIECE:
            self._unsent[connection] = len(answer)
            while sum(self._unsent.values()) > MOST_UNSENT:
                earliest = next(iter(self._unsent))
                del self._unsent[earliest]
                earliest.transport.abort()
        for start in range(0, len(answer), PIECE):
            if connection.flow.write_paused:
                await connection.flow.drain()
            if not cycle.disconnected:
                connection.transport.write(answer[start : start + PIECE] if len(answer) > PIECE else answer)
        self._unsent.pop(connection, None)
        cycle.response_complete = True
        if not cycle.keep_alive:
            connection.transport.close()
        cycle.on_response()

    async def _answer(self, connection: Connection, scope: Scope, body: bytes) -> bytes | None:
        """Return the answer of the application, computed in the loop if possible, else in a thread.

        None: the client has gone before a thread began, or the server ends.
        """
        path, answer, seconds = scope["raw_path"], None, 0.0
        if self._computes_in_loop and scope["method"] == "GET" and path not in self._long_paths:
            with contextlib.suppress(MustWait), PERMIT.nonblocking():
                answer, seconds, _ = self._call(scope, body)
        try:
            if answer is None:
                answer, seconds = await self._in_lanes(connection, scope, body)
        except asyncio.CancelledError:
            return None
        if seconds < LONG_SECONDS:
            self._long_paths.discard(path)
        elif self._computes_in_loop:
            if len(self._long_paths) >= MOST_LONG_PATHS:
                self._long_paths.clear()
            self._long_paths.add(path)
        return answer

    async def _in_lanes(self, connection: Connection, scope: Scope, body: bytes) -> tuple[bytes | None, float]:
        """Return the answer of the last lane that the request moves to, or that of a common thread if one is full."""
        name = QUICK
        for _ in range(MOST_MOVES):
            lane = self._lanes[name]
            if lane is not self._quick and not lane.has_room(len(body)):
                break
            try:
                answer, seconds, name = await self._in_thread(connection, scope, body, lane, name)
            except TimeoutError:
                break
            if answer is not None or scope["state"]["cycle"].disconnected:
                return answer, seconds
        answer, seconds, _ = await self._in_thread(connection, scope, body, self._quick, FULL)
        return answer, seconds

    async def _in_thread(self, connection: Connection, scope: Scope, body: bytes, lane: _Lane, name: str) -> Answer:
        """Return the answer of a thread of the lane; ``name`` is the lane in the application's environment.

        Raises TimeoutError if no thread of a slow lane becomes free in time.
        """
        connection.queued = asyncio.current_task()
        lane.waiting, lane.size = lane.waiting + 1, lane.size + len(body)
        try:
            async with asyncio.timeout(lane.timeout):
                await lane.free.acquire()
        finally:
            lane.waiting, lane.size = lane.waiting - 1, lane.size - len(body)
        try:
            await self._starting.acquire()
            connection.queued = None
            worker = lane.idle.pop() if lane.idle else _Worker(lane.name)
            try:
                return await self._run_job(worker, lambda on_wait: self._call(scope, body, name, on_wait))
            finally:
                lane.idle.append(worker)
        finally:
            lane.free.release()

    async def _run_job(self, worker: _Worker, call: Callable[[Callable[[], None]], Answer]) -> Answer:
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
            self._starting.release()
        return await ended

    def _call(self, scope: Scope, body: bytes, lane: str = QUICK, on_wait: Callable[[], None] | None = None) -> Answer:
        """Call the application; return its answer with one Content-Length and the headers of the server."""
        began = time.thread_time()
        cycle: RequestResponseCycle = scope["state"]["cycle"]
        started: list[Any] = []
        pieces: list[bytes] = []

        def start_response(status: str, headers: Headers, exc_info: object = None) -> Callable[[bytes], None]:
            started[:] = [status, headers]
            return pieces.append

        if on_wait:
            PERMIT.on_first_wait(on_wait)
        try:
            found = self.application(environ_of(scope, body) | {LANE: lane}, start_response)
            try:
                pieces.extend(found)
            finally:
                if hasattr(found, "close"):
                    found.close()
            (status, headers), data = started, b"".join(pieces)
            is_head, has_body = scope["method"] == "HEAD", not status.startswith(_WITHOUT_BODY)
            sent = [(name, value) for name, value in headers if name.lower() not in _SERVER_HEADERS]
            # The length of an answer to HEAD is that of the body for GET, which only the application may know.
            if data or not is_head:
                sent = [(name, value) for name, value in sent if name.lower() != "content-length"]
                sent += [("Content-Length", str(len(data)))] if has_body else []
            answer = head(status, sent, keep_alive=cycle.keep_alive) + (data if has_body and not is_head else b"")
        except MustMove as move:
            return None, time.thread_time() - began, move.lane
        except Exception:
            LOG.exception("The API could not answer a %s request", scope["method"])
            cycle.keep_alive = False
            answer = head("500 Internal Server Error", [("Content-Length", "0")], keep_alive=False)
        return answer, time.thread_time() - began, lane


def environ_of(scope: Scope, body: bytes) -> dict[str, object]:
    """Return the WSGI environment: headers of one name are joined, CONTENT_LENGTH is the length of the body."""
    (server, port), (client, client_port) = scope["server"] or ("localhost", None), scope["client"] or ("", "")
    path: bytes = scope["raw_path"]
    environ = {
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "wsgi.input": io.BytesIO(body),
        "SERVER_NAME": server,
        "SERVER_PORT": str(port or ""),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client,
        "REMOTE_PORT": str(client_port),
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        # An encoded slash stays encoded, as it does not separate segments.
        "PATH_INFO": "%2F".join(unquote_to_bytes(part).decode("latin-1") for part in _SLASH.split(path))
        if b"%" in path
        else path.decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
    }
    for name, value in scope["headers"]:
        key, text = "HTTP_" + name.decode("ascii").upper().replace("-", "_"), value.decode("latin-1").strip(" \t")
        environ[key] = f"{environ[key]},{text}" if key in environ else text
    if "HTTP_CONTENT_TYPE" in environ:
        environ["CONTENT_TYPE"] = environ.pop("HTTP_CONTENT_TYPE")
    chunked = environ.pop("HTTP_TRANSFER_ENCODING", None)
    if environ.pop("HTTP_CONTENT_LENGTH", chunked) is not None:
        environ["CONTENT_LENGTH"] = str(len(body))
    return environ
