"""Answers leave in one piece, and requests that can be read in two ways are refused."""

import socket
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from ironic.command.http_server import ApiServer, ServerSettings
from ironic.command.server_tls import Tls
from ironic.tests.functional.live.http_server import LOOPBACK, hello, port_of


def exchange(port: int, method: str = "GET") -> bytes:
    """Send one request and return all that comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(f"{method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: client.recv(65536), b""))


def test_headers_and_body_leave_together(serve: Callable[..., ApiServer]) -> None:
    port = port_of(serve(hello, ServerSettings(LOOPBACK)))
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(65536).endswith(b"\r\n\r\nhello")


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_long_answer_arrives_whole(serve: Callable[..., ApiServer], tls: Tls, encrypted: bool) -> None:
    body = bytes(range(256)) * 20_000

    def long(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body]

    port = port_of(serve(long, ServerSettings(LOOPBACK, tls=tls if encrypted else None)))
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        context = ssl.create_default_context(cafile=tls.certificate)
        client = context.wrap_socket(plain, server_hostname="127.0.0.1") if encrypted else plain
        with client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.partition(b"\r\n\r\n")[2] == body


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_an_answer_may_have_no_body(serve: Callable[..., ApiServer], status: str) -> None:
    def nothing(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response(status, [])
        return []

    answer = exchange(port_of(serve(nothing, ServerSettings(LOOPBACK))))
    assert answer.startswith(f"HTTP/1.1 {status}\r\n".encode())
    assert answer.endswith(b"\r\n\r\n")
    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("pieces", [[], [b"he", b"llo"]])
def test_an_answer_in_pieces_says_its_length(serve: Callable[..., ApiServer], pieces: list[bytes]) -> None:
    def in_pieces(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [])
        return iter(pieces)

    head, _, rest = exchange(port_of(serve(in_pieces, ServerSettings(LOOPBACK)))).partition(b"\r\n\r\n")
    assert f"Content-Length: {len(b''.join(pieces))}".encode() in head
    assert rest == b"".join(pieces)


@pytest.mark.parametrize(
    "headers",
    [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: -5",
        "Content-Length: +5",
        "Content-Length: 0_5",
        "Content-Length : 5",
        ": 5",
        "Content-Length",
    ],
)
def test_headers_that_can_be_read_in_two_ways_are_refused(serve: Callable[..., ApiServer], headers: str) -> None:
    port = port_of(serve(hello, ServerSettings(LOOPBACK)))
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(f"POST / HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\nhello".encode())
        assert client.recv(65536).startswith(b"HTTP/1.1 400 Bad Request\r\n")
