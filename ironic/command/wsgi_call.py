"""One call of a WSGI application (PEP 3333): from a complete request to the bytes of a complete answer.

The application gets the whole body, as `CONTENT_LENGTH` says, however it was sent. The answer says its length and never
more than one way; what the application says about connections and lengths is not passed on.
"""

import io
import logging
import re
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote_to_bytes

LOG = logging.getLogger(__name__)

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]
Headers = list[tuple[str, str]]

# Headers that this module writes itself.
_OURS: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "date", "server"})
_SLASH: Final = re.compile(rb"%2[Ff]")
_WITHOUT_BODY: Final = ("204", "304")


@dataclass
class HttpRequest:
    """A request as it is read: headers by upper-case name, several of one name joined, and the whole body."""

    method: str = ""
    target: bytes = b""
    version: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: io.BytesIO = field(default_factory=io.BytesIO)
    # Bytes of the body.
    size: int = 0
    has_body: bool = False
    # Whether the connection may serve another request after this one.
    keep_alive: bool = False


def environ_of(request: HttpRequest, base: dict[str, Any]) -> dict[str, Any]:
    """Return what the application gets; ``base`` has the keys that are the same for the whole connection."""
    path, _, query = request.target.partition(b"?")
    request.body.seek(0)
    environ = {
        **base,
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": _decoded(path) if b"%" in path else path.decode("latin-1"),
        "QUERY_STRING": query.decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{request.version}",
        "wsgi.input": request.body,
    }
    for name, value in request.headers.items():
        environ[f"HTTP_{name.replace('-', '_')}"] = value
    if (content_type := environ.pop("HTTP_CONTENT_TYPE", None)) is not None:
        environ["CONTENT_TYPE"] = content_type
    chunked = environ.pop("HTTP_TRANSFER_ENCODING", None)
    if environ.pop("HTTP_CONTENT_LENGTH", chunked) is not None:
        environ["CONTENT_LENGTH"] = str(request.size)
    return environ


def _decoded(path: bytes) -> str:
    """Return a path without percent-encoding; an encoded slash stays encoded, for it is no border of two segments."""
    return "%2F".join(unquote_to_bytes(part).decode("latin-1") for part in _SLASH.split(path))


def base_environ(scheme: str, server: tuple[str, str], client: tuple[str, str]) -> dict[str, Any]:
    """Return the keys that are the same for all requests of a connection."""
    return {
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scheme,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "SERVER_NAME": server[0],
        "SERVER_PORT": server[1],
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": client[1],
    }


def respond(application: Application, request: HttpRequest, base: dict[str, Any]) -> bytes:
    """Have the application answer and return the bytes to send."""
    try:
        status, headers, body = _called(application, environ_of(request, base))
        return answer(status, headers, body, head_only=request.method == "HEAD", keep_alive=request.keep_alive)
    except Exception:
        LOG.exception("The API could not answer a %s request", request.method)
        request.keep_alive = False
        return answer("500 Internal Server Error", [], b"", keep_alive=False)


def _called(application: Application, environ: dict[str, Any]) -> tuple[str, Headers, bytes]:
    started: list[Any] = []
    pieces: list[bytes] = []

    def start_response(status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], None]:
        started[:] = [status, headers]
        return pieces.append

    found = application(environ, start_response)
    try:
        pieces.extend(found)
    finally:
        if hasattr(found, "close"):
            found.close()
    status, headers = started
    return status, headers, pieces[0] if len(pieces) == 1 else b"".join(pieces)


def answer(status: str, headers: Headers, body: bytes, *, keep_alive: bool, head_only: bool = False) -> bytes:
    """Return an answer as it goes over the wire."""
    lines = [f"HTTP/1.1 {status}", f"Date: {_date(int(time.time()))}", "Server: ironic"]
    length: str | int = len(body)
    for name, value in headers:
        if name.lower() == "content-length":
            # The length of an answer to HEAD is that of the body a GET would get.
            length = value if head_only else length
        elif name.lower() not in _OURS:
            lines.append(f"{name}: {value}")
    if not status.startswith(_WITHOUT_BODY):
        lines.append(f"Content-Length: {length}")
    if not keep_alive:
        lines.append("Connection: close")
    head = "\r\n".join([*lines, "", ""])
    if head.count("\r") != len(lines) + 1 or head.count("\n") != len(lines) + 1:
        raise ValueError("a header of the answer has a line break")
    if head_only or status.startswith(_WITHOUT_BODY):
        return head.encode("latin-1")
    return head.encode("latin-1") + body


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
