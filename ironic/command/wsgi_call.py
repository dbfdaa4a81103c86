"""Call a WSGI application (PEP 3333) with a request of uvicorn (ASGI), and make its answer the pieces that are sent.

Every request pays for what is here, so nothing is built that a short answer does not need.
"""

import io
import logging
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from ironic.api.error_responses import OVER_LIMIT
from ironic.command.http_answers import PIECE
from ironic.command.http_connection import Connection, head
from ironic.core.permit import HEAD_ALONE, JUDGED, LANE, NO_ROOM, MustRead

LOG = logging.getLogger(__name__)

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]
Headers = list[tuple[str, str]]
Scope = dict[str, Any]

# Headers that the server writes itself; it writes the length of each body, too.
_SERVER_HEADERS: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "date", "server"})
_WITH_LENGTH: Final = _SERVER_HEADERS | {"content-length"}
_WITHOUT_BODY: Final = ("204", "304")
_SLASH: Final = re.compile(rb"%2[Ff]")
# Keys of headers that almost every request has.
_KEYS: Final = {
    name.encode(): f"HTTP_{name.upper().replace('-', '_')}"
    for name in ("host", "accept", "accept-encoding", "connection", "user-agent", "x-auth-token", "authorization")
} | {
    b"content-type": "CONTENT_TYPE",
    b"x-openstack-ironic-api-version": "HTTP_X_OPENSTACK_IRONIC_API_VERSION",
}


class Asked:
    """A request on its way to the application."""

    __slots__ = (
        "address",
        "announced",
        "body",
        "connection",
        "cycle",
        "has_room",
        "is_judged",
        "is_over_limit",
        "scope",
    )

    def __init__(self, scope: Scope, address: str) -> None:
        """Take the request, and the address whose turn it takes."""
        self.scope, self.address = scope, address
        state = scope["state"]
        # The announced length of the body, None for one that comes in chunks.
        self.announced: int | None = state["length"]
        self.connection: Connection = state["connection"]
        self.cycle: RequestResponseCycle = state["cycle"]
        # The body, None as long as it has not arrived; whether the head was judged before.
        self.body: bytes | None = None
        self.is_judged = False
        # Whether there is memory for its body.
        self.has_room = True
        # Whether it was refused beyond a limit of its sender.
        self.is_over_limit = False

    def environ(self, lane: str) -> dict[str, Any]:
        """Return the WSGI environment for a thread of a lane."""
        found = environ_of(self.scope, self.body)
        found[LANE] = lane
        if self.body is None:
            found[HEAD_ALONE] = True
        elif self.is_judged:
            found[JUDGED] = True
        if not self.has_room:
            found[NO_ROOM] = True
        return found


class _Answer:
    """What the application gives: it is the callable that PEP 3333 names start_response."""

    __slots__ = ("headers", "pieces", "status")

    status: str
    headers: Headers

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def __call__(self, status: str, headers: Headers, exc_info: object = None) -> Callable[[bytes], None]:
        self.status, self.headers = status, headers
        return self.pieces.append


class _Awaited(io.RawIOBase):
    """The body of a request whose head alone has arrived."""

    def readable(self) -> bool:
        """Return that it can be read, later."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Raise MustRead."""
        raise MustRead(sys.maxsize if size is None or size < 0 else size)

    def readline(self, size: int | None = -1) -> bytes:
        """Raise MustRead."""
        return self.read()


def answer_of(application: Application, asked: Asked, lane: str) -> list[bytes]:
    """Return the answer with one Content-Length and the headers of the server; MustWait passes through.

    The first of its pieces begins with the status; a short answer is one piece. To join or to copy a long one would
    hold the interpreter.
    """
    answer = _Answer()
    try:
        environ = asked.environ(lane)
        found = application(environ, answer)
        asked.is_over_limit = OVER_LIMIT in environ
        try:
            answer.pieces.extend(found)
        finally:
            if hasattr(found, "close"):
                found.close()
        return _in_pieces(answer, asked)
    except Exception:
        LOG.exception("The API could not answer a %s request", asked.scope["method"])
        asked.cycle.keep_alive = False
        return [head("500 Internal Server Error", [("Content-Length", "0")], keep_alive=False)]


def _in_pieces(answer: _Answer, asked: Asked) -> list[bytes]:
    size = sum(map(len, answer.pieces))
    is_head, has_body = asked.scope["method"] == "HEAD", not answer.status.startswith(_WITHOUT_BODY)
    # The length of an answer to HEAD is that of the body for GET, which only the application may know.
    has_length = size > 0 or not is_head
    left_out = _WITH_LENGTH if has_length else _SERVER_HEADERS
    sent = [pair for pair in answer.headers if pair[0].lower() not in left_out]
    if has_length and has_body:
        sent.append(("Content-Length", str(size)))
    beginning = head(answer.status, sent, keep_alive=asked.cycle.keep_alive)
    pieces = [beginning, *answer.pieces] if has_body and not is_head else [beginning]
    return pieces if size > PIECE else [b"".join(pieces)]


def environ_of(scope: Scope, body: bytes | None) -> dict[str, Any]:
    """Return the WSGI environment: headers of one name are joined, CONTENT_LENGTH is the length of the body.

    A body that has not arrived (None) has the length that was announced, if one was.
    """
    (server, port), (client, client_port) = scope["server"] or ("localhost", None), scope["client"] or ("", "")
    path: bytes = scope["raw_path"]
    environ: dict[str, Any] = {
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "wsgi.input": _Awaited() if body is None else io.BytesIO(body),
        "SERVER_NAME": server,
        "SERVER_PORT": str(port or ""),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client,
        "REMOTE_PORT": str(client_port),
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        # An encoded slash stays encoded, as it does not separate segments.
        "PATH_INFO": "%2F".join(unquote_to_bytes(part).decode("latin-1") for part in _SLASH.split(path))
        if b"%" in path
        else path.decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
    }
    for name, value in scope["headers"]:
        key = _KEYS.get(name) or "HTTP_" + name.decode("ascii").upper().replace("-", "_")
        text = value.decode("latin-1").strip(" \t")
        environ[key] = f"{environ[key]},{text}" if key in environ else text
    if body is None and "HTTP_TRANSFER_ENCODING" in environ:
        return environ
    chunked = environ.pop("HTTP_TRANSFER_ENCODING", None)
    if (length := environ.pop("HTTP_CONTENT_LENGTH", chunked)) is not None:
        environ["CONTENT_LENGTH"] = length if body is None else str(len(body))
    return environ
