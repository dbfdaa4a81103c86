"""RPC without a broker: each conductor has an HTTP server, and callers send JSON-RPC 2.0 to the host of its name.

A connection that is refused, or that can't be made in time, means that the call was not begun, so it goes to the next
conductor. One that breaks later leaves the outcome open: nothing is repeated, and the caller is informed. While it
works a conductor sends signs of life, and the caller stops to wait when they stop. A conductor of the same process is
called directly.

Import this module only if it is used: its HTTP client takes a tenth of a second.
"""

import ipaddress
import logging
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Protocol

import httpx

from ironic.conf import CONF
from ironic.core.call_errors import (
    CallRefused,
    ConductorAbsent,
    ConductorOutOfReach,
    ConductorSilent,
    ConductorUnreachable,
    ConnectionBroken,
)
from ironic.core.clock import CLOCK, Clock
from ironic.core.context import RequestContext
from ironic.core.secrets import masked
from ironic.core.syntax import LOGICAL_NAME
from ironic.rpc import json_rpc_format
from ironic.rpc.conversation import LIVENESS_SECONDS, Conversation, Outgoing
from ironic.rpc.dispatcher import Dispatcher
from ironic.rpc.in_process import InProcess
from ironic.rpc.rpc_api import Call, ConductorAPI

LOG = logging.getLogger(__name__)

# Seconds for which a leaving conductor sends callers to others before it stops listening.
_LEAVE_SECONDS: Final = 0.5
# Seconds after which a connection without a call is not used again; a conductor closes it later.
_IDLE_SECONDS: Final = 20.0
_MOST_IDLE: Final = 200
# Bytes of an answer.
_LARGEST_ANSWER: Final = 64 * 1024 * 1024

_REASONS: Final[Mapping[int, str]] = {
    400: "it asks for another kind of login",
    401: "it does not know the name or the password, or the token, of this service",
    403: "this service has none of the roles in allowed_roles",
    413: "the call is larger than what it takes",
    429: "there were too many wrong passwords from this host",
    503: "it can't check the login of this service now",
}


class Login(Protocol):
    """How this service shows who it is."""

    def headers(self) -> Mapping[str, str]:
        """Return the headers that a request needs."""

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
        self._client = self._client_at(None)
        self._socket_client = self._client_at(CONF.json_rpc.unix_socket) if CONF.json_rpc.unix_socket else None

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

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        if self._socket_client:
            self._socket_client.close()

    def _client_at(self, unix_socket: str | None) -> httpx.Client:
        """Return a client that repeats nothing and asks no proxy."""
        most = httpx.Limits(max_connections=None, max_keepalive_connections=_MOST_IDLE, keepalive_expiry=_IDLE_SECONDS)
        verify = self._tls() if self._tls else False
        transport = httpx.HTTPTransport(verify=verify, limits=most, retries=0, uds=unix_socket, trust_env=False)
        return httpx.Client(transport=transport, trust_env=False)

    def _carry(self, outgoing: Outgoing) -> object:
        """Send one call and return its result; raises errors of `ironic.core.call_errors`."""
        host, call = outgoing.host, outgoing.call.name
        message, context = outgoing.message(), outgoing.context.to_dict()
        if not CONF.json_rpc.debug_log_request_id_only:
            LOG.debug("%s of conductor %s gets %s", call, host, masked(message["arguments"]))
        body = json_rpc_format.request(context, message, outgoing.context.request_id)
        status, answer = self._post(outgoing, body)
        if status == httpx.codes.UNAUTHORIZED and self._login.renew():
            status, answer = self._post(outgoing, body)
        if status != httpx.codes.OK:
            reason = _REASONS.get(status, "what answers at its address is no conductor")
            LOG.error("Conductor %s refused %s with status %d: %s", host, call, status, reason)
            raise CallRefused(host=host, call=call, reason=reason)
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
        limit = call.timeout or CONF.json_rpc.timeout
        wait = min(self._liveness_seconds, limit)
        client, url = self._place_of(host, call.name)
        headers = {"Content-Type": json_rpc_format.JSON, **self._login.headers()}

        def seconds() -> float:
            return self._clock.monotonic() - began

        with self._faults(host, call.name, limit, seconds):
            timeout = httpx.Timeout(wait, connect=self._liveness_seconds)
            with client.stream("POST", url, content=body, headers=headers, timeout=timeout) as answer:
                pieces, size = [], 0
                for piece in answer.iter_raw():
                    size += len(piece)
                    if seconds() > limit or size > _LARGEST_ANSWER:
                        raise ConductorUnreachable(host=host, call=call.name, seconds=round(seconds(), 1))
                    pieces.append(piece)
                return answer.status_code, b"".join(pieces)

    @contextmanager
    def _faults(self, host: str, call: str, limit: float, seconds: Callable[[], float]) -> Iterator[None]:
        """Turn errors of the HTTP client into those of this service, by whether the call may have been begun."""
        try:
            yield
        except (httpx.ConnectTimeout, httpx.PoolTimeout):
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
        scheme = "https" if self._tls else "http"
        if self._socket_client and host == CONF.host:
            return self._socket_client, httpx.URL(scheme=scheme, host="localhost", path="/")
        if (address := address_of(host)) is None:
            reason = "its name is neither the name of a host nor an address"
            raise ConductorAbsent(host=host, call=call, reason=reason)
        name, port = address
        return self._client, httpx.URL(scheme=scheme, host=name, port=port, path="/")


def address_of(conductor: str) -> tuple[str, int] | None:
    """Return host and port of a conductor from its name; None for a name that is no address.

    A name without a port has that of [json_rpc]port; an address of IPv6 that has one stands in brackets.
    """
    name, port = conductor, ""
    if conductor.startswith("["):
        name, bracket, rest = conductor[1:].partition("]")
        if not bracket or rest[:1] not in ("", ":"):
            return None
        port = rest[1:]
    elif conductor.count(":") == 1:
        name, _, port = conductor.partition(":")
    if port and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        return None
    try:
        ipaddress.ip_address(name)
    except ValueError:
        if not LOGICAL_NAME.fullmatch(name):
            return None
    return name, int(port or CONF.json_rpc.port)


def _tls_fault(error: BaseException) -> ssl.SSLError | None:
    """Return the fault of TLS that an error of the HTTP client comes from."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None
