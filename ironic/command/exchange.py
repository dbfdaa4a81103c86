"""One request and its answer on the wire, as cheroot speaks HTTP, but for what it leaves open.

Headers that two servers may read differently are how a request is smuggled past a proxy's rules: they are refused (RFC
9112, sections 5.1 and 6.3). An answer's headers and body leave together: apart they wake up the client twice.
"""

import functools
import io
import socket
import time
from email.utils import formatdate
from typing import Any

from cheroot.makefile import MakeFile
from cheroot.server import HeaderReader, HTTPConnection, HTTPRequest

_LENGTH, _CODING = b"Content-Length", b"Transfer-Encoding"

# Bytes that are rather copied behind their headers than sent after them.
_COPIED = 65536


class _Headers(dict[bytes, bytes]):
    """Headers of a request, which say in one way how long its body is, or not at all."""

    def __setitem__(self, name: bytes, value: bytes) -> None:
        if name == _LENGTH and not (value.isdigit() and self.get(name, value) == value):
            raise ValueError("Content-Length must be one number.")
        if (name == _LENGTH and _CODING in self) or (name == _CODING and _LENGTH in self):
            raise ValueError("Content-Length and Transfer-Encoding exclude each other.")
        super().__setitem__(name, value)


class _Reader(HeaderReader):
    """Reads headers that have a name."""

    def _transform_key(self, key_name: bytes) -> bytes:
        if not key_name or key_name != key_name.strip():
            raise ValueError("A header must have a name, and nothing may stand between it and its colon.")
        return key_name.title()


class _Request(HTTPRequest):
    """A request and its answer."""

    header_reader = _Reader()
    _head = b""

    def parse_request(self) -> None:
        """Read the request line and the headers."""
        self.inheaders = _Headers()
        super().parse_request()

    def send_headers(self) -> None:
        """Keep the headers for what follows; cheroot would send them at once."""
        if not any(name.lower() == b"date" for name, _value in self.outheaders):
            self.outheaders.append((b"Date", _date(int(time.time()))))
        stream, self.conn.wfile = self.conn.wfile, io.BytesIO()
        try:
            super().send_headers()
            self._head = self.conn.wfile.getvalue()
        finally:
            self.conn.wfile = stream
        if self.chunked_write:
            self._send(b"")

    def write(self, chunk: bytes) -> None:
        """Send a piece of the body, with the headers if it is the first."""
        if self.chunked_write:
            super().write(chunk)
        else:
            self._send(chunk)

    def respond(self) -> None:
        """Have the application answer."""
        super().respond()
        self._send(b"")  # the headers of an answer without a body

    def _send(self, piece: bytes) -> None:
        head, self._head = self._head, b""
        for data in (head + piece,) if len(piece) <= _COPIED else (head, piece):
            rest = memoryview(data)
            while rest:
                rest = rest[self.conn.socket.send(rest) :]


@functools.lru_cache(maxsize=1)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode("ascii")


class _Incoming(socket.SocketIO):
    """What a client sends."""

    is_held = False

    def readinto(self, buffer: Any) -> int | None:
        """Read, unless it is held; nothing is there to read then."""
        return None if self.is_held else super().readinto(buffer)


class _Stream(io.BufferedReader):
    """What a client sends, line by line; cheroot's own stream is the slow one that is written in Python."""

    raw: _Incoming

    def has_data(self) -> bool:
        """Tell whether something was read already that nobody has asked for yet."""
        self.raw.is_held = True
        try:
            return bool(self.peek(1))
        finally:
            self.raw.is_held = False


def _stream(sock: Any, mode: str, size: int) -> Any:
    return _Stream(_Incoming(sock, "rb"), size) if "r" in mode else MakeFile(sock, mode, size)


class Connection(HTTPConnection):
    """A connection of a client, with one request after the other."""

    RequestHandlerClass = _Request

    def __init__(self, server: Any, sock: Any, makefile: Any = None) -> None:
        """Talk to a client over a socket, in the clear or encrypted; its streams are ours, not those cheroot offers."""
        super().__init__(server, sock, _stream)
