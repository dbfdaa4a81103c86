"""The HTTP server of a conductor for calls by JSON-RPC: who may call, and which call a request is.

Nothing of a request is read before its login is accepted. While a call runs the server sends signs of life, so that a
caller can distinguish a long call from a dead conductor. A call that no thread has begun sends none, and is dropped
when its caller has gone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Executor
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from oslo_config import cfg

from ironic.api import error_responses, origins
from ironic.api.error_responses import Refused
from ironic.api.rate_limit import Guesses
from ironic.command.http_server import HttpServer, ServerSettings, largest_body
from ironic.command.http_turns import Turns
from ironic.command.lifecycle import Component
from ironic.command.server_tls import Tls
from ironic.command.wsgi_call import Headers, Scope, environ_of
from ironic.conf import CONF
from ironic.core.clock import CLOCK, Clock
from ironic.core.context import RequestContext
from ironic.core.errors import IronicError
from ironic.core.errors.call_errors import ConductorAbsent
from ironic.core.threads import THREADS, Threads
from ironic.rpc import json_rpc_format, message_format, rpc_versions
from ironic.rpc.conductor_address import address_of
from ironic.rpc.conversation import LIVENESS_SECONDS
from ironic.rpc.dispatcher import Dispatcher
from ironic.rpc.json_rpc_format import SIGN_OF_LIFE, BadRequest
from ironic.rpc.rpc_api import CALLS

if TYPE_CHECKING:
    from ironic.rpc.json_rpc import JsonRpc

LOG = logging.getLogger(__name__)

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

# Calls that run at the same time, as over a message bus, and those that do beside them if they come from machines: they
# are short, and lost ones let waiting nodes time out. Logins that are checked at the same time, and those of one
# address: wrong ones take long, and must not hold up those of others.
_CALLS: Final = 64
_IN_RESERVE: Final = 8
_LOGINS: Final = 4
_LOGINS_OF_ONE: Final = 2
# Connections at most; each caller keeps some.
_MOST_CONNECTIONS: Final = 2000
_METHOD: Final = "POST"
# What only browsers send.
_OF_BROWSERS: Final = frozenset((b"origin", b"sec-fetch-site"))
_ACCEPTED: Final = "ironic.login_is_accepted"
_NO_HEADERS: Final[Headers] = []
_JSON_HEADERS: Final[Headers] = [("Content-Type", json_rpc_format.JSON)]


class Refusal(NamedTuple):
    """The answer to a request that is not even read."""

    status: int
    headers: Headers
    body: bytes

    @classmethod
    def of(cls, status: int, reason: str, headers: Headers = _NO_HEADERS) -> "Refusal":
        """Return a refusal in the shape of one of the API for its login."""
        return cls(status, [*_JSON_HEADERS, *headers], error_responses.unread(status, reason))


class JsonRpcApplication:
    """The ASGI application that makes the calls of one conductor."""

    def __init__(
        self,
        identity: Callable[[WSGIApplication], WSGIApplication] | None,
        *,
        liveness_seconds: float = LIVENESS_SECONDS,
        clock: Clock = CLOCK,
        threads: Threads = THREADS,
    ) -> None:
        """Take the middleware that checks logins (None: there is none)."""
        self._login = identity(_accept) if identity else None
        self._sign_seconds, self._clock = liveness_seconds / 2, clock
        self._calls: Executor = threads.pool(_CALLS, "json-rpc")
        self._reserve: Executor = threads.pool(_IN_RESERVE, "json-rpc-reserve")
        self._under_way = 0
        self._logins: Executor = threads.pool(_LOGINS, "json-rpc-login")
        self._turns = Turns(_LOGINS, _LOGINS_OF_ONE)
        # None as long as the conductor is not ready.
        self.dispatcher: Dispatcher | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        refusal = await self._refusal(scope)
        if refusal:
            await _send_whole(send, *refusal)
            return
        pieces, is_whole = [], False
        while not is_whole:
            event = await receive()
            if event["type"] != "http.request":
                return  # the caller has gone, or was refused for the size of its body
            pieces.append(event["body"])
            is_whole = not event["more_body"]
        try:
            request = json_rpc_format.read_request(b"".join(pieces))
        except BadRequest as bad:
            await _send_whole(send, HTTPStatus.OK, _JSON_HEADERS, json_rpc_format.refusal(bad))
            return
        del pieces
        await self._make(request, scope, send)

    def close(self) -> None:
        """End the threads without work."""
        self._calls.shutdown(wait=False)
        self._reserve.shutdown(wait=False)
        self._logins.shutdown(wait=False)

    async def _refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request is not read, None for one that may make calls."""
        if self._login:
            address = scope["state"]["connection"].address
            await self._turns.take(address)
            try:
                loop = asyncio.get_running_loop()
                refusal = await loop.run_in_executor(self._logins, self._refused_login, scope)
            finally:
                self._turns.give_back(address)
            if refusal:
                return refusal
        if scope["method"] != _METHOD:
            return Refusal.of(HTTPStatus.METHOD_NOT_ALLOWED, "Calls are sent by POST.", [("Allow", _METHOD)])
        headers = dict(scope["headers"])
        if _OF_BROWSERS & headers.keys():
            # A page that a person on this host has open could call a conductor that asks for no login.
            return Refusal.of(HTTPStatus.FORBIDDEN, "Calls are not taken from web pages.")
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != json_rpc_format.JSON.encode():
            return Refusal.of(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Calls are sent as {json_rpc_format.JSON}.")
        return None

    def _refused_login(self, scope: Scope) -> Refusal | None:
        assert self._login
        environ = environ_of(scope, b"")
        environ["ironic.context"] = RequestContext()
        started: list[tuple[str, Headers]] = []

        def start(status: str, headers: Headers, _fault: object = None) -> Callable[[bytes], object]:
            started.append((status, headers))
            return lambda _piece: None

        try:
            body = b"".join(self._login(environ, start))
        except Refused as refused:
            return Refusal.of(refused.status, str(refused), refused.headers)
        if environ.get(_ACCEPTED):
            return None
        status, headers = started[0]
        return Refusal(int(status.split()[0]), headers, body)

    def _threads_for(self, name: str) -> Executor:
        """Return the threads for a call; machines wait for each other there, never for calls that may take long."""
        is_reserve_meant = name in CALLS and CALLS[name].background
        return self._reserve if is_reserve_meant and self._under_way >= _CALLS else self._calls

    def _count_end(self, _ending: object) -> None:
        self._under_way -= 1

    async def _make(self, request: json_rpc_format.Request, scope: Scope, send: Send) -> None:
        """Make a call and send its answer; signs of life while it runs."""
        dispatcher, begun = self.dispatcher, []

        def run() -> bytes:
            begun.append(True)
            if dispatcher is None:
                starting = ConductorAbsent(host=CONF.host, call=request.name, reason="it is starting")
                message = message_format.error_message(starting)
            else:
                message = dispatcher.answer(request.context, request.name, request.arguments, request.envelope)
            try:
                return json_rpc_format.answer(message, request.id, self._clock.epoch())
            except TypeError:
                # What it holds is nested deeper than the encoder goes.
                LOG.exception("The result of %s (request %s) can't be sent", request.name, request.id)
                failed = message_format.error_message(IronicError(request_id=request.id))
                return json_rpc_format.answer(failed, request.id, self._clock.epoch())

        threads = self._threads_for(request.name)
        call = threads.submit(run)
        ending, is_started = asyncio.wrap_future(call), False
        if threads is self._calls:
            self._under_way += 1
            ending.add_done_callback(self._count_end)
        cycle = scope["state"]["cycle"]
        while not (await asyncio.wait((ending,), timeout=self._sign_seconds))[0]:
            if cycle.disconnected and (call.cancel() or begun):
                return
            if begun:
                if not is_started:
                    await send(_head(HTTPStatus.OK, _JSON_HEADERS))
                    is_started = True
                await send({"type": "http.response.body", "body": SIGN_OF_LIFE, "more_body": True})
        body = ending.result()
        if is_started:
            await send({"type": "http.response.body", "body": body, "more_body": False})
        else:
            await _send_whole(send, HTTPStatus.OK, _JSON_HEADERS, body)


def _accept(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Note that the login is accepted: the request is answered elsewhere."""
    environ[_ACCEPTED] = True
    start_response("200 OK", [])
    return []


def _head(status: int, headers: Headers) -> dict[str, object]:
    encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return {"type": "http.response.start", "status": int(status), "headers": encoded}


async def _send_whole(send: Send, status: int, headers: Headers, body: bytes) -> None:
    kept = [(name, value) for name, value in headers if name.lower() != "content-length"]
    await send(_head(status, [*kept, ("Content-Length", str(len(body)))]))
    await send({"type": "http.response.body", "body": body, "more_body": False})


class _Server(HttpServer):
    subject: ClassVar[str] = "JSON-RPC"


class JsonRpcListener(Component):
    """The address of a conductor, which is taken before the conductor takes its name."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        """Read the options; raises ValueError for those that are unusable."""
        options = conf.json_rpc
        if options.use_ssl and not (options.cert_file and options.key_file):
            raise ValueError("[json_rpc]use_ssl needs [json_rpc]cert_file and [json_rpc]key_file")
        if not options.unix_socket and address_of(conf.host) is None:
            raise ValueError(
                f"conductor {conf.host} can't be called by JSON-RPC: its name has to be that of a host, or an address. "
                "Set [DEFAULT]host to one, without a port"
            )
        tls = Tls(
            options.cert_file,
            options.key_file,
            options.server_tls_minimum_version,
            options.server_tls_ciphers,
            "json_rpc",
        )
        settings = ServerSettings(
            address=options.unix_socket or (options.host_ip, options.port),
            # A socket of the file system stays on this host.
            tls=tls if options.use_ssl and not options.unix_socket else None,
            socket_mode=options.unix_socket_mode,
            body_limit=largest_body(conf),
            most_connections=_MOST_CONNECTIONS,
            group="json_rpc",
        )
        self._application = JsonRpcApplication(identity_of(conf))
        self._server = _Server(self._application, settings)
        is_near = options.unix_socket or origins.is_loopback(options.host_ip)
        if strategy_of(conf) != "noauth" and not (is_near or options.use_ssl):
            LOG.warning(
                "Callers send their login to the conductor on %s in clear text. Set [json_rpc]use_ssl, or have what "
                "stands in front of it do TLS and set [json_rpc]host_ip to 127.0.0.1.",
                options.host_ip,
            )
        if strategy_of(conf) == "noauth" and not is_near:
            LOG.warning(
                "The conductor listens for calls on %s without authentication: every client that reaches it may do "
                "with every machine what an administrator may. Set [json_rpc]auth_strategy to http_basic or keystone, "
                "or [json_rpc]host_ip to an address that only services reach.",
                options.host_ip,
            )

    @property
    def url(self) -> str:
        """Return where it listens."""
        return self._server.url

    def serve(self, dispatcher: Dispatcher) -> None:
        """Pass calls on from now."""
        self._application.dispatcher = dispatcher

    def stop(self) -> None:
        """Close, once running calls are answered; safe for what has stopped."""
        self._server.stop()
        self._application.close()

    def start(self) -> None:
        """Take the address, before the conductor takes its name; until it is ready callers get ConductorAbsent."""
        self._server.start()

    def reload(self) -> None:
        """Use the certificate as it is now."""
        self._server.renew_certificate()


def caller_of(conf: cfg.ConfigOpts, listener: JsonRpcListener | None = None) -> "JsonRpc":
    """Return the transport to conductors; raises ValueError for a login or certificates that can't be used."""
    # Its HTTP client takes a tenth of a second to import.
    from ironic.integrations.http_client import CallFailed
    from ironic.integrations.keystone_login import KeystoneLogin
    from ironic.rpc.json_rpc import JsonRpc, NoLogin

    class Login(KeystoneLogin):
        """A login whose faults are those of calls."""

        def headers(self) -> dict[str, str]:
            try:
                return super().headers()
            except CallFailed as error:
                raise NoLogin(str(error)) from error

    rpc_versions.log_pin(conf.pin_release_version)
    options, strategy = conf.json_rpc, strategy_of(conf)
    if strategy == "keystone" and options.auth_type is None:
        raise ValueError("[json_rpc]auth_type is not set: with auth_strategy keystone, calls need a login there")
    try:
        login = Login("json_rpc", "http_basic" if strategy == "http_basic" else None)
        if strategy == "http_basic" and not login.headers():
            raise ValueError("[json_rpc] needs username and password for calls with auth_strategy http_basic")
        is_https = options.use_ssl or options.client_use_ssl
        return JsonRpc(login, login.tls_context if is_https else None, listener, clock=CLOCK)
    except CallFailed as error:
        raise ValueError(f"[json_rpc] can't be used for calls: {error}") from error


def strategy_of(conf: cfg.ConfigOpts) -> str:
    """Return how conductors know who calls."""
    strategy: str = conf.json_rpc.auth_strategy or conf.auth_strategy
    return strategy


def identity_of(conf: cfg.ConfigOpts) -> Callable[[WSGIApplication], WSGIApplication] | None:
    """Return the middleware that checks the logins of callers; raises ValueError for options that none can pass."""
    strategy = strategy_of(conf)
    if strategy == "noauth":
        return None
    if strategy == "keystone":
        from ironic.api import token_check

        roles = frozenset(role.lower() for role in conf.json_rpc.allowed_roles)

        def with_role(app: WSGIApplication) -> WSGIApplication:
            def checked(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
                given = {role.strip().lower() for role in environ.get("HTTP_X_ROLES", "").split(",")}
                if not roles & given:
                    raise Refused(HTTPStatus.FORBIDDEN, f"One of the roles {', '.join(sorted(roles))} is needed.")
                return app(environ, start_response)

            return token_check.wrap(checked, conf)

        return with_role
    from ironic.api.authentication import BasicIdentity, Users
    from ironic.api.routes import Routes

    users = Users(Path(conf.json_rpc.http_basic_auth_user_file))
    guesses = Guesses(most) if (most := conf.api.wrong_passwords_per_minute) else None
    return lambda app: BasicIdentity(app, users, Routes([]), guesses=guesses)
