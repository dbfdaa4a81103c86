"""The HTTP server in front of the API: uvicorn's protocol in a thread with an event loop, native threads for requests.

It binds in the caller's thread, so that a taken port or an unreadable certificate stops the start. Connections are
bounded (`http_connection`), and the application (`wsgi_bridge`) gets complete requests only; it is a plain WSGI
callable and knows nothing of this server: big sites run the same callable elsewhere.
"""

import asyncio
import contextlib
import logging
import os
import resource
import socket
import ssl
import stat
import threading
import time
from dataclasses import dataclass
from typing import Any, Final, cast

from oslo_config import cfg
from sqlalchemy.engine import make_url
from uvicorn import Config
from uvicorn.server import ServerState

from ironic.command.http_connection import HEAD_SECONDS, IDLE_SECONDS, LINGER_SECONDS, Connection
from ironic.command.wsgi_bridge import Application, WsgiBridge

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
WATCH_SECONDS = 0.5
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
    # Whether the event loop answers what only computes: right where a query is no wait, because the database is a file,
    # and who asks is known without asking Keystone.
    computes_in_loop: bool = False
    # Threads for requests that may wait for long, and how many of these may wait for such a thread.
    slow_threads: int = 8
    slow_waiting: int = 1000

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
            computes_in_loop=conf.auth_strategy != "keystone"
            and make_url(conf.database.connection).get_backend_name() == "sqlite",
            slow_threads=api.inspection_report_threads,
            slow_waiting=api.inspection_reports_waiting,
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
        self._listening = listening
        self._context = listening.tls.context() if listening.tls else None
        self._bridge = WsgiBridge(
            application,
            listening.threads,
            computes_in_loop=listening.computes_in_loop,
            slow_threads=listening.slow_threads,
            slow_waiting=listening.slow_waiting,
        )
        self._state = ServerState()
        self._connections = cast("set[Connection]", self._state.connections)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="api-connections", daemon=True)
        self._is_up, self._stopping = threading.Event(), asyncio.Event()
        self._name = ("localhost", "")

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
        if isinstance(self._listening.address, tuple):
            host, port = self._listener.getsockname()[:2]
            self._name = (host, str(port))
            # asyncio knows only sockets whose protocol is said for TCP; what clients connect to inherits this.
            self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._thread.start()
        self._is_up.wait()

    def replace(self, application: Application) -> None:
        """Have another application answer from the next request on."""
        self._bridge.application = application

    def stop(self) -> None:
        """Take no more connections, finish the requests that run, and return."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(DRAIN_SECONDS + 1)

    # What follows runs in the thread of the event loop.

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(_log_fault)
        # uvicorn tells each bad request and each connection; what matters of it is logged here.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        config = Config(
            self._bridge,
            interface="asgi3",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_keep_alive=IDLE_SECONDS,
        )
        most = min(MOST_CONNECTIONS, int(resource.getrlimit(resource.RLIMIT_NOFILE)[0] * SHARE_OF_DESCRIPTORS))
        tls: dict[str, Any] = (
            {"ssl": self._context, "ssl_handshake_timeout": HEAD_SECONDS, "ssl_shutdown_timeout": LINGER_SECONDS}
            if self._context
            else {}
        )
        server = await self._loop.create_server(
            lambda: Connection(config, self._state, body_limit=self._listening.body_limit, most_connections=most),
            sock=self._listener,
            backlog=LET_IN,
            **tls,
        )
        self._listener.listen(BACKLOG)
        watching = asyncio.create_task(self._watch())
        self._is_up.set()
        await self._stopping.wait()
        server.close()
        await self._drain()
        watching.cancel()
        self._bridge.close()

    async def _drain(self) -> None:
        if isinstance(self._listening.address, str):
            with contextlib.suppress(OSError):
                os.unlink(self._listening.address)
        connections, until = self._connections, time.monotonic() + DRAIN_SECONDS
        while True:
            # Again and again, for clients that were being let in.
            for connection in list(connections):
                connection.shutdown()
            await asyncio.sleep(0.02)
            if not connections or time.monotonic() > until:
                break
        if cut_off := sum(connection.owed > 0 for connection in connections):
            LOG.warning("%d API requests did not end within %s seconds and are cut off", cut_off, DRAIN_SECONDS)
        for connection in list(connections):
            connection.transport.abort()
        await asyncio.sleep(0.02)

    async def _watch(self) -> None:
        """End what takes too long."""
        while True:
            now = time.monotonic()
            for connection in list(self._connections):
                if connection.deadline < now:
                    connection.expire()
            await asyncio.sleep(WATCH_SECONDS)


def _log_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    fault = context.get("exception")
    if isinstance(fault, OSError):
        LOG.warning("A client can't be let in to the API, or is lost: %s: %s", context["message"], fault)
    else:
        LOG.error("The API server reports: %s", context["message"], exc_info=fault)
