"""From complete requests of uvicorn (ASGI) to a WSGI application (PEP 3333), and back.

A GET that only computes is answered by the event loop itself: handing it to a thread and back costs as much as the
answer. Where it turns out to have to wait (`ironic.core.permit`) it is begun anew in a thread, as everything else is.
The loop stands still while a thread computes for it, but not for long: both would compete for the interpreter.

What may wait for long says so before it does anything (MustMove) and is begun anew in one of the slow lane's threads.
A bounded number of such requests waits for them, without a thread; more are answered at once, as refusals.
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
from ironic.core.permit import FULL, LANE, PERMIT, QUICK, SLOW, MustMove, MustWait

LOG = logging.getLogger(__name__)

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]
Headers = list[tuple[str, str]]
Scope = dict[str, Any]

# Bytes of bodies that are held at the same time. Small bodies are read all the same.
MOST_BODIES = 64 * 1024 * 1024
SMALL_BODY = 65536
# Bytes of long answers that wait for clients to take them, and of the pieces in which such answers leave.
MOST_UNSENT = 64 * 1024 * 1024
PIECE = 128 * 1024
# A path whose answer took so many seconds of computing is left to threads, until it has become quick again.
LONG = 0.01
MOST_LONG_PATHS = 1000
# Seconds for which the loop stands still while a thread computes. Most are done by then, or wait.
STANDSTILL = 0.005
# So many threads begin requests at a time: more would only compete for the permit to compute. Whatever has taken this
# many seconds waits for something, and another may begin.
YOUNG, YOUTH = 3, 0.01
# Bytes of bodies that wait for the slow lane, so that they leave room for those of others.
MOST_SLOW_BODIES = MOST_BODIES // 2

# Headers that the server writes itself.
_OURS: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "date", "server"})
_OURS_AND_LENGTH: Final = _OURS | {"content-length"}
_WITHOUT_BODY: Final = ("204", "304")
_SLASH: Final = re.compile(rb"%2[Ff]")


class _Worker(threading.Thread):
    """A thread that does one job after the other, until it gets None."""

    def __init__(self, lane: str) -> None:
        # Daemons, for a request that does not end must not keep the process.
        super().__init__(name="api" if lane == QUICK else f"api-{lane}", daemon=True)
        self.jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        """Do what is put in."""
        while job := self.jobs.get():
            act, answer = job
            answer.set_running_or_notify_cancel()
            try:
                answer.set_result(act())
            except BaseException as fault:
                answer.set_exception(fault)
            del job, act, answer  # a request may be large, and the next one far off


class _Lane:
    """Threads for one sort of requests, and the requests that wait for one."""

    def __init__(self, name: str, threads: int, most: float = math.inf) -> None:
        self.name, self._most = name, most
        # Threads without a job; the last one used comes first, so that no more begin than are needed at once.
        self.free, self.idle = asyncio.Semaphore(threads), list[_Worker]()
        # Requests that wait for a thread, and the bytes of their bodies.
        self.waiting = self.size = 0

    def takes(self, size: int) -> bool:
        """Tell whether one more request, with a body of so many bytes, gets a thread or may wait for one."""
        may_wait = self.waiting < self._most and self.size + size <= MOST_SLOW_BODIES
        return may_wait or not self.free.locked()


class WsgiBridge:
    """An ASGI application that asks a WSGI application and writes its answers in one piece where they are short."""

    def __init__(
        self,
        application: Application,
        threads: int,
        *,
        computes_in_loop: bool = False,
        slow_threads: int = 8,
        slow_waiting: int = 1000,
    ) -> None:
        """Have so many threads, and so many more for what is slow; ``computes_in_loop``: the loop answers what it can.

        ``slow_waiting`` is how many slow requests may wait for one of theirs.
        """
        self.application, self._computes_in_loop = application, computes_in_loop
        self._quick = _Lane(QUICK, threads)
        self._slow = _Lane(SLOW, slow_threads, slow_waiting)
        self._young = asyncio.Semaphore(YOUNG)
        self._long_paths: set[bytes] = set()
        # Bytes of bodies; those in the middle of a large one, the earliest first; those that don't take a long answer.
        self.held = 0
        self._large: dict[Connection, asyncio.Event] = {}
        self._unsent: dict[Connection, int] = {}

    async def __call__(self, scope: Scope, receive: Callable[[], Any], _send: object) -> None:
        """Answer one request."""
        connection: Connection = scope["state"]["connection"]
        pieces: list[bytes] = []
        size = 0
        try:
            while (message := await receive())["type"] == "http.request":
                if message["body"]:
                    pieces.append(message["body"])
                    size += len(message["body"])
                    self.held += len(message["body"])
                if not message["more_body"]:
                    break
                await self._make_room(connection, size)
            else:
                return  # the client has gone
            self._give_back(connection, 0)
            answer = await self._answer(connection, scope, b"".join(pieces))
        finally:
            if size:
                self._give_back(connection, size)
        if answer is not None:
            await self._send(connection, scope["state"]["cycle"], answer)

    def close(self) -> None:
        """End the threads that have nothing to do."""
        for lane in (self._quick, self._slow):
            while lane.idle:
                lane.idle.pop().jobs.put(None)

    async def _make_room(self, connection: Connection, size: int) -> None:
        """Wait until the body may be read on: beyond the bound only the earliest of the large ones is."""
        if size > SMALL_BODY:
            turn = self._large.setdefault(connection, asyncio.Event())
            while self.held > MOST_BODIES and next(iter(self._large)) is not connection:
                turn.clear()
                await turn.wait()

    def _give_back(self, connection: Connection, size: int) -> None:
        """Count out bytes of bodies, and one that is complete; others may go on."""
        self.held -= size
        self._large.pop(connection, None)
        for turn in self._large.values():
            turn.set()

    async def _send(self, connection: Connection, cycle: RequestResponseCycle, answer: bytes) -> None:
        """Send an answer, a long one as fast as its client takes it."""
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
        path, answer, seconds = scope["raw_path"], None, 0.0
        if self._computes_in_loop and scope["method"] == "GET" and path not in self._long_paths:
            with contextlib.suppress(MustWait), PERMIT.hurrying():
                answer, seconds = self._timed(scope, body)
        if answer is None:
            try:
                answer, seconds = await self._in_lane(connection, scope, body)
            except asyncio.CancelledError:
                return None  # the client has gone before a thread began, or the server ends
        if seconds < LONG:
            self._long_paths.discard(path)
        elif self._computes_in_loop:
            if len(self._long_paths) >= MOST_LONG_PATHS:
                self._long_paths.clear()
            self._long_paths.add(path)
        return answer

    async def _in_lane(self, connection: Connection, scope: Scope, body: bytes) -> tuple[bytes | None, float]:
        answer, seconds = await self._in_thread(connection, scope, body, self._quick, QUICK)
        if answer is not None or scope["state"]["cycle"].disconnected:
            return answer, seconds
        if self._slow.takes(len(body)):
            return await self._in_thread(connection, scope, body, self._slow, SLOW)
        return await self._in_thread(connection, scope, body, self._quick, FULL)

    async def _in_thread(
        self, connection: Connection, scope: Scope, body: bytes, lane: _Lane, told: str
    ) -> tuple[bytes | None, float]:
        """Have a thread of the lane answer; ``told`` is what the request learns about lanes."""
        connection.lined_up = asyncio.current_task()
        lane.waiting += 1
        lane.size += len(body)
        try:
            await lane.free.acquire()
        finally:
            lane.waiting -= 1
            lane.size -= len(body)
        try:
            await self._young.acquire()
            connection.lined_up = None
            worker = lane.idle.pop() if lane.idle else _Worker(lane.name)
            try:
                return await self._done_by(worker, scope, body, told)
            finally:
                lane.idle.append(worker)
        finally:
            lane.free.release()

    async def _done_by(self, worker: _Worker, scope: Scope, body: bytes, told: str) -> tuple[bytes | None, float]:
        computes = threading.Lock()
        computes.acquire()

        def go_on(_: object = None) -> None:
            with contextlib.suppress(RuntimeError):  # it was told before
                computes.release()

        answer: Future[tuple[bytes | None, float]] = Future()
        answer.add_done_callback(go_on)
        worker.jobs.put((functools.partial(self._timed, scope, body, told, go_on), answer))
        try:
            computes.acquire(timeout=STANDSTILL)
            if answer.done():
                return answer.result()
            ended = asyncio.wrap_future(answer)
            await asyncio.wait((ended,), timeout=YOUTH)
        finally:
            self._young.release()
        return await ended

    def _timed(
        self, scope: Scope, body: bytes, lane: str = QUICK, waits: Callable[[], None] | None = None
    ) -> tuple[bytes | None, float]:
        began = time.thread_time()
        if waits:
            PERMIT.tell_of_wait(waits)
        return self._call(scope, body, lane), time.thread_time() - began

    def _call(self, scope: Scope, body: bytes, lane: str) -> bytes | None:
        """Have the application answer; the answer says its length, one way, and nothing about connections.

        None: it is to be asked again in the slow lane.
        """
        cycle: RequestResponseCycle = scope["state"]["cycle"]
        started: list[Any] = []
        pieces: list[bytes] = []

        def start_response(status: str, headers: Headers, exc_info: object = None) -> Callable[[bytes], None]:
            started[:] = [status, headers]
            return pieces.append

        try:
            environ = environ_of(scope, body)
            environ[LANE] = lane
            found = self.application(environ, start_response)
            try:
                pieces.extend(found)
            finally:
                if hasattr(found, "close"):
                    found.close()
            status, headers = started
            data = b"".join(pieces)
            has_body = scope["method"] != "HEAD" and not status.startswith(_WITHOUT_BODY)
            # The length of an answer to HEAD is that of the body a GET would get.
            ours = _OURS if scope["method"] == "HEAD" and not data else _OURS_AND_LENGTH
            said = [header for header in headers if header[0].lower() not in ours]
            if ours is _OURS_AND_LENGTH and not status.startswith(_WITHOUT_BODY):
                said.append(("Content-Length", str(len(data))))
            sent = head(status, said, keep_alive=cycle.keep_alive)
            return sent + data if has_body else sent
        except MustMove:
            return None
        except Exception:
            LOG.exception("The API could not answer a %s request", scope["method"])
            cycle.keep_alive = False
            return head("500 Internal Server Error", [("Content-Length", "0")], keep_alive=False)


def environ_of(scope: Scope, body: bytes) -> dict[str, object]:
    """Return what the application gets: headers of one name are joined, the body has the length that is said."""
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
        # An encoded slash stays encoded: it is no border of two segments.
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
