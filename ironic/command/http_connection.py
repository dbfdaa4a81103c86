"""One client's connection: uvicorn's protocol over httptools (llhttp), with the limits that a hostile network needs.

uvicorn answers requests in order and pauses clients that send too fast. What is added here are bounds, of size and of
time, and a judgement on what a parser lets through. After a refusal nothing more of the connection is read.
"""

import asyncio
import http
import logging
import math
import re
import sys
import time
from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache
from typing import Any, Final, cast

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

LOG = logging.getLogger(__name__)

# Seconds for the TLS handshake; for each head; for a body; until a request follows the last; until an answer has left.
HEAD_SECONDS = 10
BODY_SECONDS = 60
IDLE_SECONDS = 30
WRITE_SECONDS = 120
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
_SINGLE: Final = (
    *(b"host", b"content-type", b"content-length", b"transfer-encoding"),
    *(b"authorization", b"x-auth-token", b"expect"),
)
_CODINGS: Final = (None, b"chunked")
_CONTINUE: Final = b"100-continue"


class Refusal(Exception):
    """Why a request is not served, as a status and a reason; the connection ends with it."""


class Connection(HttpToolsProtocol):
    """Reads requests within bounds; every method runs in the thread of the event loop."""

    def __init__(self, config: Config, state: ServerState, *, body_limit: int, most_connections: int) -> None:
        """Serve one client; ``state`` is that of all connections."""
        super().__init__(config, state, {"connection": self})
        self.body_limit, self.most_connections = body_limit, most_connections
        self.peers = cast("set[Connection]", state.connections)
        # When the client is no longer waited for; never while it waits for the service.
        self.deadline = time.monotonic() + HEAD_SECONDS
        self.refusal: Refusal | None = None
        # Complete requests that lack a complete answer; the one that is lined up for a thread.
        self.owed = 0
        self.lined_up: asyncio.Task[Any] | None = None
        self.is_reading = self.in_head = self.has_ended = False
        self.wire_size = self.head_size = self.body_size = 0

    def connection_made(self, transport: Any) -> None:
        """Count the client in; if there are too many, the one that is nearest to its deadline goes."""
        is_full = len(self.peers) >= self.most_connections
        # Those that wait for the service have no deadline: rather than they the new one goes.
        victim = min((self, *self.peers), key=lambda each: each.deadline) if is_full else None
        self.peers.discard(victim or self)
        super().connection_made(transport)
        if victim:
            victim.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count the client out; what it has asked for and no thread has begun is not done."""
        super().connection_lost(exc)
        if self.owed:
            LOG.info("A client has gone before it had its answer")
        if self.lined_up:
            self.lined_up.cancel()
        self.app_state.clear()  # it refers back to the connection

    def data_received(self, data: bytes) -> None:
        """Read requests, unless one was refused."""
        if self.refusal is None:
            self.wire_size += len(data)
            super().data_received(data)
            if self.is_reading and self.wire_size - self.body_size > HEAD_LIMIT + self.body_size // PAYLOAD:
                self.refuse(Refusal(431, "What surrounds the body of the request is too long."))

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer what was asked before the client closed its side; TLS knows no closing of one side."""
        self.has_ended = True
        if self.is_reading and self.refusal is None:
            self.refuse(Refusal(400, "The request ends in the middle."))
        return self.owed > 0 and self.scheme == "http"

    def pause_writing(self) -> None:
        """Give the client some time to take its answer."""
        super().pause_writing()
        self.deadline = min(self.deadline, time.monotonic() + WRITE_SECONDS)

    # What the parser finds

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        if (self.cycle and not self.cycle.keep_alive) or len(self.pipeline) >= MOST_AHEAD:
            raise self.refused(400, "A request follows the last one of the connection.")
        super().on_message_begin()
        self.is_reading = self.in_head = True
        self.wire_size = self.head_size = self.body_size = 0
        self.deadline = time.monotonic() + HEAD_SECONDS

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self._grow_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. Trailers mean nothing here; a name with an underscore could pass for another one's."""
        if self.in_head:
            self._grow_head(len(name) + len(value) + 4)
            if b"_" not in name:
                super().on_header(name, value)
            if len(self.headers) > MOST_HEADERS:
                raise self.refused(431, f"The request has more than {MOST_HEADERS} headers.")

    def _grow_head(self, size: int) -> None:
        self.head_size += size
        if self.head_size > HEAD_LIMIT:
            raise self.refused(431, f"The head of the request is longer than {HEAD_LIMIT} bytes.")

    def on_headers_complete(self) -> None:
        """Judge the head, and have the request answered once its body is there."""
        has_body = self._judge()
        super().on_headers_complete()
        self.in_head = False
        self.scope["state"]["cycle"] = self.cycle
        if self.parser.should_upgrade():
            # The request is answered as it stands, but what follows it may be in another protocol.
            self.cycle.keep_alive = False
        if has_body:
            self.deadline = time.monotonic() + BODY_SECONDS

    def _judge(self) -> bool:
        """Refuse what the parser lets through and others may read in another way; return whether there is a body."""
        headers, version = dict(self.headers), self.parser.get_http_version()
        length, coding = headers.get(b"content-length", b"0").strip(), headers.get(b"transfer-encoding")
        coding = coding and coding.strip().lower()
        has_body = coding is not None or length.strip(b"0") != b""
        is_tunnel = self.parser.should_upgrade() and (has_body or self.parser.get_method() == b"CONNECT")
        has_two_lengths = coding is not None and (version == "1.0" or b"content-length" in headers)
        for is_wrong, status, reason in (
            (version not in ("1.0", "1.1") or is_tunnel, 400, "This service speaks HTTP/1.1 only."),
            (not _TARGET.fullmatch(self.url), 400, "The target of the request has to be a path."),
            (version == "1.1" and b"host" not in headers, 400, "The request has no Host header."),
            (len(headers) < len(self.headers) and _repeats(self.headers), 400, "A header stands in the request twice."),
            (has_two_lengths, 400, "The length of the body can be read in two ways."),
            (coding not in _CODINGS, 501, "The only transfer coding that is known here is chunked."),
            (headers.get(b"expect", _CONTINUE).lower() != _CONTINUE, 417, "Nothing but 100-continue is expected here."),
            (int(length) > self.body_limit, 413, f"The request body is larger than {self.body_limit} bytes."),
        ):
            if is_wrong:
                raise self.refused(status, reason)
        self.expect_100_continue = self.expect_100_continue and has_body and version == "1.1"
        return has_body

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self.body_size += len(body)
        if self.body_size > self.body_limit:
            raise self._too_large()
        super().on_body(body)

    def _too_large(self) -> Refusal:
        return self.refused(
            413, f"The request body is larger than {self.body_limit} bytes, the most that is read here."
        )

    def on_message_complete(self) -> None:
        """Note that the request is complete: the client waits for the service now."""
        super().on_message_complete()
        self.is_reading, self.owed, self.deadline = False, self.owed + 1, math.inf

    # Answers and refusals

    def on_response_complete(self) -> None:
        """Turn to the next request, or wait for it; a refusal is the last answer of its connection."""
        self.owed -= 1
        if not self.owed:
            self.deadline = time.monotonic() + (HEAD_SECONDS if self.is_reading else IDLE_SECONDS)
        elif not self.flow.write_paused:
            self.deadline = math.inf
        super().on_response_complete()
        if not self.owed and not self.transport.is_closing():
            if self.refusal:
                self._part(self.refusal)
            elif self.has_ended:
                self.transport.close()

    def refused(self, status: int, reason: str) -> Refusal:
        """Return what a callback of the parser raises; uvicorn has it sent with `send_400_response`."""
        self.refusal = Refusal(status, reason)
        return self.refusal

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser or one of its callbacks refused."""
        self.refuse(self.refusal or Refusal(400, f"The request is malformed: {sys.exc_info()[1]}."))

    def refuse(self, refusal: Refusal) -> None:
        """Read nothing more, and say so once what was asked before is answered."""
        self.refusal = refusal
        if self.is_reading and not self.in_head:
            # Its body is incomplete: it is forgotten.
            if self.pipeline and self.pipeline[0][0] is self.cycle:
                self.pipeline.popleft()
            else:
                self.cycle.disconnected, self.cycle.waiting_for_100_continue = True, False
                self.cycle.message_event.set()
        if self.owed:
            self.deadline = math.inf
        else:
            self._part(refusal)

    def _part(self, refusal: Refusal) -> None:
        status, reason = refusal.args
        LOG.info("A request of %s is refused with %s: %s", self.client[0] if self.client else "-", status, reason)
        text = f"{reason}\n".encode()
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(text)))]
        self.transport.write(head(f"{status} {http.HTTPStatus(status).phrase}", headers, keep_alive=False) + text)
        self.deadline = time.monotonic() + LINGER_SECONDS
        if self.transport.can_write_eof() and not self.has_ended:
            self.transport.write_eof()
        else:
            self.transport.close()

    def expire(self) -> None:
        """End what takes too long."""
        if self.is_reading and self.refusal is None:
            self.refuse(Refusal(408, "The request did not arrive in time."))
        else:
            self.transport.abort()


def _repeats(headers: list[tuple[bytes, bytes]]) -> bool:
    names = [name for name, _ in headers]
    return any(names.count(name) > 1 for name in _SINGLE)


def head(status: str, headers: Iterable[tuple[str, str]], *, keep_alive: bool) -> bytes:
    """Return the head of an answer as it goes over the wire; raises ValueError where a header holds a line break."""
    lines = [f"HTTP/1.1 {status}", f"Date: {_date(int(time.time()))}", "Server: ironic"]
    lines += [f"{name}: {value}" for name, value in headers]
    if not keep_alive:
        lines.append("Connection: close")
    text = "\r\n".join([*lines, "", ""])
    if text.count("\r") != len(lines) + 1 or text.count("\n") != len(lines) + 1:
        raise ValueError("a header of the answer has a line break")
    return text.encode("latin-1")


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
