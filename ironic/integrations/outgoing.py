"""The one HTTP client for what a user, a machine or a rule names.

Every call looks its host up once, judges all addresses (`ironic.integrations.destinations`) and connects to one of
these, while Host header and certificate keep the name. Redirects are followed here, each judged like a first call:
none leads to another scheme than HTTP, from HTTPS back to HTTP, or takes a login along to another server. A call has an
end in time and in bytes. No file or variable of the environment adds a login, a proxy or an authority.

Failures say what went wrong without quoting a URL, a header or an answer: those may hold secrets.
"""

import base64
import contextlib
import http.client
import socket
import ssl
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Final, NamedTuple, Self
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from ironic.conf import CONF
from ironic.core.servers import Server, server_of
from ironic.integrations import timed_sockets
from ironic.integrations.destinations import Refused, check_path, places_of

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS: Final = 5
_CHUNK: Final = 1024 * 1024
# What may stand in a path or query as it is; all else is percent-encoded.
_AS_IT_IS: Final = "!#$%&'()*+,/:;=?@[]~"
_PROXY_PORT: Final = 80
_USER_AGENT: Final = "ironic"
_FOREVER: Final = 10 * 365 * 86400.0


class CallFailed(Exception):
    """A call went wrong; the text says how, fit for users."""


class NotAllowed(CallFailed):
    """The call, or what a redirect makes of it, may not be made."""


class NotConnected(CallFailed):
    """There was no connection, so nothing was sent; ``__cause__`` has the details."""


class BrokenOff(CallFailed):
    """The call went out, and its answer did not come, or did not come whole."""


class TooLarge(CallFailed):
    """The answer has more bytes than the caller takes."""


class Login(NamedTuple):
    """A user's name and password for one server."""

    user: str
    password: str

    @property
    def header(self) -> str:
        """How HTTP basic authentication says it."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


def _none(server: Server) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a call is made: how long in all and for one wait (seconds), how many bytes are taken, whose
    certificates are believed, who logs in at a server, and by way of which proxy (a URL) it is reached."""

    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context
    seconds: float = _FOREVER
    idle_seconds: float = 60.0
    most_bytes: int | None = None
    login: Callable[[Server], Login | None] = _none
    proxy: Callable[[Server], str | None] = _none
    trusts_proxies: bool = False  # an operator has named them, not a rule
    follows_redirects: bool = True


class Answer:
    """An answer of which the head was read; a context manager, for the connection is open until it is closed."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse, terms: Terms):
        self._connection, self._response, self._most = connection, response, terms.most_bytes
        self.status, self.headers = response.status, response.headers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connection back."""
        self._response.close()
        self._connection.close()

    @property
    def is_good(self) -> bool:
        """Tell whether the server gives what was asked for."""
        return 200 <= self.status < 300

    def chunks(self) -> Iterator[bytes]:
        """Yield the body in pieces; raises CallFailed when it does not come whole, in time, or is too large."""
        announced, come = self._response.length, 0
        self._check_size(announced or 0)
        while chunk := self._piece():
            come += len(chunk)
            self._check_size(come)
            yield chunk
        if announced is not None and come < announced:
            raise BrokenOff("the answer broke off")

    def read(self) -> bytes:
        """Return the whole body."""
        return b"".join(self.chunks())

    def _piece(self) -> bytes:
        try:
            return self._response.read1(_CHUNK)  # what is there, not as much as that
        except (OSError, http.client.HTTPException) as error:
            raise _broken_off(error) from error

    def _check_size(self, size: int) -> None:
        if self._most is not None and size > self._most:
            raise TooLarge(f"it is larger than {self._most} bytes, the most that is taken")


def get(url: str, terms: Terms, headers: Mapping[str, str] | None = None) -> Answer:
    """Ask for what a URL has, following redirects as far as the terms want that; raises CallFailed."""
    until = time.monotonic() + terms.seconds
    for _ in range(_MOST_REDIRECTS + 1):
        answer = _sent("GET", url, terms, until, dict(headers or {}), None)
        target = answer.headers.get("Location")
        if not (terms.follows_redirects and answer.status in _REDIRECTS and target):
            return answer
        answer.close()
        url = _redirected(url, target)
    raise NotAllowed(f"it is redirected more than {_MOST_REDIRECTS} times")


def send(method: str, url: str, terms: Terms, headers: Mapping[str, str], body: bytes | None) -> Answer:
    """Send a request and return its answer, redirect or not; raises CallFailed."""
    return _sent(method, url, terms, time.monotonic() + terms.seconds, dict(headers), body)


def environment_proxy(server: Server) -> str | None:
    """Return the proxy that the environment names for a server, where [outgoing]use_environment_proxies wants it."""
    if not CONF.outgoing.use_environment_proxies or urllib.request.proxy_bypass(server.netloc):
        return None
    return urllib.request.getproxies().get(server.scheme)


def _redirected(url: str, target: str) -> str:
    try:
        following = urljoin(url, target)
        before, after = urlsplit(url).scheme, urlsplit(following).scheme
    except ValueError:
        raise NotAllowed("it is redirected to what is no URL") from None
    if (before, after) == ("https", "http"):
        raise NotAllowed("it is redirected from HTTPS to plain HTTP")
    return following


def _sent(method: str, url: str, terms: Terms, until: float, headers: dict[str, str], body: bytes | None) -> Answer:
    server, parts = _server(url), urlsplit(url)
    proxy = terms.proxy(server)
    if login := _login_in(parts) or terms.login(server):
        headers["Authorization"] = login.header
    target = quote(f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}", safe=_AS_IT_IS)
    connection = http.client.HTTPConnection(server.host, server.port)
    connection.auto_open = 0  # it uses the connection that was judged, or none
    try:
        if proxy is None:
            connection.sock = _connected(server, parts.path, terms, until)
        else:
            gate = _gate(proxy)
            connection.sock = _connected_through(gate, server, terms, until)
            if server.scheme == "http":
                target = f"http://{server.netloc}{target}"
                headers.update(_shown_to_proxy(gate))
        return Answer(connection, _answered(connection, method, target, server, headers, body), terms)
    except BaseException:
        connection.close()
        raise


def _server(url: str) -> Server:
    server = server_of(url)
    if server is None:
        raise NotAllowed("its URL does not name a web server (http or https, and a host)")
    return server


def _answered(
    connection: http.client.HTTPConnection,
    method: str,
    target: str,
    server: Server,
    headers: Mapping[str, str],
    body: bytes | None,
) -> http.client.HTTPResponse:
    try:
        connection.request(method, target, body, {"Host": server.netloc, "User-Agent": _USER_AGENT, **headers})
        return connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        raise _broken_off(error) from error
    except ValueError as error:
        raise NotAllowed("its headers can't be sent") from error


def _connected(server: Server, path: str, terms: Terms, until: float) -> socket.socket:
    with _connecting():
        places = places_of(server.host, server.port)
        check_path(places, server.port, path)
        plain = timed_sockets.connected(places, until, terms.idle_seconds)
        return plain if server.scheme == "http" else _secured(plain, server, terms)


def _connected_through(gate: SplitResult, server: Server, terms: Terms, until: float) -> socket.socket:
    """Return a connection by way of a proxy; it looks names up itself, so the server is judged as far as known here."""
    with _connecting():
        with contextlib.suppress(socket.gaierror):
            places_of(server.host, server.port)
        places = places_of(gate.hostname or "", gate.port or _PROXY_PORT, judged=not terms.trusts_proxies)
        plain = timed_sockets.connected(places, until, terms.idle_seconds)
        if server.scheme == "http":
            return plain
        try:
            _open_tunnel(plain, server, _shown_to_proxy(gate))
        except BaseException:
            plain.close()
            raise
        return _secured(plain, server, terms)


def _secured(plain: socket.socket, server: Server, terms: Terms) -> socket.socket:
    try:
        return timed_sockets.secured(plain, terms.tls(), server.host)
    except BaseException:
        plain.close()
        raise


def _open_tunnel(plain: socket.socket, server: Server, headers: Mapping[str, str]) -> None:
    host = f"[{server.host}]" if ":" in server.host else server.host
    place = f"{host}:{server.port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}", *(f"{name}: {value}" for name, value in headers.items())]
    plain.sendall("\r\n".join([*lines, "", ""]).encode())
    answer = http.client.HTTPResponse(plain, method="CONNECT")
    try:
        answer.begin()
        if not 200 <= answer.status < 300:
            raise ConnectionError(f"the proxy answers with status {answer.status}")
    finally:
        answer.close()


def _gate(proxy: str) -> SplitResult:
    """Return the place of a proxy, which is spoken to without TLS."""
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        is_usable = parts.scheme == "http" and parts.hostname and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise NotAllowed("its proxy must be named by a URL that begins with http://")
    return parts


def _shown_to_proxy(gate: SplitResult) -> dict[str, str]:
    login = _login_in(gate)
    return {"Proxy-Authorization": login.header} if login else {}


@contextlib.contextmanager
def _connecting() -> Iterator[None]:
    """Say in our words why there is no connection."""
    try:
        yield
    except Refused as error:
        raise NotAllowed(f"its address is {error}") from error
    except (OSError, http.client.HTTPException) as error:
        raise NotConnected(_why(error)) from error


def _login_in(parts: SplitResult) -> Login | None:
    """Return who logs in according to a URL."""
    if parts.username is None:
        return None
    return Login(unquote(parts.username), unquote(parts.password or ""))


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not to be believed ({error.verify_message})"
    if isinstance(error, TimeoutError):
        return "it can't be connected to in time"
    if isinstance(error, socket.gaierror):
        return "its name can't be found"
    if isinstance(error, OSError):
        return f"it can't be connected to ({error.strerror or error or type(error).__name__})"
    return f"it can't be connected to ({type(error).__name__})"


def _broken_off(error: Exception) -> BrokenOff:
    if isinstance(error, TimeoutError):
        return BrokenOff("the answer did not come in time")
    return BrokenOff(f"the connection broke off ({type(error).__name__})")
