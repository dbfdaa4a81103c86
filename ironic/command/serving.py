"""The HTTP server in front of the API: cheroot, native threads, one process.

It binds in the caller's thread, so that a taken port or an unreadable certificate stops the start; it then serves in
threads of its own until it is stopped, finishing the requests it has. The application is a plain WSGI callable and
knows nothing of this server: big sites run the same callable elsewhere.
"""

import logging
import os
import ssl
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cheroot import wsgi
from cheroot.ssl.builtin import BuiltinSSLAdapter
from oslo_config import cfg

from ironic.command.exchange import Connection
from ironic.command.turns import Turns

LOG = logging.getLogger(__name__)

THREADS_PER_WORKER = 10
# Idle clients that may keep their connection; cheroot's own ten would make a busy Nova reconnect all the time.
KEPT_CONNECTIONS = 500
# Clients that may wait to be let in.
BACKLOG = 1024
HEADER_LIMIT = 65536
# How long running requests may take to end once the server is told to stop.
DRAIN_SECONDS = 10

# What a client leaves behind that hangs up, or is cut off: its own business, and no error of ours.
_CLIENT_IS_GONE = (ConnectionError, ssl.SSLError, TimeoutError)

# Options of [api] that say how many KiB a body may have.
_BODY_LIMITS = ("max_json_body_size", "max_json_body_size_provision", "max_json_body_size_inspection")

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


@dataclass(frozen=True)
class Tls:
    """What it takes to speak HTTPS."""

    certificate: str
    key: str
    minimum_version: str = "1.3"
    ciphers: str | None = None

    def adapter(self) -> BuiltinSSLAdapter:
        """Read the files and build what cheroot wants."""
        adapter = BuiltinSSLAdapter(self.certificate, self.key, ciphers=self.ciphers)
        versions = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
        adapter.context.minimum_version = versions[self.minimum_version]
        return adapter


@dataclass(frozen=True)
class Listening:
    """Where and how to listen."""

    address: str | tuple[str, int]
    threads: int = THREADS_PER_WORKER
    tls: Tls | None = None
    socket_mode: int | None = None
    # Bytes of a body, whatever it is sent for; the API refuses in its own words what is less, and has limits per route.
    body_limit: int = 0

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


def _tls(api: Any) -> Tls:
    if not (api.cert_file and api.key_file):
        raise ValueError("[api]enable_ssl_api needs [api]cert_file and [api]key_file")
    return Tls(api.cert_file, api.key_file, api.server_tls_minimum_version, api.server_tls_ciphers)


class _Server(wsgi.Server):
    """cheroot's server, complaining where somebody looks."""

    ConnectionClass = Connection

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        """Log; cheroot itself would write to stderr."""
        if isinstance(sys.exception(), _CLIENT_IS_GONE):
            LOG.info("A client has gone before it had its answer: %s", msg)
        else:
            LOG.log(level, "The API server reports: %s", msg, exc_info=traceback)

    @property
    def can_add_keepalive_connection(self) -> bool:
        """Tell whether a client may keep its connection for more requests."""
        return self.ready and self.requests.kept < self.keep_alive_conn_limit


class ApiServer:
    """Serves one application until stopped."""

    def __init__(self, application: Application, listening: Listening) -> None:
        self._listening = listening
        self._server = _Server(
            listening.address,
            application,
            request_queue_size=BACKLOG,
            shutdown_timeout=DRAIN_SECONDS,
        )
        self._server.requests = Turns(self._server, listening.threads)
        self._server.keep_alive_conn_limit = KEPT_CONNECTIONS
        self._server.max_request_header_size = HEADER_LIMIT
        self._server.max_request_body_size = listening.body_limit
        if listening.tls:
            self._server.ssl_adapter = listening.tls.adapter()

    @property
    def url(self) -> str:
        """Where clients find it; for a log line."""
        if isinstance(self._listening.address, str):
            return f"unix:{self._listening.address}"
        host, port = self._server.bind_addr[:2]
        return f"{'https' if self._listening.tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"

    def start(self) -> None:
        """Bind, or raise OSError, and serve."""
        self._server.prepare()
        if isinstance(self._listening.address, str) and self._listening.socket_mode is not None:
            os.chmod(self._listening.address, self._listening.socket_mode)

    def replace(self, application: Application) -> None:
        """Have another application answer from the next request on."""
        self._server.wsgi_app = application

    def stop(self) -> None:
        """Take no more connections, finish the requests that run, and return."""
        self._server.stop()
