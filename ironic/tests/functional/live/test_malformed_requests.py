"""Bytes that are hardly HTTP, sent to the running service: an answer of the 4xx kind, and it goes on serving."""

import contextlib
import socket
from collections.abc import Iterator

import pytest

from ironic.tests import fuzzing
from ironic.tests.live_service import Service

HEAD = b" HTTP/1.1\r\nHost: x\r\nX-OpenStack-Ironic-API-Version: 1.115\r\nConnection: close\r\n"
POST = b"POST /v1/nodes" + HEAD + b"Content-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
GET = b"GET /v1/nodes"

REQUESTS = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00" * 20 + b"\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "a zero in the path": GET + b"/a\0b" + HEAD + b"\r\n",
    "a path that is no text": GET + b"/\xff\xfe" + HEAD + b"\r\n",
    "a long path": GET + b"/" + b"a" * 200_000 + HEAD + b"\r\n",
    "a fragment": GET + b"#x" + HEAD + b"\r\n",
    "a broken escape": GET + b"/%zz" + HEAD + b"\r\n",
    "another server": b"GET http://other/v1/nodes" + HEAD + b"\r\n",
    "an odd method": b"G@T /v1/nodes" + HEAD + b"\r\n",
    "a header without a colon": GET + HEAD + b"nonsense\r\n\r\n",
    "a large header": GET + HEAD + b"X-A: " + b"a" * 1_000_000 + b"\r\n\r\n",
    "too many headers": GET + HEAD + b"".join(b"X-%d: a\r\n" % number for number in range(10_000)) + b"\r\n",
    "a negative length": POST + b"Content-Length: -5\r\n\r\n{}",
    "a length with a sign": POST + b"Content-Length: +2\r\n\r\n{}",
    "a length of letters": POST + b"Content-Length: abc\r\n\r\n{}",
    "a huge length": POST + b"Content-Length: 99999999999999999999\r\n\r\n{}",
    "a chunk of no size": CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n",
    "a chunk of negative size": CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n",
    "a chunk of absurd size": CHUNKED + b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    "a chunk larger than anything may be": CHUNKED + b"7fffffff\r\n{}",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with fuzzing.seeded(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.mark.parametrize("raw", REQUESTS.values(), ids=list(REQUESTS))
def test_it_is_refused_and_the_service_goes_on(service: Service, raw: bytes) -> None:
    assert service.port is not None
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        with contextlib.suppress(ConnectionError):  # it may have heard enough before the end
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
        received = _read(connection)
    # A client that still sends when the server closes the connection may lose the answer.
    assert received == b"" or received.startswith(b"HTTP/1.1 4"), received[:500]
    assert received or len(raw) > 100_000
    assert len(service.get("/v1/nodes").json()["nodes"]) == 1
    assert "Traceback" not in service.log


def _read(connection: socket.socket) -> bytes:
    found = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            found += part
    return found
