"""The HTTP client for URLs that users, machines or rules supply: checked destinations, bounded time and size.

Each call resolves its host once, checks all addresses (`ironic.integrations.allowed_destinations`) and connects to one
of these, while Host header and certificate keep the name. Each redirect is checked like a first call; none leads to
another scheme than HTTP, from HTTPS back to HTTP, or takes credentials along to another server. No file or variable of
the environment adds credentials, a proxy or a certificate authority.

All bytes that arrive count, also those that no body has: interim answers count as a part of the head, and sizes and
extensions of chunks and trailers may have an eighth of the bytes of the body, as tiny chunks cost much CPU time.

A call ends in its time, however slowly the other side sends: the timeout of a socket holds for one wait only, so the
sockets here count down to one end for all waits. Errors say what went wrong without quoting a URL, a header or an
answer: those may hold secrets.
"""

import base64
import contextlib
import http.client
import math
import socket
import ssl
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO, Final, NamedTuple, Self
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from ironic.conf import CONF
from ironic.core.addresses.allowed_addresses import AddressPolicy, Server, server_of
from ironic.core.texts import syntax
from ironic.integrations.allowed_destinations import Refused, SocketAddress, check_path, resolve_allowed

# What OpenSSL, in one version or another, says of an answer that is no record of TLS.
_PLAIN_ANSWERS: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")


class _TooMuch(OSError):
    """More bytes arrive than the answer may have."""


class _Timed(socket.socket):
    """A socket whose waits end at ``until`` (monotonic seconds), and each of them after ``idle`` seconds."""

    until: float
    idle: float
    # Bytes that may still arrive.
    room: float = math.inf

    def limit_wait(self) -> Self:
        """Set the timeout of the next wait; raise TimeoutError when the time of the call is over."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for this call is over")
        self.settimeout(min(left, self.idle))
        return self

    def recv_into(self, *args: Any, **options: Any) -> int:
        self.limit_wait()
        received = super().recv_into(*args, **options)
        self.room -= received
        if self.room < 0:
            raise _TooMuch
        return received

    def send(self, data: Any, *args: Any) -> int:
        self.limit_wait()
        return super().send(data, *args)

    def sendall(self, data: Any, *args: Any) -> None:
        self.limit_wait()
        super().sendall(data, *args)


class _Secure(_Timed, ssl.SSLSocket):
    """A TLS socket whose waits end as well."""


def connected(addresses: Iterable[SocketAddress], until: float, idle: float) -> _Timed:
    """Return a connection to the first address that accepts one; raises OSError when none does."""
    fault: OSError = OSError("the name has no address")
    for one in addresses:
        made = _Timed(one.family, socket.SOCK_STREAM)
        made.until, made.idle = until, idle
        try:
            made.limit_wait().connect(one.address)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made
        except OSError as error:
            made.close()
            fault = error
    raise fault


def secured(plain: socket.socket, context: ssl.SSLContext, name: str) -> _Timed:
    """Start TLS on a connection of `connected`; the context verifies the certificate for ``name``."""
    assert isinstance(plain, _Timed)
    until, idle, room = plain.until, plain.idle, plain.room
    context.sslsocket_class = _Secure
    made = context.wrap_socket(plain.limit_wait(), server_hostname=name)
    assert isinstance(made, _Secure)
    made.until, made.idle, made.room = until, idle, room
    return made


class _Response(http.client.HTTPResponse):
    """A response that interim answers may precede: the library skips one kind only (100)."""

    def begin(self) -> None:
        super().begin()
        while 100 < self.status < 200 and self.status != http.HTTPStatus.SWITCHING_PROTOCOLS:
            self.headers = self.msg = None  # type: ignore[assignment]  # as before it began
            super().begin()


_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS: Final = 5
_CHUNK: Final = 1024 * 1024
# Bytes of the head of an answer, with interim answers.
_LARGEST_HEAD: Final = 256 * 1024
# What surrounds the body (sizes and extensions of chunks, trailers) may have so many bytes, and one for so many of the
# body.
_FRAMING: Final = 64 * 1024
_BODY_PER_FRAMING: Final = 8
# Characters that are not percent-encoded in a path or query.
_UNQUOTED: Final = "!#$%&'()*+,/:;=?@[]~"
_PROXY_PORT: Final = 80
_USER_AGENT: Final = "ironic"
_FOREVER: Final = 10 * 365 * 86400.0

Body = bytes | BinaryIO | None


class CallFailed(Exception):
    """A call failed; the text says why and may be shown to users."""


class NotAllowed(CallFailed):
    """The call, or a redirect of it, is not allowed."""


class NotConnected(CallFailed):
    """There was no connection, so nothing was sent; ``__cause__`` has the details."""


class BrokenOff(CallFailed):
    """The request was sent, and its answer is missing or incomplete."""


class TooLarge(CallFailed):
    """The answer has more bytes than the caller accepts."""


class Login(NamedTuple):
    """A user's name and password for one server."""

    user: str
    password: str

    @property
    def header(self) -> str:
        """The value of the header of HTTP basic authentication."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


def _none(server: Server) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Terms:
    """The limits and credentials of a call.

    ``seconds`` is for the whole call, ``idle_seconds`` for each wait, ``connect_seconds`` for the wait to connect;
    ``most_bytes`` limits the body. ``tls`` returns the TLS context, ``login`` the credentials and ``proxy`` the URL of
    the proxy for a server, None for none. ``policy`` says which addresses are allowed; by default the options of
    [outgoing] do. ``pinned`` is kept by the caller over several calls: to a server in it a call connects at that
    address, whatever its name means by then, and the address of the first connection is added to it.
    """

    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context
    seconds: float = _FOREVER
    idle_seconds: float = 60.0
    connect_seconds: float = _FOREVER
    most_bytes: int | None = None
    login: Callable[[Server], Login | None] = _none
    proxy: Callable[[Server], str | None] = _none
    trusts_proxies: bool = False  # an operator has named the proxies, not a rule
    follows_redirects: bool = True
    policy: AddressPolicy | None = None
    pinned: MutableMapping[Server, SocketAddress] | None = None


class Answer:
    """An answer whose head was read; a context manager that closes the connection."""

    def __init__(
        self, connection: http.client.HTTPConnection, sock: _Timed, response: http.client.HTTPResponse, terms: Terms
    ) -> None:
        self._connection, self._sock, self._response, self._most = connection, sock, response, terms.most_bytes
        # From now on what arrives is the body, or surrounds it.
        sock.room = _FRAMING
        self.status, self.headers = response.status, response.headers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._response.close()
        self._connection.close()

    @property
    def is_good(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    def chunks(self) -> Iterator[bytes]:
        """Yield the body in pieces; raises CallFailed when it is incomplete, late or too large."""
        announced, received = self._response.length, 0
        self._check_size(announced or 0)
        while True:
            try:
                chunk = self._arrived()
            except _TooMuch as error:
                raise TooLarge("what surrounds its body (sizes of chunks, trailers) is too long") from error
            except (OSError, http.client.HTTPException) as error:
                raise _broken_off(error) from error
            if not chunk:
                break
            received += len(chunk)
            self._check_size(received)
            yield chunk
        if announced is not None and received < announced:
            raise BrokenOff("the answer broke off")

    def read(self) -> bytes:
        """Return the whole body."""
        return b"".join(self.chunks())

    def _arrived(self) -> bytes:
        """Return what has arrived of the body; raises _TooMuch when what surrounds it is long beside it."""
        self._sock.room += _CHUNK
        chunk = self._response.read1(_CHUNK)
        # The bytes of the body give back the room that they took.
        self._sock.room += len(chunk) + len(chunk) // _BODY_PER_FRAMING - _CHUNK
        if self._sock.room < 0:
            raise _TooMuch
        return chunk

    def _check_size(self, size: int) -> None:
        if self._most is not None and size > self._most:
            raise self._too_large()

    def _too_large(self) -> TooLarge:
        return TooLarge(f"it is larger than {self._most} bytes, the limit")


def get(url: str, terms: Terms, headers: Mapping[str, str] | None = None) -> Answer:
    """Send a GET request and return the answer, after redirects where the terms follow them; raises CallFailed."""
    until = time.monotonic() + terms.seconds
    for _ in range(_MOST_REDIRECTS + 1):
        answer = _sent("GET", url, terms, until, dict(headers or {}), None)
        target = answer.headers.get("Location")
        if not (terms.follows_redirects and answer.status in _REDIRECTS and target):
            return answer
        answer.close()
        try:
            following = urljoin(url, target)
            before, after = urlsplit(url).scheme, urlsplit(following).scheme
        except ValueError:
            raise NotAllowed("it is redirected to an invalid URL") from None
        if (before, after) == ("https", "http"):
            raise NotAllowed("it is redirected from HTTPS to plain HTTP")
        url = following
    raise NotAllowed(f"it is redirected more than {_MOST_REDIRECTS} times")


def send(method: str, url: str, terms: Terms, headers: Mapping[str, str], body: Body) -> Answer:
    """Send a request and return its answer, redirect or not; raises CallFailed. A file needs a Content-Length."""
    return _sent(method, url, terms, time.monotonic() + terms.seconds, dict(headers), body)


def environment_proxy(server: Server) -> str | None:
    """Return the proxy that the environment names for a server, if [outgoing]use_environment_proxies is set."""
    if not CONF.outgoing.use_environment_proxies or urllib.request.proxy_bypass(server.netloc):
        return None
    return urllib.request.getproxies().get(server.scheme)


def _sent(method: str, url: str, terms: Terms, until: float, headers: dict[str, str], body: Body) -> Answer:
    server = server_of(url)
    if server is None:
        raise NotAllowed("its URL does not name a web server (http or https, and a host)")
    parts, proxy_url = urlsplit(url), terms.proxy(server)
    if login := _login_in(parts) or terms.login(server):
        headers["Authorization"] = login.header
    target = quote(f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}", safe=_UNQUOTED)
    connection = http.client.HTTPConnection(server.host, server.port)
    connection.auto_open = 0  # it uses the checked connection or none
    connection.response_class = _Response
    try:
        if proxy_url is None:
            connection.sock = sock = _connected(server, parts.path, terms, until)
        else:
            proxy = _proxy_parts(proxy_url)
            connection.sock = sock = _connected_by_proxy(proxy, server, terms, until)
            if server.scheme == "http":
                target = f"http://{server.netloc}{target}"
                headers.update(_proxy_headers(proxy))
        try:
            connection.request(method, target, body, {"Host": server.netloc, "User-Agent": _USER_AGENT, **headers})
            sock.room = _LARGEST_HEAD
            return Answer(connection, sock, connection.getresponse(), terms)
        except _TooMuch as error:
            raise TooLarge(f"its head is larger than {_LARGEST_HEAD} bytes, the limit") from error
        except (OSError, http.client.HTTPException) as error:
            raise _broken_off(error) from error
        except ValueError as error:
            raise NotAllowed("its headers can't be sent") from error
    except BaseException:
        connection.close()
        raise


def _connected(server: Server, path: str, terms: Terms, until: float) -> _Timed:
    with _connecting():
        pinned = None if terms.pinned is None else terms.pinned.get(server)
        addresses = [pinned] if pinned else resolve_allowed(server.host, server.port, policy=terms.policy)
        check_path(addresses, server.port, path)
        plain = connected(addresses, until, min(terms.idle_seconds, terms.connect_seconds))
        plain.idle = terms.idle_seconds
        if terms.pinned is not None:
            terms.pinned.setdefault(server, SocketAddress(plain.family, plain.getpeername()))
        with _closing_on_error(plain):
            return plain if server.scheme == "http" else secured(plain, terms.tls(), server.host)


def _connected_by_proxy(proxy: SplitResult, server: Server, terms: Terms, until: float) -> _Timed:
    """Return a connection to a server by a proxy.

    The proxy resolves the name of the server itself, so the server is checked as far as its name is known here.
    """
    with _connecting():
        with contextlib.suppress(socket.gaierror):
            resolve_allowed(server.host, server.port, policy=terms.policy)
        port = proxy.port or _PROXY_PORT
        addresses = resolve_allowed(proxy.hostname or "", port, is_checked=not terms.trusts_proxies)
        plain = connected(addresses, until, terms.idle_seconds)
        plain.room = _LARGEST_HEAD
        if server.scheme == "http":
            return plain
        with _closing_on_error(plain):
            _open_tunnel(plain, server, _proxy_headers(proxy))
            return secured(plain, terms.tls(), server.host)


@contextlib.contextmanager
def _closing_on_error(plain: socket.socket) -> Iterator[None]:
    try:
        yield
    except BaseException:
        plain.close()
        raise


def _open_tunnel(plain: socket.socket, server: Server, headers: Mapping[str, str]) -> None:
    target = f"{syntax.host_in_url(server.host)}:{server.port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}", *(f"{name}: {value}" for name, value in headers.items())]
    plain.sendall("\r\n".join([*lines, "", ""]).encode())
    answer = _Response(plain, method="CONNECT")
    try:
        answer.begin()
        if not 200 <= answer.status < 300:
            raise ConnectionError(f"the proxy answers with status {answer.status}")
    finally:
        answer.close()


def _proxy_parts(proxy: str) -> SplitResult:
    """Return the parts of the URL of a proxy, which is contacted without TLS; raise NotAllowed for other URLs."""
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        is_usable = parts.scheme == "http" and parts.hostname and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise NotAllowed("its proxy must be named by a URL that begins with http://")
    return parts


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    login = _login_in(proxy)
    return {"Proxy-Authorization": login.header} if login else {}


@contextlib.contextmanager
def _connecting() -> Iterator[None]:
    """Raise NotAllowed or NotConnected for the errors of resolving a name and connecting."""
    try:
        yield
    except Refused as error:
        raise NotAllowed(f"its address is {error}") from error
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, ssl.SSLCertVerificationError):
            reason = f"its certificate is not trusted ({error.verify_message})"
        elif isinstance(error, ssl.SSLError):
            what = "it does not speak TLS" if speaks_no_tls(error) else "TLS can't be agreed on"
            reason = f"{what} ({(error.reason or type(error).__name__).replace('_', ' ').lower()})"
        elif isinstance(error, TimeoutError):
            reason = "it can't be connected to in time"
        elif isinstance(error, socket.gaierror):
            reason = "its name can't be found"
        elif isinstance(error, OSError):
            reason = f"it can't be connected to ({error.strerror or error or type(error).__name__})"
        else:
            reason = f"it can't be connected to ({type(error).__name__})"
        raise NotConnected(reason) from error


def speaks_no_tls(error: BaseException | None) -> bool:
    """Return whether the error is that of a handshake which was answered in plain text."""
    return isinstance(error, ssl.SSLError) and error.reason in _PLAIN_ANSWERS


def _login_in(parts: SplitResult) -> Login | None:
    """Return the credentials in a URL, None when it has none."""
    if parts.username is None:
        return None
    return Login(unquote(parts.username), unquote(parts.password or ""))


def _broken_off(error: Exception) -> BrokenOff:
    if isinstance(error, TimeoutError):
        return BrokenOff("the answer did not come in time")
    return BrokenOff(f"the connection broke off ({type(error).__name__})")
