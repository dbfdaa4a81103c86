"""As many addresses as places: new clients get in, and those of other addresses keep what they have begun."""

import asyncio
import contextlib
import gc
import itertools
import socket
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ironic.command import http_connection, http_server, tls_listener
from ironic.command.file_server import FileServer
from ironic.command.http_server import ApiServer, HttpServer, ServerSettings
from ironic.command.server_tls import Tls
from ironic.command.tls_listener import TlsListener
from ironic.tests.functional.live.http_server import hello
from ironic.tests.site import eventually

PLACES = 40
REQUEST = b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n"
EVERY = ("0.0.0.0", 0)
ADDRESSES = (f"127.{second}.{third}.1" for second in range(1, 250) for third in range(1, 250))


def connected(server: HttpServer, address: str, said: bytes = b"") -> socket.socket:
    port = int(server.url.rsplit(":", 1)[1])
    client = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(address, 0))
    client.sendall(said)
    return client


def answer(client: socket.socket) -> bytes:
    """Return an answer, or what came of it before the connection ended."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while not received.endswith(b"hello") and (piece := client.recv(65536)):
            received += piece
    return received


@pytest.fixture(params=["API", "files"])
def full(
    request: pytest.FixtureRequest, serve: Callable[..., ApiServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HttpServer]:
    """Return a server with few places."""
    if request.param == "API":
        monkeypatch.setattr(http_server, "MOST_CONNECTIONS", PLACES)
        yield serve(hello, ServerSettings(EVERY))
        return
    (tmp_path / "file").write_bytes(b"hello")
    files = FileServer(str(tmp_path), EVERY, PLACES)
    files.start()
    yield files
    files.stop()


def test_idle_clients_of_many_addresses_keep_none_out(full: HttpServer) -> None:
    with ExitStack() as crowd:
        idle: list[socket.socket] = []
        for _ in range(PLACES):
            idle.append(crowd.enter_context(connected(full, next(ADDRESSES), REQUEST)))
            assert answer(idle[-1]).endswith(b"hello")
        for asked in range(PLACES // 2):
            # Those that still are there go on, so the longest idle is not the one that came first.
            with connected(full, next(ADDRESSES), REQUEST) as late:
                assert answer(late).endswith(b"hello")
                idle[-1].sendall(REQUEST)
                assert answer(idle[-1]).endswith(b"hello")
                assert idle[asked].recv(1) == b""  # cut off, in order
                crowd.enter_context(late.dup())


def test_silent_and_slow_clients_of_many_addresses_keep_none_out(full: HttpServer) -> None:
    beginnings = itertools.cycle([b"", b"GET /fi", b"GET /file HTTP/1.1\r\nA: "])
    with ExitStack() as crowd:
        for _ in range(2 * PLACES):
            crowd.enter_context(connected(full, next(ADDRESSES), next(beginnings)))
        for _ in range(PLACES // 2):
            late = crowd.enter_context(connected(full, next(ADDRESSES), REQUEST))
            assert answer(late).endswith(b"hello")


def test_a_request_under_way_outlives_newcomers_while_others_are_idle(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", PLACES)
    # The nearest deadline of all, had idle ones not to go first.
    monkeypatch.setattr(http_connection, "HEAD_SECONDS", 20)
    server = serve(hello, ServerSettings(EVERY))
    with ExitStack() as crowd:
        begun = crowd.enter_context(connected(server, next(ADDRESSES), REQUEST[:-2]))
        eventually(lambda: len(server._connections), 1)
        for _ in range(2 * PLACES):
            client = crowd.enter_context(connected(server, next(ADDRESSES), REQUEST))
            assert answer(client).endswith(b"hello")
        begun.sendall(b"\r\n")
        assert answer(begun).endswith(b"hello")


@pytest.fixture
def secure(serve: Callable[..., ApiServer], tls: Tls, monkeypatch: pytest.MonkeyPatch) -> ApiServer:
    monkeypatch.setattr(tls_listener, "MOST_HANDSHAKES", 20)
    return serve(hello, ServerSettings(EVERY, tls=tls))


def test_half_open_handshakes_of_one_address_end_none_of_another(secure: ApiServer, tls: Tls) -> None:
    context, listener = ssl.create_default_context(cafile=tls.certificate), secure._listener
    assert isinstance(listener, TlsListener)
    with ExitStack() as crowd:
        for _ in range(5):
            # It has come before them, and takes its time.
            plain = crowd.enter_context(connected(secure, next(ADDRESSES)))
            for _ in range(100):
                crowd.enter_context(connected(secure, "127.0.0.2"))
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
                client.sendall(REQUEST)
                assert answer(client).endswith(b"hello")
            assert listener.handshakes <= 2 * 20
    eventually(lambda: listener.handshakes, 0)


def test_handshakes_that_failed_leave_little_garbage(secure: ApiServer) -> None:
    listener = secure._listener
    assert isinstance(listener, TlsListener)
    gc.collect()
    before = sum(isinstance(each, SSLProtocol) for each in gc.get_objects())
    # What a collection by itself would free by chance is not counted on.
    gc.disable()
    try:
        with ExitStack() as crowd:
            for _ in range(400):
                crowd.enter_context(connected(secure, "127.0.0.2"))
            eventually(lambda: len(listener._ending), 0)
            left = sum(isinstance(each, SSLProtocol) for each in gc.get_objects()) - before
            assert left <= 3 * 20 + tls_listener.FAILED
        # A server that stops while clients leave has no time to close them all.
        eventually(lambda: listener.handshakes, 0)
    finally:
        gc.enable()


def test_a_server_that_stops_ends_handshakes(secure: ApiServer) -> None:
    listener = secure._listener
    assert isinstance(listener, TlsListener)
    with connected(secure, "127.0.0.2") as silent:
        eventually(lambda: listener.handshakes, 1)
        secure.stop()
        assert answer(silent) == b""
    assert all(each.socket.fileno() == -1 for each in listener._in_handshake.values())


def test_none_is_accepted_while_many_wait_to_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls_listener, "MOST_HANDSHAKES", 3)

    async def test() -> None:
        listener = TlsListener(socket.create_server(("127.0.0.1", 0)))
        with listener, ExitStack() as crowd:
            for _ in range(9):
                crowd.enter_context(socket.create_connection(listener.getsockname(), timeout=60))
            accepted = [listener.accept()[0] for _ in range(6)]
            for _ in range(3):
                with pytest.raises(BlockingIOError):
                    listener.accept()
            # Three were disconnected; the event loop is what closes them.
            assert (listener.handshakes, [each.fileno() >= 0 for each in accepted]) == (6, [True] * 6)
            accepted[0].close()
            accepted.append(listener.accept()[0])
            for client in accepted:
                client.close()

    asyncio.run(test())
