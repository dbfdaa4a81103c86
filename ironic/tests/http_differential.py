"""Requests that are nearly right, and what a second parser, h11, makes of them: the server must not understand more.

What both take for a request they must take for the same request; what follows it on the connection must begin at the
same byte. Where the server refuses what h11 accepts nothing is lost: it is the stricter of the two on purpose.
"""

import contextlib
import random
import socket
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import h11

from ironic.command.http_server import ApiServer, ServerSettings

METHODS: Final = (b"GET", b"POST", b"PUT", b"DELETE", b"PATCH", b"HEAD", b"OPTIONS", b"get", b"G T", b"GET\t", b"")
TARGETS: Final = (
    b"/",
    b"/a?b=c",
    b"/%41",
    b"/%00",
    b"//x",
    b"*",
    b"http://x/a",
    b"/a b",
    b"/\xe9",
    b"/a#b",
    b"/\x7f",
    b"",
)
VERSIONS: Final = (b"HTTP/1.1",) * 8 + (b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"http/1.1", b"HTTP/1.1 ", b"")
ENDS: Final = (b"\r\n",) * 30 + (b"\n", b"\r", b"\r\r\n", b"\n\r")
NAMES: Final = (
    *(b"Content-Length", b"Transfer-Encoding", b"content-length", b"Content_Length", b"Content-Length ", b"Host"),
    *(b" Host", b"Connection", b"X-A", b"X_A", b"X\x00A", b"X\xe9", b"", b"Expect", b"Upgrade", b"Trailer", b"\tX"),
)
VALUES: Final = (
    *(b"5", b"5", b"0", b"05", b"+5", b"-5", b"5,5", b"5 5", b"0x5", b"5\x00", b" 5 ", b"", b"18446744073709551621"),
    *(
        b"chunked",
        b"chunked",
        b"Chunked",
        b"gzip, chunked",
        b"chunked, gzip",
        b"identity",
        b"x",
        b"chunked ",
        b"\x0bchunked",
    ),
    *(b"close", b"keep-alive", b"100-continue", b"a\r\n b", b"a\rb", b"a\nb", b"\xe9", b"h2c", b"upgrade", b"x"),
)
BODIES: Final = (
    *(
        b"",
        b"hello",
        b"hell",
        b"hello!",
        b"5\r\nhello\r\n0\r\n\r\n",
        b"5;a=b\r\nhello\r\n0\r\n\r\n",
        b"05\r\nhello\r\n0\r\n\r\n",
    ),
    *(
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b" 5\r\nhello\r\n0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
    ),
    *(
        b"5\nhello\n0\n\n",
        b"5\r\nhello0\r\n\r\n",
        b"5\r\nhelloXX0\r\n\r\n",
        b"4\r\nhello\r\n0\r\n\r\n",
        b"6\r\nhello\r\n0\r\n\r\n",
    ),
    *(
        b"-1\r\n",
        b"ffffffffffffffff1\r\n",
        b"\r\n0\r\n\r\n",
        b"5\r\nhello\r\n0\r\nX: y\r\n\r\n",
        b"5\r\nhello\r\n0\r\n\rX",
    ),
    *(
        b"5\r\nhello\r\n00\r\n\r\n",
        b"5\r\nhello\r\n0\r\n X: y\r\n\r\n",
        b"5_0\r\nhello\r\n",
        b"5;\n\r\nhello\r\n0\r\n\r\n",
    ),
)

# What a request was taken for: method, target with its path decoded, body.
Taken = tuple[bytes, bytes, bytes]


def request(chance: random.Random) -> bytes:
    """Make one request; most have one thing wrong or odd."""
    lines = [b" ".join((chance.choice(METHODS[:7]), chance.choice(TARGETS[:4]), b"HTTP/1.1")), b"Host: x"]
    if chance.random() < 0.3:
        lines[0] = b" ".join(chance.choice(part) for part in (METHODS, TARGETS, VERSIONS))
    if chance.random() < 0.05:
        del lines[1]
    if chance.random() < 0.7:
        lines.append(chance.choice((b"Content-Length: 5", b"Transfer-Encoding: chunked")))
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
        lines.append(chance.choice(NAMES) + chance.choice((b": ", b":", b" : ", b"")) + chance.choice(VALUES))
    end = [b"\r\n"] * (len(lines) + 1)
    if chance.random() < 0.1:
        end = [chance.choice(ENDS) for _ in end]
    return b"".join(line + after for line, after in zip([*lines, b""], end, strict=True)) + chance.choice(BODIES)


def reference(data: bytes) -> list[Taken]:
    """Return the requests that h11 finds on a connection, up to the first that it refuses or that is not complete."""
    taken: list[Taken] = []
    goes_on = True
    while goes_on and data:
        connection = h11.Connection(h11.SERVER)
        connection.receive_data(data)
        connection.receive_data(b"")
        try:
            found = connection.next_event()
            if not isinstance(found, h11.Request):
                break
            body = b""
            while isinstance(part := connection.next_event(), h11.Data):
                body += bytes(part.data)
        except h11.RemoteProtocolError:
            break
        if not isinstance(part, h11.EndOfMessage):
            break
        taken.append((found.method, _decoded(found.target), body))
        # h11 waits for a word on any Upgrade header; the server goes on with HTTP, as the word would be.
        goes_on = connection.their_state in (h11.DONE, h11.MIGHT_SWITCH_PROTOCOL)
        # Empty lines before a request are skipped, as RFC 9112 (2.2) wants it of servers, and so are parts of line ends
        # that a body of a wrong length leaves over: nothing can hide there. h11 refuses them.
        data = connection.trailing_data[0].lstrip(b"\r\n")
    return taken


class Recorder:
    """A running server that writes down what it takes for a request."""

    def __init__(self) -> None:
        self.taken: list[Taken] = []
        self._server = ApiServer(self._application, ServerSettings(("127.0.0.1", 0), threads=1))

    def __enter__(self) -> "Recorder":
        self._server.start()
        self._address = ("127.0.0.1", int(self._server.url.rsplit(":", 1)[1]))
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def _application(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        target = environ["PATH_INFO"].encode("latin-1")
        if environ["QUERY_STRING"]:
            target += b"?" + environ["QUERY_STRING"].encode("latin-1")
        self.taken.append((environ["REQUEST_METHOD"].encode(), target, environ["wsgi.input"].read()))
        start_response("200 OK", [])
        return [b""]

    def of(self, data: bytes) -> tuple[list[Taken], bytes]:
        """Return what the server takes these bytes for, and what it answers."""
        self.taken.clear()
        with socket.create_connection(self._address, timeout=60) as client:
            answer = b""
            # The server may have closed before all was sent; what it took for requests counts.
            with contextlib.suppress(OSError):
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                while piece := client.recv(65536):
                    answer += piece
        return self.taken.copy(), answer


def differences(seed: int, count: int) -> list[tuple[bytes, list[Taken], list[Taken]]]:
    """Return which of so many pairs of requests the server takes for something that h11 does not."""
    chance = random.Random(seed)
    found = []
    with Recorder() as recorder:
        for _ in range(count):
            data = request(chance) + b"GET /second HTTP/1.1\r\nHost: x\r\n\r\n"
            ours, answer = recorder.of(data)
            theirs = reference(data)
            if ours != theirs[: len(ours)] or b" 500 " in answer:
                found.append((data, ours, theirs))
    return found


def _decoded(target: bytes) -> bytes:
    path, mark, query = target.partition(b"?")
    return unquote_to_bytes(path) + (mark + query if query else b"")
