"""The HTTP servers of the service: uvicorn's protocol in an event loop; for the API, native threads for requests.

A server binds in the caller's thread, so that a port in use or an unreadable certificate fails the start. Connections
have limits (`http_connection`), and the API gets complete requests only (`wsgi_bridge`). The API is a WSGI callable
that does not depend on its server: large sites run it under another one (doc/many-machines.md). `file_server` serves
files to machines.
"""

import asyncio
import contextlib
import errno
import logging
import os
import resource
import socket
import stat
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, cast

from oslo_config import cfg
from sqlalchemy.engine import make_url
from uvicorn import Config
from uvicorn.server import ServerState

from ironic.api.settings import proxy_headers_count
from ironic.command import own_addresses
from ironic.command.http_connection import HEAD_SECONDS, LINGER_SECONDS, Connection
from ironic.command.memory import AfterCrowds
from ironic.command.server_tls import ServerTls, Tls
from ironic.command.tls_listener import TlsListener
from ironic.command.wsgi_bridge import WsgiBridge
from ironic.command.wsgi_call import Application

LOG = logging.getLogger(__name__)

AsgiApplication = Callable[..., Awaitable[None]]

# One thread computes at a time (ironic.core.permit); the others wait, mostly for conductors.
THREADS_PER_WORKER = 20
# Client connections at most, and the share of the process's file descriptors that they may use.
MOST_CONNECTIONS = 1000
DESCRIPTOR_SHARE = 0.5
# Connections that wait to be accepted, and how many are accepted before the event loop serves others again.
BACKLOG = 1024
ACCEPTED_AT_ONCE = 64
# Bytes that the kernel takes of an answer before it has sent them; beyond that they count as not read by the client.
UNSENT_IN_KERNEL = 64 * 1024
# Seconds between two checks for connections whose deadline has passed.
DEADLINE_CHECK_SECONDS = 0.5
# Seconds for running requests to end when the server stops.
DRAIN_SECONDS = 10
# Seconds in which a process that listens at a Unix socket takes a connection.
_PROBE_SECONDS: Final = 1.0

# Options of [api] with the KiB that a body may have.
_BODY_LIMITS: Final = ("max_json_body_size", "max_json_body_size_provision", "max_json_body_size_inspection")


@dataclass(frozen=True)
class ServerSettings:
    """Where the server listens and how many threads serve what."""

    # The path of a Unix socket, or host and port.
    address: str | tuple[str, int]
    threads: int = THREADS_PER_WORKER
    tls: Tls | None = None
    socket_mode: int | None = None
    # Bytes of a request body at most; the application has lower limits per route, with errors of its own.
    body_limit: int = 1024 * 1024
    # Whether the event loop itself answers a GET that only computes: if the database is a file, so that a query does
    # not wait, and authentication needs no request to Keystone.
    computes_in_loop: bool = False
    # Threads for requests that may wait for long, and how many requests may wait for these threads.
    slow_threads: int = 8
    slow_waiting: int = 1000
    # Whether the address in a proxy's header is whose turn a request takes.
    trusts_proxy: bool = False
    # Client connections, and seconds for running requests when the server stops; None is that of the API.
    most_connections: int | None = None
    drain_seconds: float | None = None
    # The group of the options of the address, for messages.
    group: str = "api"

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "ServerSettings":
        """Read the options of [api]; raises ValueError for TLS without a certificate."""
        api = conf.api
        if api.enable_ssl_api and not (api.cert_file and api.key_file):
            raise ValueError("[api]enable_ssl_api needs [api]cert_file and [api]key_file")
        tls = Tls(api.cert_file, api.key_file, api.server_tls_minimum_version, api.server_tls_ciphers, "api")
        return cls(
            address=api.unix_socket or (api.host_ip, api.port),
            threads=threads_for_requests(conf),
            tls=tls if api.enable_ssl_api else None,
            socket_mode=api.unix_socket_mode,
            body_limit=largest_body(conf),
            computes_in_loop=conf.auth_strategy != "keystone"
            and make_url(conf.database.connection).get_backend_name() == "sqlite",
            slow_threads=api.inspection_report_threads,
            slow_waiting=api.inspection_reports_waiting,
            trusts_proxy=proxy_headers_count(conf),
        )

    @classmethod
    def for_inspector(cls, conf: cfg.ConfigOpts) -> "ServerSettings":
        """Read the options for the inspector's API: those of [api], with the address of [inspector_api]."""
        return replace(
            cls.from_conf(conf), address=(conf.inspector_api.host_ip, conf.inspector_api.port), group="inspector_api"
        )

    def bind(self) -> socket.socket:
        """Return a listening socket; raises OSError if the address can't be bound."""
        if isinstance(self.address, tuple):
            host, port = self.address
            if host == "::" and not socket.has_dualstack_ipv6():
                host = "0.0.0.0"
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
            # "::" alone means every address, of IPv4 as well.
            both = host == "::"
            try:
                listener = socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=both)
            except OSError as error:
                raise own_addresses.explained(error, host, port, self.group) from error
            # asyncio sets this only on sockets created with an explicit protocol number; accepted sockets inherit it.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if hasattr(socket, "TCP_NOTSENT_LOWAT"):
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_IN_KERNEL)
            return listener
        self._remove_left_socket(self.address)
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(self.address)
            # Before it listens, so that no client can connect with another mode.
            os.chmod(self.address, 0o777 if self.socket_mode is None else self.socket_mode)
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            reason = f"[{self.group}]unix_socket = {self.address} can't be made: {error.strerror or error}"
            raise OSError(error.errno or 0, reason) from error
        except BaseException:
            listener.close()
            raise
        return listener

    def forget(self) -> None:
        """Remove the Unix socket that was bound."""
        if isinstance(self.address, str):
            with contextlib.suppress(OSError):
                os.unlink(self.address)

    @staticmethod
    def _remove_left_socket(path: str) -> None:
        """Remove the socket of a process that has ended; raise OSError while one listens there."""
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
            if not stat.S_ISSOCK(os.lstat(path).st_mode):
                return
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(_PROBE_SECONDS)
                with contextlib.suppress(TimeoutError, BlockingIOError):
                    probe.connect(path)
            raise OSError(errno.EADDRINUSE, f"{path} is in use: another process listens there. Stop it first", path)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def largest_body(conf: cfg.ConfigOpts) -> int:
    """Return how many bytes the body of a request may have, whatever its route: twice the limit of the API."""
    largest: int = max(getattr(conf.api, name) for name in _BODY_LIMITS)
    return 2 * largest * 1024


def threads_for_requests(conf: cfg.ConfigOpts) -> int:
    """Return how many common threads answer requests."""
    workers: int = conf.api.api_workers or min(4, os.cpu_count() or 1)
    return workers * THREADS_PER_WORKER


class HttpServer:
    """Serve one ASGI application until stopped."""

    # What messages call the server.
    subject: ClassVar[str]
    connection: ClassVar[type[Connection]] = Connection

    def __init__(self, application: AsgiApplication, settings: ServerSettings) -> None:
        self._application, self._settings = application, settings
        self._most_connections = settings.most_connections or MOST_CONNECTIONS
        self._drain_seconds = settings.drain_seconds or DRAIN_SECONDS
        self._tls = ServerTls(settings.tls) if settings.tls else None
        self._state = ServerState()
        self._connections = cast("set[Connection]", self._state.connections)
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name=f"{self.subject.lower()}-connections", daemon=True
        )
        self._is_up, self._stopping = threading.Event(), asyncio.Event()
        self._listener: socket.socket | None = None

    def bind(self) -> None:
        """Listen; clients wait until `start`. Raises OSError if the address can't be bound."""
        self._listener = self._settings.bind()
        if self._tls:
            self._listener = TlsListener(self._listener)
        # The address for clients.
        self.url = f"unix:{self._settings.address}"
        if isinstance(self._settings.address, tuple):
            host, port = self._listener.getsockname()[:2]
            self.url = f"{'https' if self._tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"

    def start(self) -> None:
        """Serve, at the address that was bound or is bound now; raises OSError if it can't be bound."""
        if self._listener is None:
            self.bind()
        self._thread.start()
        self._is_up.wait()

    def renew_certificate(self) -> None:
        """Read the files of the certificate and the key again, if there are any."""
        if self._tls:
            self._tls.renew()

    def stop(self) -> None:
        """Accept no more connections, and return when the running requests have ended."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(self._drain_seconds + 1)
        elif self._listener and self._thread.ident is None:
            self._listener.close()
            self._settings.forget()
        self._listener = None

    # What follows runs in the thread of the event loop.

    async def _serve(self) -> None:
        listener = self._listener
        assert listener
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._log_fault)
        # uvicorn logs each bad request and each connection; Connection logs what matters.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        config = Config(
            self._application,
            interface="asgi3",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
        )
        most = min(self._most_connections, int(resource.getrlimit(resource.RLIMIT_NOFILE)[0] * DESCRIPTOR_SHARE))
        server = await self._loop.create_server(
            lambda: self.connection(
                config,
                self._state,
                body_limit=self._settings.body_limit,
                most_connections=most,
                listener=listener if isinstance(listener, TlsListener) else None,
            ),
            sock=listener,
            backlog=ACCEPTED_AT_ONCE,
            ssl=self._tls.context if self._tls else None,
            ssl_handshake_timeout=HEAD_SECONDS if self._tls else None,
            ssl_shutdown_timeout=LINGER_SECONDS if self._tls else None,
        )
        listener.listen(BACKLOG)
        self._is_up.set()
        after_crowds = AfterCrowds()
        while not self._stopping.is_set():
            self._end_expired()
            after_crowds.note(len(self._connections))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), DEADLINE_CHECK_SECONDS)
        server.close()
        self._settings.forget()
        await self._drain()
        self._close()

    def _end_expired(self) -> None:
        """End the connections whose deadline has passed; a fault with one of them must not end the server."""
        now = time.monotonic()
        for connection in [each for each in self._connections if each.deadline < now]:
            try:
                connection.expire()
            except Exception:
                LOG.exception("A connection to the %s server could not be ended and is cut off", self.subject)
                self._connections.discard(connection)
                connection.transport.abort()

    def _close(self) -> None:
        """Release what the application holds, when there are no connections any more."""

    async def _drain(self) -> None:
        """Wait for running requests, for a limited time, and close all connections."""
        until = time.monotonic() + self._drain_seconds
        while True:
            # In each round, as there may be new clients that were being accepted.
            for connection in list(self._connections):
                connection.shutdown()
            self._end_expired()
            await asyncio.sleep(0.02)
            if not self._connections or time.monotonic() > until:
                break
        if cut_off := sum(connection.unanswered > 0 for connection in self._connections):
            LOG.warning(
                "%d %s requests did not end within %s seconds and are cut off",
                cut_off,
                self.subject,
                self._drain_seconds,
            )
        for connection in list(self._connections):
            connection.transport.abort()
        await asyncio.sleep(0.02)

    def _log_fault(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        fault = context.get("exception")
        if isinstance(fault, OSError):
            LOG.warning(
                "A client can't be let in to the %s, or is lost: %s: %s", self.subject, context["message"], fault
            )
        else:
            LOG.error("The %s server reports: %s", self.subject, context["message"], exc_info=fault)


class ApiServer(HttpServer):
    """Serve the API, a WSGI application."""

    subject: ClassVar[str] = "API"

    def __init__(self, application: Application, settings: ServerSettings) -> None:
        self._bridge = WsgiBridge(
            application,
            threads=settings.threads,
            computes_in_loop=settings.computes_in_loop,
            slow_threads=settings.slow_threads,
            slow_waiting=settings.slow_waiting,
            trusts_proxy=settings.trusts_proxy,
        )
        super().__init__(self._bridge, settings)

    def replace(self, application: Application) -> None:
        """Use another application for the next requests."""
        self._bridge.application = application

    def _close(self) -> None:
        self._bridge.close()
