"""One client's connection: complete, bounded requests go to the threads one by one, and answers come back in order.

httptools (llhttp) parses. What is added are limits, of size and of time for the whole of a head, a body and an answer,
and what a parser can't judge. After a refusal nothing more of the connection is read as a request.
"""

import asyncio
import http
import logging
import math
import re
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, cast

import httptools

from ironic.command.http_limits import Traffic
from ironic.command.wsgi_call import HttpRequest, answer, base_environ

LOG = logging.getLogger(__name__)

# Seconds for the TLS handshake with the first head; for each later head; for a body.
HEAD_SECONDS = 10
BODY_SECONDS = 60
# Seconds for which an unused connection is kept.
IDLE_SECONDS = 30
# An answer must have left after so many seconds, and one more for each so many bytes.
WRITE_SECONDS = 30
WRITE_RATE = 65536
PIECE = 65536
# Seconds for which what a refused client goes on to send is thrown away: closed at once, it would not see the refusal.
LINGER_SECONDS = 2

HEAD_LIMIT = 65536
MOST_HEADERS = 100
# Requests that may be sent ahead of the answer to the first.
MOST_AHEAD = 64
# Bytes of a chunked body for each byte that may surround them, after the first 64 KiB: many tiny chunks cost much time.
PAYLOAD = 8

_TARGET: Final = re.compile(rb"/[!\"$-~]*")
# Headers that are read in two ways when they stand twice; lists, as others are, are joined.
_CONTINUE: Final = "100-continue"
_PLAIN: Final = [("Content-Type", "text/plain; charset=utf-8")]
_SINGLE: Final = frozenset({"HOST", "CONTENT-TYPE", "AUTHORIZATION", "X-AUTH-TOKEN", "EXPECT"})


class Refusal(Exception):
    """Why a request is not served; the connection ends with it."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status} {http.HTTPStatus(status).phrase}", reason)


class Connection(asyncio.Protocol):
    """Reads requests and writes answers; every method runs in the thread of the event loop."""

    transport: asyncio.Transport
    # What ends the connection at once: its transport, or the task that still connects it.
    abort: Callable[[], object]

    def __init__(self, traffic: "Traffic[Connection]", server: tuple[str, str]) -> None:
        """Serve one client of a server, which is known by a name and a port."""
        self.base: dict[str, Any] = {}
        self.deadline = time.monotonic() + HEAD_SECONDS
        self._traffic, self._server = traffic, server
        self._parser = httptools.HttpRequestParser(self)
        self._request = HttpRequest()
        self._is_reading = self._head_is_read = False
        self._head_size = self._wire_size = self._headers_found = 0
        self._read: deque[HttpRequest | Refusal] = deque()
        self._answering: HttpRequest | None = None
        self._ahead = b""
        self._is_deaf = self._has_ended = self._is_stalled = False

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered, or an answer sent."""
        return self._answering is not None or self._is_stalled

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take note of who is there."""
        self.transport = cast(asyncio.Transport, transport)
        self.abort = self.transport.abort
        self.transport.set_write_buffer_limits(high=1, low=0)
        peer = transport.get_extra_info("peername")
        client = (str(peer[0]), str(peer[1])) if isinstance(peer, tuple) else ("", "")
        scheme = "https" if transport.get_extra_info("ssl_object") else "http"
        self.base = base_environ(scheme, self._server, client)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give back what is held; a request that a thread is at is given back when it is done."""
        if self.is_busy:
            LOG.info("A client has gone before it had its answer")
        held = [self._request] * self._is_reading + [each for each in self._read if isinstance(each, HttpRequest)]
        self._traffic.release(self, sum(request.size for request in held))
        self._traffic.forget(self)
        self._read.clear()
        # Both know each other; the request's body may be large.
        del self._parser, self._request

    def data_received(self, data: bytes) -> None:
        """Read requests; what comes while one is answered waits for its turn, and the client with it."""
        if self._is_deaf:
            return
        if self.is_busy:
            self._ahead += data
            self.transport.pause_reading()
        else:
            self._feed(data)

    def eof_received(self) -> bool:
        """Answer what was asked before the client closed its side; TLS knows no closing of one side."""
        self._has_ended = True
        if self._is_reading and not (self._is_deaf or self.is_busy):
            self._refuse(Refusal(400, "The request ends in the middle."))
            self._begin()
        return (self.is_busy or self._is_deaf) and self.base["wsgi.url_scheme"] == "http"

    def pause_writing(self) -> None:
        """Take note that the client does not read as fast as it is answered."""
        self._is_stalled = True

    def resume_writing(self) -> None:
        """Go on, for the client has the whole answer."""
        self._is_stalled = False
        self._traffic.unstall(self)
        if self._answering is None:
            self._go_on()

    def expire(self) -> None:
        """End what takes too long."""
        if self._is_reading and not (self._is_deaf or self.is_busy):
            self._refuse(Refusal(408, "The request did not arrive in time."))
            self._begin()
        else:
            self.abort()

    def retire(self) -> None:
        """End the connection, once the request that is under way is answered."""
        if not self.is_busy:
            self.abort()

    def _feed(self, data: bytes) -> None:
        self._wire_size += len(data)
        try:
            self._parser.feed_data(data)
            if not self._is_reading:
                self._wire_size = 0
            elif self._wire_size - self._request.size > HEAD_LIMIT + self._request.size // PAYLOAD:
                raise Refusal(431, "What surrounds the body of the request is too long.")
        except httptools.HttpParserUpgrade:
            self._is_deaf = True  # What follows is in another protocol, which is not spoken here.
        except (httptools.HttpParserError, Refusal) as error:
            self._refuse(error)
        if self._read:
            self._begin()

    def _refuse(self, error: Exception) -> None:
        if self._is_deaf:  # What follows the last request of a connection does not count.
            return
        cause = error.__context__ if isinstance(error, httptools.HttpParserCallbackError) else error
        if not isinstance(cause, Refusal):
            cause = Refusal(400, f"The request is malformed: {error}.")
        self._read.append(cause)
        self._is_deaf = True

    # What the parser finds

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        if self._is_deaf:
            raise Refusal(400, "A request follows the last one of the connection.")
        self._request = HttpRequest()
        self._is_reading, self._head_is_read = True, False
        self._head_size = self._wire_size = self._headers_found = 0
        self.deadline = time.monotonic() + HEAD_SECONDS

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self._grow_head(len(url))
        self._request.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. One with an underscore could pass for another with the application: it is dropped."""
        if self._head_is_read:
            return  # a trailer, which means nothing here
        self._grow_head(len(name) + len(value) + 4)
        headers, self._headers_found = self._request.headers, self._headers_found + 1
        if self._headers_found > MOST_HEADERS:
            raise Refusal(431, f"The request has more than {MOST_HEADERS} headers.")
        if b"_" in name:
            return
        key, text = name.decode("ascii").upper(), value.decode("latin-1").strip(" \t")
        if key in headers:
            if key in _SINGLE:
                raise Refusal(400, f"The header {key.title()} stands in the request twice.")
            text = f"{headers[key]},{text}"
        headers[key] = text

    def _grow_head(self, size: int) -> None:
        self._head_size += size
        if self._head_size > HEAD_LIMIT:
            raise Refusal(431, f"The head of the request is longer than {HEAD_LIMIT} bytes.")

    def on_headers_complete(self) -> None:
        """Judge the head, and ask for the body if the client waits for that."""
        request, self._head_is_read = self._request, True
        request.method, request.version = self._parser.get_method().decode(), self._parser.get_http_version()
        _judge(request, upgrade=self._parser.should_upgrade(), body_limit=self._traffic.body_limit)
        # Other protocols are not spoken: the request is answered as it stands, but what follows it may be in another.
        may_go_on = self._parser.should_keep_alive() and not self._parser.should_upgrade()
        request.keep_alive = request.version == "1.1" and may_go_on
        if request.has_body:
            self.deadline = time.monotonic() + BODY_SECONDS
            if "EXPECT" in request.headers and request.version == "1.1" and not self._read:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, piece: bytes) -> None:
        """Take a piece of the body."""
        self._request.size += len(piece)
        self._traffic.hold(self, len(piece), self._request.size)
        if self._request.size > self._traffic.body_limit:
            raise _too_large(self._traffic.body_limit)
        self._request.body.write(piece)

    def on_message_complete(self) -> None:
        """Line the request up for its answer."""
        self._is_reading = False
        self._traffic.has_all(self)
        if len(self._read) == MOST_AHEAD:
            self._request.keep_alive = False
        self._read.append(self._request)
        self._is_deaf = not self._request.keep_alive

    # Answers

    def _begin(self) -> None:
        """Have the next request answered; a refusal is the last answer of its connection."""
        match self._read.popleft():
            case HttpRequest() as request:
                self._answering, self.deadline = request, math.inf
                self._traffic.begin(self, request)
            case Refusal(args=(status, reason)):
                LOG.info("A request of %s is refused with %s: %s", self.base["REMOTE_ADDR"] or "-", status, reason)
                self.transport.write(answer(status, _PLAIN, f"{reason}\n".encode(), keep_alive=False))
                self.deadline = time.monotonic() + 2 * LINGER_SECONDS
                asyncio.get_running_loop().call_later(LINGER_SECONDS, self.transport.close)
                if self.transport.can_write_eof():
                    self.transport.write_eof()

    def answered(self, request: HttpRequest, data: bytes) -> None:
        """Send what a thread has made of a request, then see to what came meanwhile."""
        self._traffic.release(self, request.size)
        self._traffic.end()
        self._answering = None
        if self.transport.is_closing():
            return
        # In pieces, because a TLS transport takes one of any size as sent.
        for start in range(0, len(data), PIECE):
            self.transport.write(data[start : start + PIECE])
        if self._is_stalled:
            self.deadline = time.monotonic() + WRITE_SECONDS + len(data) / WRITE_RATE
            self._traffic.stall(self, len(data))
        if not request.keep_alive:
            self.transport.close()
        elif not self._is_stalled:
            self._go_on()

    def _go_on(self) -> None:
        """Turn to the next request, or wait for it."""
        if self._read:
            self._begin()
        elif self._is_deaf or self._traffic.is_stopping:
            self.transport.close()
        else:
            self.deadline = time.monotonic() + (BODY_SECONDS if self._is_reading else IDLE_SECONDS)
            self._traffic.wait(self)
            if self._ahead:
                data, self._ahead = self._ahead, b""
                self.transport.resume_reading()
                self._feed(data)
            elif self._has_ended:
                self.transport.close()


def _judge(request: HttpRequest, *, upgrade: bool, body_limit: int) -> None:
    """Refuse what the parser lets through and this service can't serve, or others may read in another way."""
    headers = request.headers
    coding = headers.get("TRANSFER-ENCODING")
    request.has_body = coding is not None or headers.get("CONTENT-LENGTH", "0").strip("0") != ""
    if request.version not in ("1.0", "1.1"):
        raise Refusal(400, "This service speaks HTTP/1.1 only.")
    if not _TARGET.fullmatch(request.target):
        raise Refusal(400, "The target of the request has to be a path.")
    if request.version == "1.1" and "HOST" not in headers:
        raise Refusal(400, "The request has no Host header.")
    if coding is not None and (request.version == "1.0" or "CONTENT-LENGTH" in headers):
        raise Refusal(400, "The length of the body can be read in two ways.")
    if coding is not None and coding.lower() != "chunked":
        raise Refusal(501, "The only transfer coding that is known here is chunked.")
    if upgrade and (request.has_body or request.method == "CONNECT"):
        raise Refusal(400, "This service speaks HTTP/1.1 only.")
    if headers.get("EXPECT", _CONTINUE).lower() != _CONTINUE:
        raise Refusal(417, f"The only expectation that is met here is {_CONTINUE}.")
    if int(headers.get("CONTENT-LENGTH", 0)) > body_limit:
        raise _too_large(body_limit)


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"The request body is larger than {limit} bytes, the most that is read here.")
