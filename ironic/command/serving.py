"""The HTTP server in front of the API: one thread with an event loop for all connections, native threads for requests.

It binds in the caller's thread, so that a taken port or an unreadable certificate stops the start. A request reaches a
thread once it is complete (`http_connection`); the application is a plain WSGI callable and knows nothing of this
server: big sites run the same callable elsewhere.
"""

import asyncio
import contextlib
import functools
import logging
import os
import queue
import resource
import socket
import ssl
import stat
import threading
import time
from dataclasses import dataclass
from typing import Any, Final

from oslo_config import cfg

from ironic.command.http_connection import HEAD_SECONDS, Connection
from ironic.command.http_limits import Traffic
from ironic.command.wsgi_call import Application, HttpRequest, respond

LOG = logging.getLogger(__name__)

# One thread computes at a time (ironic.core.permit); the others wait, for conductors as a rule.
THREADS_PER_WORKER = 20
# Connections of clients, and which part of the descriptors that the process may open they may take at most.
MOST_CONNECTIONS = 1000
SHARE_OF_DESCRIPTORS = 0.5
# Clients that may wait to be let in.
BACKLOG = 1024
# Clients that are let in before those that are in already get on.
LET_IN = 64
# Seconds between two searches for what takes too long.
SWEEP_SECONDS = 0.5
# When no connection can be let in, for want of descriptors as a rule: how many unused ones end, the seconds to pause,
# and the seconds between two lines of the log about it.
RELIEF = 32
RELIEF_SECONDS = 0.1
COMPLAINT_SECONDS = 60
# How long running requests may take to end once the server is told to stop, in seconds.
DRAIN_SECONDS = 10

# Options of [api] that say how many KiB a body may have.
_BODY_LIMITS: Final = ("max_json_body_size", "max_json_body_size_provision", "max_json_body_size_inspection")

_OPEN_TO_ALL: Final = 0o777


@dataclass(frozen=True)
class Tls:
    """What it takes to speak HTTPS."""

    certificate: str
    key: str
    minimum_version: str = "1.3"
    ciphers: str | None = None

    def context(self) -> ssl.SSLContext:
        """Read the files and set what is allowed."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate, self.key)
        versions = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
        context.minimum_version = versions[self.minimum_version]
        context.options |= ssl.OP_NO_RENEGOTIATION
        if self.ciphers:
            context.set_ciphers(self.ciphers)
        return context


@dataclass(frozen=True)
class Listening:
    """Where and how to listen."""

    address: str | tuple[str, int]
    threads: int = THREADS_PER_WORKER
    tls: Tls | None = None
    socket_mode: int | None = None
    # Bytes of a body, whatever it is sent for; the API refuses in its own words what is less, and has limits per route.
    body_limit: int = 1024 * 1024

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "Listening":
        """Read the options of [api]."""
        api = conf.api
        workers = api.api_workers or min(4, os.cpu_count() or 1)
        return cls(
            address=api.unix_socket or (api.host_ip, api.port),
            threads=workers * THREADS_PER_WORKER,
            tls=_tls(api) if api.enable_ssl_api else None,
            socket_mode=api.unix_socket_mode,
            body_limit=2 * max(getattr(api, name) for name in _BODY_LIMITS) * 1024,
        )

    def bind(self) -> socket.socket:
        """Return a socket that listens, or raise OSError."""
        if isinstance(self.address, tuple):
            host, port = self.address
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
            # "::" alone means every address, of the older kind as well.
            both = host == "::" and socket.has_dualstack_ipv6()
            return socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=both)
        return _unix_socket(self.address, _OPEN_TO_ALL if self.socket_mode is None else self.socket_mode)


def _tls(api: Any) -> Tls:
    if not (api.cert_file and api.key_file):
        raise ValueError("[api]enable_ssl_api needs [api]cert_file and [api]key_file")
    return Tls(api.cert_file, api.key_file, api.server_tls_minimum_version, api.server_tls_ciphers)


def _unix_socket(path: str, mode: int) -> socket.socket:
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            os.unlink(path)  # left behind by an earlier process
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(path)
        # Before it listens, so that there is no moment at which others get in.
        os.chmod(path, mode)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


class ApiServer:
    """Serves one application until stopped."""

    def __init__(self, application: Application, listening: Listening) -> None:
        self._application, self._listening = application, listening
        self._context = listening.tls.context() if listening.tls else None
        self._requests: queue.SimpleQueue[tuple[Connection, HttpRequest] | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, name=f"api-{n}") for n in range(listening.threads)]
        self._threads.append(threading.Thread(target=lambda: asyncio.run(self._serve()), name="api-connections"))
        self._is_up, self._stopping = threading.Event(), asyncio.Event()
        most = min(MOST_CONNECTIONS, int(resource.getrlimit(resource.RLIMIT_NOFILE)[0] * SHARE_OF_DESCRIPTORS))
        self._traffic: Traffic[Connection] = Traffic(
            lambda *job: self._requests.put(job),
            threads=listening.threads,
            body_limit=listening.body_limit,
            most_connections=most,
        )
        self._name = ("localhost", "")
        self._next_complaint = 0.0

    @property
    def url(self) -> str:
        """Where clients find it; for a log line."""
        if isinstance(self._listening.address, str):
            return f"unix:{self._listening.address}"
        host, port = self._name
        return f"{'https' if self._context else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"

    def start(self) -> None:
        """Bind, or raise OSError, and serve."""
        self._listener = self._listening.bind()
        self._listener.setblocking(False)
        if isinstance(self._listening.address, tuple):
            host, port = self._listener.getsockname()[:2]
            self._name = (host, str(port))
        for thread in self._threads:
            # Threads that don't end must not keep the process.
            thread.daemon = True
            thread.start()
        self._is_up.wait()

    def replace(self, application: Application) -> None:
        """Have another application answer from the next request on."""
        self._application = application

    def stop(self) -> None:
        """Take no more connections, finish the requests that run, and return."""
        *workers, loop_thread = self._threads
        if not loop_thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._stopping.set)
        loop_thread.join()
        for _ in workers:
            self._requests.put(None)
        until = time.monotonic() + 1
        for worker in workers:
            worker.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        while job := self._requests.get():
            self._answer(*job)
            del job  # a request may be large, and the next one far off

    def _answer(self, connection: Connection, request: HttpRequest) -> None:
        data = respond(self._application, request, connection.base)
        with contextlib.suppress(RuntimeError):  # the loop has ended, and the client is cut off
            self._loop.call_soon_threadsafe(connection.answered, request, data)

    # What follows runs in the thread of the event loop.

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(_log_fault)
        sweeping = asyncio.create_task(self._sweep())
        self._open_door()
        self._is_up.set()
        await self._stopping.wait()
        self._traffic.is_stopping = True
        self._loop.remove_reader(self._listener)
        await self._drain()
        sweeping.cancel()

    async def _drain(self) -> None:
        until = time.monotonic() + DRAIN_SECONDS
        self._listener.close()
        if isinstance(self._listening.address, str):
            with contextlib.suppress(OSError):
                os.unlink(self._listening.address)
        connections = self._traffic.connections
        for connection in list(connections):
            connection.retire()
        while connections and time.monotonic() < until:
            await asyncio.sleep(0.02)
        if cut_off := sum(connection.is_busy for connection in connections):
            LOG.warning("%d API requests did not end within %s seconds and are cut off", cut_off, DRAIN_SECONDS)
        for connection in list(connections):
            connection.abort()
        await asyncio.sleep(0.02)

    def _let_in(self) -> None:
        """Let clients in, some at a time so that those who are in get on as well."""
        for _ in range(LET_IN):
            try:
                client, _address = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                self._relieve(error)
                return
            client.setblocking(False)
            connection = Connection(self._traffic, self._name)
            task = self._loop.create_task(self._connect(connection, client))
            connection.abort = task.cancel
            task.add_done_callback(functools.partial(_close_if_cancelled, client))
            self._traffic.admit(connection)

    def _relieve(self, error: OSError) -> None:
        """Make room, and let clients in again after a pause."""
        if time.monotonic() > self._next_complaint:
            LOG.warning("A client can't be let in to the API; connections that wait longest end: %s", error)
            self._next_complaint = time.monotonic() + COMPLAINT_SECONDS
        for _ in range(RELIEF):
            self._traffic.make_room()
        self._loop.remove_reader(self._listener)
        self._loop.call_later(RELIEF_SECONDS, self._open_door)

    def _open_door(self) -> None:
        if not self._traffic.is_stopping:
            self._loop.add_reader(self._listener, self._let_in)

    async def _connect(self, connection: Connection, client: socket.socket) -> None:
        """Hand the socket to its connection, after the TLS handshake if there is one."""
        tls: dict[str, Any] = {"ssl": self._context, "ssl_handshake_timeout": HEAD_SECONDS} if self._context else {}
        try:
            await self._loop.connect_accepted_socket(lambda: connection, client, **tls)
        except OSError as error:
            self._traffic.forget(connection)
            client.close()
            LOG.debug("A client did not come as far as a request: %s", error)

    async def _sweep(self) -> None:
        """End what takes too long."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = time.monotonic()
            for connection in list(self._traffic.connections):
                if connection.deadline < now:
                    connection.expire()


def _close_if_cancelled(client: socket.socket, connecting: "asyncio.Task[None]") -> None:
    if connecting.cancelled():
        client.close()


def _log_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    fault = context.get("exception")
    level = logging.INFO if isinstance(fault, OSError) else logging.ERROR
    LOG.log(level, "The API server reports: %s", context["message"], exc_info=fault if level == logging.ERROR else None)
