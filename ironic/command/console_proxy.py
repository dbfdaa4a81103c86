"""The proxy of graphical consoles: serves the pages of noVNC, and connects browsers with the VNC servers of nodes.

A session needs the right token, a page of the proxy's own origin or of one in [cors]allowed_origin, and RFB 3.8. It
ends when the token expires. Everything a client may use is limited: connections (`console_clients`), the time until a
session has begun, the size of messages. The token is in no line of the log.
"""

import asyncio
import contextlib
import functools
import http
import logging
import socket
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from oslo_config import cfg
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from ironic.command import rfb_handshake
from ironic.command.console_clients import MOST_VIEWERS, Client, Clients, Grant
from ironic.command.console_pages import ConsolePages
from ironic.command.console_recording import Recording
from ironic.command.http_server import ServerSettings
from ironic.command.lifecycle import Component
from ironic.command.rfb_handshake import RfbError, ViewerBytes
from ironic.command.server_tls import ServerTls, Tls
from ironic.command.tls_listener import TlsListener
from ironic.core.errors import NodeNotFound
from ironic.core.memory.console_tokens import ConsoleAccess
from ironic.core.texts.syntax import is_stored_uuid
from ironic.db import Store

LOG = logging.getLogger(__name__)

SESSIONS: Final = "/websockify"
# Seconds: for a request, for the VNC server and the viewer to agree, and for sessions to end with the process.
_REQUEST_SECONDS: Final = 10
_BEGIN_SECONDS: Final = 15
_STOP_SECONDS: Final = 5
_LARGEST_MESSAGE: Final = 1024 * 1024
_CHUNK: Final = 64 * 1024
_PROTOCOL: Final = Subprotocol("binary")

# The library logs requests with their tokens when it may log them.
_LIBRARY_LOG: Final = logging.getLogger(f"{__name__}.websockets")
_LIBRARY_LOG.setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """The options of the proxy, read at the start."""

    address: tuple[str, int]
    tls: Tls | None
    pages: ConsolePages
    origins: frozenset[str]
    schemes: tuple[str, ...]
    token_seconds: int
    record: str | None

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "ProxySettings":
        """Read the options; raise ValueError for what can't work."""
        vnc = conf.vnc
        if vnc.enable_ssl and not (vnc.cert_file and vnc.key_file):
            raise ValueError("[vnc]enable_ssl needs [vnc]cert_file and [vnc]key_file")
        files = vnc.cert_file, vnc.key_file
        tls = Tls(*files, vnc.tls_minimum_version, vnc.tls_ciphers, "vnc") if vnc.enable_ssl else None
        allowed = conf.cors.allowed_origin if "cors" in conf else None
        return cls(
            address=(vnc.host_ip, vnc.port),
            tls=tls,
            pages=ConsolePages(vnc.novnc_web),
            origins=frozenset(origin.rstrip("/") for origin in allowed or ()),
            schemes=tuple(vnc.novnc_auth_schemes),
            token_seconds=vnc.token_timeout,
            record=vnc.novnc_record,
        )


class ConsoleProxy(Component):
    """Serves until it is stopped, in an event loop of its own thread."""

    def __init__(self, store: Store, conf: cfg.ConfigOpts) -> None:
        self._store, self._conf = store, conf
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None

    def bind(self) -> None:
        """Listen; viewers wait until `start`. Raise ValueError or OSError for options that can't work."""
        self._settings = ProxySettings.from_conf(self._conf)
        self._tls = ServerTls(self._settings.tls) if self._settings.tls else None
        listener = ServerSettings(self._settings.address, group="vnc").bind()
        tls_listener = TlsListener(listener) if self._tls else None
        self._clients = Clients(tls_listener)
        self._listener = listener = tls_listener or listener
        self.port: int = listener.getsockname()[1]

    def start(self) -> None:
        """Serve, at the address that was bound or is bound now; raises as `bind` does."""
        if self._listener is None:
            self.bind()
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(self._serve(self._listener))
        self._thread = threading.Thread(target=self._run, name="console-proxy", daemon=True)
        self._thread.start()
        LOG.info("Graphical consoles are shown on port %s of %s", self.port, self._settings.address[0])

    def reload(self) -> None:
        """Show later viewers the certificate as it is now."""
        if self._tls:
            self._tls.renew()

    def stop(self) -> None:
        """End all sessions."""
        thread, listener = self._thread, self._listener
        self._thread = self._listener = None
        if thread is None:
            if listener:
                listener.close()
            return
        self._loop.call_soon_threadsafe(self._server.close)
        closed = asyncio.run_coroutine_threadsafe(self._server.wait_closed(), self._loop)
        with contextlib.suppress(TimeoutError):
            closed.result(_STOP_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    async def _serve(self, listener: Any) -> Server:
        return await serve(
            self._session,
            sock=listener,
            ssl=self._tls.context if self._tls else None,
            ssl_handshake_timeout=_REQUEST_SECONDS if self._tls else None,
            process_request=self._answer,
            select_subprotocol=lambda _connection, offered: _PROTOCOL if _PROTOCOL in offered else None,
            create_connection=functools.partial(Client, self._clients),  # type: ignore[arg-type]  # it is only called
            compression=None,
            server_header=None,
            open_timeout=_REQUEST_SECONDS,
            max_size=_LARGEST_MESSAGE,
            max_queue=4,
            logger=_LIBRARY_LOG,
        )

    # Requests

    async def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return a page or a refusal; None lets a session begin."""
        assert isinstance(connection, Client)
        path, _, query = request.path.partition("?")
        if path != SESSIONS:
            self._clients.begin_page(connection)
            return await asyncio.to_thread(self._page, connection, path)
        if not self._is_own_page(request.headers):
            self._clients.warn(
                "A page of another origin asks for a console from %s and is refused; see [cors]allowed_origin",
                connection.address,
            )
            return _refusal(http.HTTPStatus.FORBIDDEN, "This page may not open a console.")
        try:
            given = parse_qs(query, max_num_fields=8)
            (uuid,), (token,) = given.get("node", []), given.get("token", [])
        except ValueError:
            return _refusal(http.HTTPStatus.BAD_REQUEST, "A console needs a node and its token.")
        grant = await asyncio.to_thread(self._granted, uuid, token)
        if grant is None:
            self._clients.warn("A console is refused to %s: its token is wrong or has expired", connection.address)
            return _refusal(http.HTTPStatus.FORBIDDEN, "The token is wrong or has expired. Ask for the console again.")
        if not self._clients.has_room_at(uuid):
            self._clients.warn("Node %s: its console has %d viewers and takes no more", uuid, MOST_VIEWERS)
            return _refusal(http.HTTPStatus.SERVICE_UNAVAILABLE, "The console has too many viewers.")
        connection.grant = grant
        return None

    def _page(self, client: Client, path: str) -> Response:
        """Return a page, unless the client was disconnected meanwhile."""
        if client.is_disconnected:
            return _refusal(http.HTTPStatus.SERVICE_UNAVAILABLE, "Too many pages are sent.")
        return self._settings.pages.response(path)

    def _is_own_page(self, headers: Headers) -> bool:
        """Return whether the page that asks is of this proxy or an allowed one; programs name no page."""
        origins = headers.get_all("Origin")
        if not origins:
            return True
        usual = "https" if self._settings.tls else "http"
        try:
            scheme = headers.get("X-Forwarded-Proto", usual).partition(",")[0].strip()
            asked, own = _origin(origins[0]), _origin(f"{scheme}://{headers['Host']}")
        except (LookupError, ValueError):
            return False
        return len(origins) == 1 and (asked == own or origins[0] in self._settings.origins)

    def _granted(self, uuid: str, token: str) -> Grant | None:
        """Return what a token opens; runs in a thread, as it reads the database."""
        if not is_stored_uuid(uuid):
            return None
        try:
            node = self._store.nodes.get(uuid)
        except NodeNotFound:
            return None
        access, now = ConsoleAccess.of(node.driver_internal_info), self._store.clock.now()
        if not node.console_enabled or access is None or not access.admits(token, now, self._settings.token_seconds):
            return None
        return Grant(uuid, access, self._settings.token_seconds - (now - access.created).total_seconds())

    # Sessions

    async def _session(self, connection: ServerConnection) -> None:
        assert isinstance(connection, Client)
        grant = connection.grant
        if grant is None:
            return
        LOG.info("Node %s: a viewer at %s has connected to its console", grant.uuid, connection.address)
        try:
            async with asyncio.timeout(grant.seconds):
                await self._show(connection, grant)
        except TimeoutError:
            LOG.info("Node %s: a viewer is disconnected, because the token has expired", grant.uuid)
        except (RfbError, OSError, EOFError) as error:
            LOG.warning("Node %s: its console can't be shown: %s", grant.uuid, error or type(error).__name__)
        except ConnectionClosed:
            pass
        LOG.info("Node %s: a viewer has disconnected from its console", grant.uuid)

    async def _show(self, connection: ServerConnection, grant: Grant) -> None:
        received = ViewerBytes(connection)
        async with contextlib.AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(_BEGIN_SECONDS):
                    reader, writer = await asyncio.open_connection(grant.access.host, grant.access.port)
                    stack.callback(writer.close)
                    await rfb_handshake.with_server(reader, writer, self._settings.schemes)
                    await rfb_handshake.with_viewer(connection, received)
            except TimeoutError:
                raise RfbError(f"server and viewer did not agree within {_BEGIN_SECONDS} seconds") from None
            recording = stack.enter_context(Recording.of(self._settings.record, grant.uuid))

            async def typed() -> None:
                async for message in received:
                    writer.write(message)
                    await writer.drain()

            async def shown() -> None:
                while chunk := await reader.read(_CHUNK):
                    recording.add(chunk)
                    await connection.send(chunk)

            await _first_of(typed, shown)


async def _first_of(*directions: Callable[[], Awaitable[None]]) -> None:
    """Run both directions until one ends, and raise its error."""

    async def run(direction: Callable[[], Awaitable[None]]) -> None:
        await direction()

    tasks = [asyncio.create_task(run(direction)) for direction in directions]
    try:
        done, _left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or usual


def _refusal(status: http.HTTPStatus, text: str) -> Response:
    body = f"{text}\n".encode()
    headers = Headers({"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))})
    return Response(status.value, status.phrase, headers, body)
