"""One client connection: uvicorn's protocol over httptools (llhttp), with limits against hostile clients.

uvicorn parses requests, answers them in order and pauses clients that send too fast. This module adds limits of size
and time, and refuses requests that llhttp accepts but other HTTP implementations may read differently (request
smuggling). After a refusal nothing more is read from the connection.
"""

import asyncio
import contextlib
import functools
import http
import logging
import math
import re
import sys
import time
from collections.abc import Iterable
from email.utils import formatdate
from typing import Any, Final, cast

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from ironic.api.rate_limit import bucket_of
from ironic.command.tls_listener import TlsListener
from ironic.command.victims import victim

LOG = logging.getLogger(__name__)

# Seconds for the TLS handshake and each request head, for a body, until the next request, until an answer is received.
HEAD_SECONDS = 10
BODY_SECONDS = 60
# A body that holds memory has to bring so many bytes per second, more if it is long, and may pause for so many seconds.
LEAST_RATE = 16 * 1024
STALL_SECONDS = 5
IDLE_SECONDS = 30
WRITE_SECONDS = 120
# Seconds after a refusal for which more data is waited for and discarded: closing at once would reset the connection,
# and a client that sends all of its body first might not receive the refusal. Bytes of that, for BODY_SECONDS at most.
LINGER_SECONDS = 2
MOST_DISCARDED = 128 * 1024 * 1024

HEAD_LIMIT = 65536
MOST_HEADERS = 100
# Pipelined requests that wait while another one is answered.
MOST_PIPELINED = 4
# Bytes of body per byte of framing (after the first 64 KiB of that), at least: tiny chunks cost much CPU time.
BODY_PER_FRAMING = 8

_TARGET: Final = re.compile(rb"/[!\"$-~]*")
# Headers that a request may have once, as implementations differ in which of two is valid; others are joined as lists.
_SINGLE: Final = frozenset(
    (b"host", b"content-type", b"content-length", b"transfer-encoding", b"authorization", b"x-auth-token", b"expect")
)
_CONTINUE: Final = b"100-continue"
# What is wrong with a head, in the order in which it is looked for.
_FAULTS: Final = (
    (431, f"The head of the request is longer than {HEAD_LIMIT} bytes."),
    (431, f"The request has more than {MOST_HEADERS} headers."),
    (400, "This service speaks HTTP/1.1 only."),
    (400, "The target of the request has to be a path."),
    (400, "The request has no Host header."),
    (400, "A header stands in the request twice."),
    (400, "The length of the body can be read in two ways."),
    (501, "The only transfer coding that is known here is chunked."),
    (417, "Nothing but 100-continue is expected here."),
)


class Refusal(Exception):
    """A request is refused, and its connection ends; arguments: HTTP status, reason."""


class Connection(HttpToolsProtocol):
    """Read requests within limits; every method runs in the thread of the event loop."""

    def __init__(
        self,
        config: Config,
        state: ServerState,
        *,
        body_limit: int,
        most_connections: int,
        listener: TlsListener | None = None,
    ) -> None:
        """Serve one client; ``state`` is shared by all connections, ``listener`` is what accepts those with TLS."""
        super().__init__(config, state, {"connection": self})
        self._listener = listener
        self.body_limit, self.most_connections = body_limit, most_connections
        self.peers = cast("set[Connection]", state.connections)
        # Until when the client has to act (time.monotonic); infinite while it waits for the service.
        self.deadline = time.monotonic() + HEAD_SECONDS
        self.refusal: Refusal | None = None
        # Since when it has all its answers and has begun no other request; None before its first answer.
        self.idle_since: float | None = None
        # Complete requests without a complete answer; the task of the one that waits for a thread.
        self.unanswered = 0
        self.queued: asyncio.Task[Any] | None = None
        self.is_reading = self.in_head = self.client_closed = False
        self.wire_size = self.body_size = 0
        # Whose turns and shares its requests take; whether it has its last answer, and what still comes is discarded.
        self.address, self.is_over = "", False
        # Bytes per second that the body has to bring (0: any), and its last moment.
        self._rate, self._body_until = 0.0, math.inf
        # Bytes that were discarded after a refusal, and until when that goes on.
        self._discarded, self._linger_until = 0, math.inf

    def connection_made(self, transport: Any) -> None:
        """Register the client; if there are too many, close the victim."""
        peer = transport.get_extra_info("peername")
        self.address = bucket_of(peer[0]) if isinstance(peer, tuple) else ""
        if self._listener:
            self._listener.handshake_ended(transport.get_extra_info("socket").fileno())
        gone = self.victim() if len(self.peers) >= self.most_connections else None
        if gone:
            self.peers.discard(gone)
        super().connection_made(transport)
        # Writing pauses until all that was written has left.
        transport.set_write_buffer_limits(high=1, low=0)
        if gone:
            gone.transport.abort()

    def victim(self) -> "Connection":
        """Return the connection to close for a new one; see `victims`.

        Idle ones go first, the longest idle before others, then those that are nearest to their deadline. A client that
        waits for the service has no deadline, so it is closed last.
        """
        return victim(
            self,
            self.peers,
            lambda each: each.address,
            lambda each: (each.idle_since is None, each.deadline if each.idle_since is None else each.idle_since),
        )

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the client, and drop its request if that waits for a thread."""
        super().connection_lost(exc)
        if self.unanswered:
            LOG.info("A client has gone before it had its answer")
        if self.queued:
            self.queued.cancel()
        self.app_state.clear()  # it refers to the connection

    def data_received(self, data: bytes) -> None:
        """Parse data, or discard it after a refusal."""
        if self.refusal is not None or self.is_over:
            self._discard(len(data))
        else:
            self.wire_size += len(data)
            super().data_received(data)
            if self.is_reading and self.wire_size - self.body_size > HEAD_LIMIT + self.body_size // BODY_PER_FRAMING:
                self.refuse(Refusal(431, "What surrounds the body of the request is too long."))

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio takes an answer, uvicorn gives none
        """Return whether the connection stays open to answer the requests before; TLS can't be closed on one side."""
        self.client_closed = True
        if self.is_reading:
            self.refuse(Refusal(400, "The request ends in the middle."))
        if self.is_over and not self.unanswered:
            return False
        return self.unanswered > 0 and self.scheme == "http"

    def pause_writing(self) -> None:
        """Limit the time in which the client has to receive its answer."""
        super().pause_writing()
        self.deadline = min(self.deadline, time.monotonic() + WRITE_SECONDS)

    # Callbacks of the parser; a Refusal that they raise reaches `send_400_response`.

    def on_message_begin(self) -> None:
        """Begin a request."""
        if self.cycle and not self.cycle.keep_alive:
            raise Refusal(400, "A request follows the last one of the connection.")
        if len(self.pipeline) >= MOST_PIPELINED:
            text = f"More than {MOST_PIPELINED} requests of this connection wait for the answer to another one."
            raise Refusal(429, text)
        super().on_message_begin()
        self.is_reading, self.in_head, self.idle_since = True, True, None
        self.wire_size = self.body_size = 0
        self._rate, self._body_until, self.deadline = 0.0, math.inf, time.monotonic() + HEAD_SECONDS

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header; no trailer, and none with an underscore, which WSGI does not distinguish from a dash."""
        if self.in_head and b"_" not in name:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Refuse a head that is too large or ambiguous; otherwise begin to answer the request."""
        headers, version = dict(self.headers), self.parser.get_http_version()
        length, coding = headers.get(b"content-length", b"0").strip(), headers.get(b"transfer-encoding")
        coding = coding and coding.strip().lower()
        has_body = coding is not None or length.strip(b"0") != b""
        is_upgrade = self.parser.should_upgrade()
        is_tunnel = is_upgrade and (has_body or self.parser.get_method() == b"CONNECT")
        faults = (
            len(self.url) + sum([len(name) + len(value) + 4 for name, value in self.headers]) > HEAD_LIMIT,
            len(self.headers) > MOST_HEADERS,
            is_tunnel or version not in ("1.0", "1.1"),
            not _TARGET.fullmatch(self.url),
            version == "1.1" and b"host" not in headers,
            len(headers) < len(self.headers) and self._repeats_a_single_header(),
            coding is not None and (version == "1.0" or b"content-length" in headers),
            coding not in (None, b"chunked"),
            headers.get(b"expect", _CONTINUE).lower() != _CONTINUE,
        )
        if True in faults:
            raise Refusal(*_FAULTS[faults.index(True)])
        if int(length) > self.body_limit:
            raise Refusal(413, f"The request body is larger than {self.body_limit} bytes.")
        self.expect_100_continue = self.expect_100_continue and has_body and version == "1.1"
        super().on_headers_complete()
        self.in_head = False
        # The length is None for a body in chunks.
        self.scope["state"].update(cycle=self.cycle, length=None if coding else int(length))
        if is_upgrade:
            # The request is answered over HTTP, but what follows it may be another protocol.
            self.cycle.keep_alive = False
        if has_body:
            self.deadline = time.monotonic() + BODY_SECONDS

    def _repeats_a_single_header(self) -> bool:
        names = [name for name, _ in self.headers]
        return any(names.count(name) > 1 for name in _SINGLE)

    def on_body(self, body: bytes) -> None:
        """Add a piece of the body."""
        self.body_size += len(body)
        if self.body_size > self.body_limit:
            raise Refusal(413, f"The request body is larger than {self.body_limit} bytes.")
        if self._rate:
            now = time.monotonic()
            self.deadline = min(self.deadline + len(body) / self._rate, now + STALL_SECONDS, self._body_until)
        super().on_body(body)

    def wait_for_room(self) -> None:
        """Suspend the deadline: the client waits until its body may be read."""
        if self.is_reading:
            self.deadline = math.inf

    def read_body(self, reserved: int) -> None:
        """Give the body its time, once, and a minimum of bytes per second for the memory that it has."""
        if self.is_reading:
            now = time.monotonic()
            self._rate = max(LEAST_RATE, reserved / BODY_SECONDS)
            self._body_until = min(self._body_until, now + BODY_SECONDS)
            self.deadline = min(now + STALL_SECONDS, self._body_until)

    def on_message_complete(self) -> None:
        """End the deadline of the client, which waits for the service now."""
        super().on_message_complete()
        self.is_reading, self.unanswered, self.deadline = False, self.unanswered + 1, math.inf

    # Answers and refusals

    def end_answer(self, cycle: RequestResponseCycle) -> None:
        """Go on after an answer has left; one that did not wait for the body of its request is the last one."""
        is_early = cycle.more_body and not cycle.disconnected
        if is_early:
            self.is_over, self.is_reading, self.unanswered = True, False, self.unanswered + 1
        elif not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()
        if is_early and not self.transport.is_closing():
            self._linger()

    def on_response_complete(self) -> None:
        """Continue with the next request; a refusal is the last answer of a connection."""
        self.unanswered -= 1
        if not self.unanswered:
            now = time.monotonic()
            self.idle_since = None if self.is_reading else now
            self.deadline = now + (HEAD_SECONDS if self.is_reading else IDLE_SECONDS)
        elif not self.flow.write_paused:
            self.deadline = math.inf
        if self.transport.is_closing():
            return
        # What uvicorn does here begins a timer for each answer as well; the deadline is enough.
        self.flow.resume_reading()
        if self.pipeline:
            cycle, application = self.pipeline.pop()
            task = self.loop.create_task(cycle.run_asgi(application))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        if not self.unanswered:
            if self.refusal:
                self._send_refusal(self.refusal)
            elif self.client_closed:
                self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser or one of its callbacks refused."""
        fault = sys.exc_info()[1]
        cause = fault and fault.__context__
        self.refuse(cause if isinstance(cause, Refusal) else Refusal(400, f"The request is malformed: {fault}."))

    def refuse(self, refusal: Refusal) -> None:
        """Send a refusal once earlier requests are answered, and read nothing more; later refusals are ignored."""
        if self.refusal is not None:
            return
        self.refusal = refusal
        if self.is_reading and not self.in_head:
            # Its body is incomplete, so the request can't be answered.
            if self.pipeline and self.pipeline[0][0] is self.cycle:
                self.pipeline.popleft()
            else:
                self.cycle.disconnected, self.cycle.waiting_for_100_continue = True, False
                self.cycle.message_event.set()
        if self.unanswered:
            self.deadline = math.inf
        else:
            self._send_refusal(refusal)

    def _send_refusal(self, refusal: Refusal) -> None:
        if self.transport.is_closing():
            return  # the client has gone meanwhile
        status, reason = refusal.args
        LOG.info("A request of %s is refused with %s: %s", self.client[0] if self.client else "-", status, reason)
        text = f"{reason}\n".encode()
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(text)))]
        self.transport.write(head(f"{status} {http.HTTPStatus(status).phrase}", headers, keep_alive=False) + text)
        self._linger()

    def _linger(self) -> None:
        """End the connection after its last answer; what the client still sends is discarded, as long as more comes."""
        now = time.monotonic()
        self.deadline, self._linger_until = now + LINGER_SECONDS, now + BODY_SECONDS
        if self.client_closed:
            self.transport.close()
            return
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            with contextlib.suppress(OSError):  # it has gone, which is not known yet as its data were not read
                self.transport.write_eof()

    def _discard(self, size: int) -> None:
        self._discarded += size
        if self._discarded > MOST_DISCARDED:
            self.transport.pause_reading()
        elif self._linger_until < math.inf and not self.transport.is_closing():
            self.deadline = min(time.monotonic() + LINGER_SECONDS, self._linger_until)

    def expire(self) -> None:
        """End the connection because its deadline has passed; one that is being closed does not get more time."""
        is_closing = self.transport.is_closing()
        if self.is_reading and self.refusal is None and not is_closing:
            self.refuse(Refusal(408, "The request did not arrive in time."))
        elif is_closing or self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()
            self.deadline = time.monotonic() + LINGER_SECONDS

    def shutdown(self) -> None:
        """Close the connection, now or after its answer; asyncio's TLS can't be used after it was closed twice."""
        if not self.transport.is_closing():
            super().shutdown()


# By the present second; formatting it costs as much as a short answer.
_date = functools.lru_cache(maxsize=1)(functools.partial(formatdate, usegmt=True))


def head(status: str, headers: Iterable[tuple[str, str]], *, keep_alive: bool) -> bytes:
    """Return the head of an answer as it is sent; raises ValueError if a header holds a line break."""
    lines = [f"HTTP/1.1 {status}", f"Date: {_date(int(time.time()))}", "Server: ironic"]
    lines += [f"{name}: {value}" for name, value in headers]
    if not keep_alive:
        lines.append("Connection: close")
    text = "\r\n".join([*lines, "", ""])
    if text.count("\r") != len(lines) + 1 or text.count("\n") != len(lines) + 1:
        raise ValueError("a header of the answer has a line break")
    return text.encode("latin-1")
