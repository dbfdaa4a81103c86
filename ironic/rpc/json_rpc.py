"""RPC without a broker: each conductor has an HTTP server, and callers send JSON-RPC 2.0 to the host of its name.

A connection that is refused, or that can't be made in time, means that the call was not begun, so it goes to the next
conductor. One that breaks later leaves the outcome open: nothing is repeated, and the caller is informed. While it
works a conductor sends signs of life, and the caller stops to wait when they stop. A conductor of the same process is
called directly.

Import this module only if it is used: its HTTP client takes a tenth of a second.
"""

import logging
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple, Protocol

import httpx

from ironic.conf import CONF
from ironic.core.clock import CLOCK, Clock
from ironic.core.context import RequestContext
from ironic.core.errors.call_errors import (
    CallRefused,
    ConductorAbsent,
    ConductorOutOfReach,
    ConductorSilent,
    ConductorUnreachable,
    ConnectionBroken,
)
from ironic.core.secrets.masking import masked
from ironic.rpc import json_rpc_format
from ironic.rpc.conductor_address import address_of
from ironic.rpc.conversation import LIVENESS_SECONDS, Conversation, Outgoing
from ironic.rpc.dispatcher import Dispatcher
from ironic.rpc.in_process import InProcess
from ironic.rpc.rpc_api import Call, ConductorAPI

LOG = logging.getLogger(__name__)

# They log a line, or ten, for each call.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)

# Seconds for which a leaving conductor sends callers to others before it stops listening.
_LEAVE_SECONDS: Final = 0.5
# Seconds after which a connection without a call is not used again; a conductor closes it later.
_IDLE_SECONDS: Final = 20.0
_MOST_IDLE: Final = 200
# Readings of certificates whose connections are kept: an earlier one may wait for an answer.
_GENERATIONS: Final = 2
# Bytes of an answer.
_LARGEST_ANSWER: Final = 64 * 1024 * 1024

# Seconds for an answer where neither the call nor [json_rpc]timeout limits it.
_USUAL_LIMIT: Final = 120

# Answers to a call that was not even read; a malformed head is a 400 too, in plain text.
_REASONS: Final[Mapping[int, str]] = {
    400: "it asks for another kind of login",
    401: "it does not know the name or the password, or the token, of this service",
    403: "this service has none of the roles in allowed_roles, or something between the two sends like a browser",
    405: "something between the two changes the request",
    413: "the call is larger than what it takes",
    415: "something between the two changes the request",
    429: "there were too many wrong passwords from this host",
    503: "it can't check the login of this service now",
}
_UNREAD: Final = "it can't read the request, which was sent without TLS (does the conductor speak TLS?)"
_UNREAD_BY_TLS: Final = "something between the two changes the request"


class NoLogin(Exception):
    """This service can't show who it is; the text says why."""


class Login(Protocol):
    """How this service shows who it is."""

    def headers(self) -> Mapping[str, str]:
        """Return the headers that a request needs; raises NoLogin."""

    def renew(self) -> bool:
        """Drop what was refused; return whether there may be better headers now."""


class Listener(Protocol):
    """The HTTP server of a conductor."""

    def serve(self, dispatcher: Dispatcher) -> None:
        """Pass calls on from now."""

    def stop(self) -> None:
        """Close, once running calls are answered."""


class JsonRpcServer:
    """The RPC server of one conductor."""

    def __init__(self, listener: Listener, dispatcher: Dispatcher, close: Callable[[], None], clock: Clock) -> None:
        self._listener, self._dispatcher, self._close, self._clock = listener, dispatcher, close, clock

    def retire(self) -> None:
        """Begin no more calls; those under way continue."""
        self._dispatcher.retire()

    def stop(self) -> None:
        """Begin no more calls, answer those that were begun, and close."""
        self.retire()
        self._clock.delay(_LEAVE_SECONDS)
        self._dispatcher.await_quiet()
        self._listener.stop()
        self._close()


class _Clients(NamedTuple):
    """The HTTP clients of one reading of the certificates."""

    by_tcp: httpx.Client
    by_socket: httpx.Client | None


class JsonRpc:
    """The transport to conductors of any process."""

    def __init__(
        self,
        login: Login,
        tls: Callable[[], ssl.SSLContext] | None,
        listener: Listener | None = None,
        *,
        liveness_seconds: float = LIVENESS_SECONDS,
        clock: Clock = CLOCK,
    ) -> None:
        """Take the login, what makes the context of TLS (None: plain HTTP), and the HTTP server of a conductor."""
        self._login, self._tls, self._listener = login, tls, listener
        self._liveness_seconds, self._clock = liveness_seconds, clock
        self._conversation = Conversation(self._carry, liveness_seconds, clock)
        self._own = InProcess(clock)
        # The newest are the last ones; those before may still wait for answers.
        self._clients = [self._new_clients()]

    def serve(self, host: str, endpoint: ConductorAPI) -> JsonRpcServer:
        """Make the calls for a conductor until the returned server is stopped."""
        assert self._listener
        dispatcher = self._own.register(host, endpoint)
        self._listener.serve(dispatcher)
        return JsonRpcServer(self._listener, dispatcher, lambda: self._own.unregister(host), self._clock)

    def send(self, host: str, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call and return its result; without ``call.wait`` it has none."""
        if self._own.has(host):
            return self._own.send(host, context, call, arguments)
        return self._conversation.send(host, context, call, arguments)

    def renew(self) -> None:
        """Read the files of certificates again, for connections from now on."""
        self._clients.append(self._new_clients())
        if len(self._clients) > _GENERATIONS:
            self._close(self._clients.pop(0))

    def close(self) -> None:
        """Close the connections."""
        for clients in self._clients:
            self._close(clients)

    @staticmethod
    def _close(clients: "_Clients") -> None:
        clients.by_tcp.close()
        if clients.by_socket:
            clients.by_socket.close()

    def _new_clients(self) -> "_Clients":
        path = CONF.json_rpc.unix_socket
        return _Clients(self._client_at(None), self._client_at(path) if path else None)

    def _client_at(self, unix_socket: str | None) -> httpx.Client:
        """Return a client that repeats nothing and asks no proxy."""
        most = httpx.Limits(max_connections=None, max_keepalive_connections=_MOST_IDLE, keepalive_expiry=_IDLE_SECONDS)
        verify = self._tls() if self._tls and not unix_socket else False
        transport = httpx.HTTPTransport(verify=verify, limits=most, retries=0, uds=unix_socket, trust_env=False)
        return httpx.Client(transport=transport, trust_env=False)

    def _carry(self, outgoing: Outgoing) -> object:
        """Send one call and return its result; raises errors of `ironic.core.errors.call_errors`."""
        host, call = outgoing.host, outgoing.call.name
        message, context = outgoing.message(), outgoing.context.to_dict()
        if not CONF.json_rpc.debug_log_request_id_only:
            LOG.debug("%s of conductor %s gets %s", call, host, masked(message["arguments"]))
        body = json_rpc_format.request(context, message, outgoing.context.request_id)
        status, answer = self._post(outgoing, body)
        if status == httpx.codes.UNAUTHORIZED and self._login.renew():
            status, answer = self._post(outgoing, body)
        if status in _REASONS and json_rpc_format.is_refusal(answer, status):
            reason = _REASONS[status]
            if status == httpx.codes.BAD_REQUEST and not answer.startswith(b"{"):
                reason = _UNREAD_BY_TLS if self._tls else _UNREAD
            LOG.error("Conductor %s refused %s with status %d: %s", host, call, status, reason)
            raise CallRefused(host=host, call=call, reason=reason)
        if status != httpx.codes.OK:
            LOG.error("At the address of conductor %s, %s was answered with status %d", host, call, status)
            reason = f"what stands at its address answered with status {status}, as no conductor does"
            raise ConnectionBroken(host=host, call=call, reason=reason)
        try:
            received = json_rpc_format.read_answer(answer)
        except ValueError as error:
            reason = f"its answer can't be read ({error})"
            raise ConnectionBroken(host=host, call=call, reason=reason) from error
        result = outgoing.result(received)
        return result if outgoing.call.wait else None

    def _post(self, outgoing: Outgoing, body: bytes) -> tuple[int, bytes]:
        """Return status and body of the answer of a conductor."""
        host, call, began = outgoing.host, outgoing.call, self._clock.monotonic()
        limit = call.timeout or CONF.json_rpc.timeout or _USUAL_LIMIT
        wait = min(self._liveness_seconds, limit)
        client, url = self._place_of(host, call.name)
        try:
            headers = {"Content-Type": json_rpc_format.JSON, **self._login.headers()}
        except NoLogin as fault:
            LOG.error("There is no login for %s of conductor %s: %s", call.name, host, fault)
            reason = "this service has no login for it now, for a reason that its log has"
            raise CallRefused(host=host, call=call.name, reason=reason) from None

        def seconds() -> float:
            return self._clock.monotonic() - began

        with self._faults(host, call.name, limit, seconds):
            timeout = httpx.Timeout(wait, connect=self._liveness_seconds)
            with client.stream("POST", url, content=body, headers=headers, timeout=timeout) as answer:
                pieces, size = [], 0
                for piece in answer.iter_raw():
                    size += len(piece)
                    if size > _LARGEST_ANSWER:
                        reason = f"its answer is larger than {_LARGEST_ANSWER} bytes"
                        raise ConnectionBroken(host=host, call=call.name, reason=reason)
                    if seconds() > limit:
                        raise ConductorUnreachable(host=host, call=call.name, seconds=round(seconds(), 1))
                    pieces.append(piece)
                return answer.status_code, b"".join(pieces)

    @contextmanager
    def _faults(self, host: str, call: str, limit: float, seconds: Callable[[], float]) -> Iterator[None]:
        """Turn errors of the HTTP client into those of this service, by whether the call may have been begun."""
        try:
            yield
        except (httpx.ConnectTimeout, httpx.PoolTimeout, httpx.WriteTimeout):
            # A call is begun once all of it has arrived.
            reason = "its host does not respond"
            raise ConductorOutOfReach(host=host, call=call, reason=reason) from None
        except httpx.ConnectError as error:
            if fault := _tls_fault(error):
                LOG.error("Conductor %s can't be called by TLS: %s", host, fault)
                raise CallRefused(host=host, call=call, reason="TLS fails, for a reason that the log has") from None
            LOG.info("Conductor %s can't be connected to: %s", host, error)
            raise ConductorAbsent(host=host, call=call, reason="it does not listen at its address") from None
        except httpx.ReadTimeout:
            waited = round(seconds(), 1)
            kind = ConductorSilent if waited < limit else ConductorUnreachable
            raise kind(host=host, call=call, seconds=waited) from None
        except httpx.TransportError as error:
            LOG.warning("The connection to conductor %s broke during %s: %s", host, call, error)
            raise ConnectionBroken(host=host, call=call, reason=f"no answer came in {seconds():.1f} seconds") from None

    def _place_of(self, host: str, call: str) -> tuple[httpx.Client, httpx.URL]:
        """Return the client and the URL for a conductor; raises ConductorAbsent for a name that is no address."""
        scheme, clients = "https" if self._tls else "http", self._clients[-1]
        if clients.by_socket and host == CONF.host:
            return clients.by_socket, httpx.URL(scheme="http", host="localhost", path="/")
        if (address := address_of(host)) is None:
            reason = "its name is neither the name of a host nor an address"
            raise ConductorAbsent(host=host, call=call, reason=reason)
        name, port = address
        return clients.by_tcp, httpx.URL(scheme=scheme, host=name, port=port, path="/")


def _tls_fault(error: BaseException) -> ssl.SSLError | None:
    """Return the fault of TLS that an error of the HTTP client comes from; a connection that just ended is none."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError) and not isinstance(seen, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None
