"""Requests that wait do not block others, and clients can't exhaust threads, descriptors or memory of the server."""

import contextlib
import http.client
import os
import resource
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from ironic.command import http_answers, http_bodies, http_connection, http_server, tls_listener
from ironic.command.http_connection import MOST_PIPELINED
from ironic.command.http_server import ApiServer, ServerSettings
from ironic.command.server_tls import Tls
from ironic.tests.functional.live.http_server import LOOPBACK, get, hello, port_of

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def ask(port: int, times: int = 1) -> list[threading.Thread]:
    """Send so many requests at once, each of a client of its own."""

    def client() -> None:
        assert get(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) == b"hello"

    clients = [threading.Thread(target=client) for _ in range(times)]
    for each in clients:
        each.start()
    return clients


class Gate:
    """An application whose requests wait until they are let through."""

    def __init__(self) -> None:
        self.entered, self.leave = threading.Semaphore(0), threading.Event()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not self.leave.is_set():
            self.entered.release()
            self.leave.wait(60)
        return hello(environ, start_response)


def answer_of(port: int, sent: bytes) -> bytes:
    """Send this and return all that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(sent)
        return b"".join(iter(lambda: client.recv(65536), b""))


def test_requests_that_wait_keep_nobody_out(serve: Callable[..., ApiServer]) -> None:
    gate = Gate()
    server = serve(gate, ServerSettings(LOOPBACK, threads=4))
    waiting = ask(port_of(server), 3)
    for _ in waiting:
        assert gate.entered.acquire(timeout=30)
    fourth = ask(port_of(server))
    assert gate.entered.acquire(timeout=30)
    more = ask(port_of(server), 8)  # than there are threads
    gate.leave.set()
    for client in waiting + fourth + more:
        client.join(30)
        assert not client.is_alive()


def test_a_crowd_that_comes_while_all_are_busy_is_served(serve: Callable[..., ApiServer]) -> None:
    gate = Gate()
    port = port_of(serve(gate, ServerSettings(LOOPBACK, threads=1)))
    (busy,) = ask(port)
    assert gate.entered.acquire(timeout=30)
    with ExitStack() as crowd:
        clients = [http.client.HTTPConnection("127.0.0.1", port, timeout=30) for _ in range(300)]
        for client in clients:
            crowd.callback(client.close)
            client.request("GET", "/")
        gate.leave.set()
        assert {client.getresponse().read() for client in clients} == {b"hello"}
    busy.join(20)


def test_requests_sent_ahead_are_answered_in_order(serve: Callable[..., ApiServer]) -> None:
    def echo(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [environ["PATH_INFO"].encode()]

    port = port_of(serve(echo, ServerSettings(LOOPBACK, threads=4)))
    with socket.create_connection(("127.0.0.1", port), timeout=30) as eager:
        eager.sendall(b"".join(b"GET /<%d> HTTP/1.1\r\nHost: x\r\n\r\n" % n for n in range(MOST_PIPELINED)))
        eager.sendall(b"GET /<%d> HTTP/1.1\r\nHost: x\r\n\r\n" % MOST_PIPELINED)
        eager.shutdown(socket.SHUT_WR)
        answers = b"".join(iter(lambda: eager.recv(65536), b""))
    assert [int(part.split(b">")[0]) for part in answers.split(b"/<")[1:]] == list(range(MOST_PIPELINED + 1))


def test_who_sends_too_far_ahead_gets_some_answers_and_is_closed(serve: Callable[..., ApiServer]) -> None:
    port = port_of(serve(hello, ServerSettings(LOOPBACK)))
    with socket.create_connection(("127.0.0.1", port), timeout=30) as eager:
        eager.sendall(REQUEST * (MOST_PIPELINED + 2))
        answers = b"".join(_received(eager))
    assert answers.count(b"hello") == MOST_PIPELINED + 1
    assert answers.count(b"HTTP/1.1 429 Too Many Requests\r\n") == 1


def test_no_request_is_begun_before_the_last_answer_has_left(serve: Callable[..., ApiServer]) -> None:
    begun: list[str] = []

    def much(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        begun.append(environ["PATH_INFO"])
        start_response("200 OK", [])
        return [b"x" * 1_000_000]

    server = serve(much, ServerSettings(LOOPBACK, threads=4))
    with unread(port_of(server)) as eager:
        eager.sendall(b"".join(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % n for n in range(3)))
        # A later client is answered meanwhile, and the first one has its first answer still.
        for client in ask(port_of(serve(hello, ServerSettings(LOOPBACK))), 3):
            client.join(30)
        _until(lambda: bool(server._bridge.answers.unsent))
        assert begun == ["/0"]
        received = 0
        while received < 3_000_000:
            received += len(eager.recv(65536))
    assert begun == ["/0", "/1", "/2"]
    _until(lambda: not server._bridge.answers.unsent)


def unread(port: int) -> socket.socket:
    """Return a connection whose client takes little until it reads."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(30)
    client.connect(("127.0.0.1", port))
    return client


@pytest.mark.parametrize("size", [30_000, 1_000_000])
def test_unread_answers_of_any_size_count_and_are_given_back(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(http_answers, "MOST_UNSENT", 5 * size)
    answered: set[str] = set()

    def some(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answered.add(environ["REMOTE_PORT"])
        start_response("200 OK", [])
        return [b"x" * size]

    server = serve(some, ServerSettings(LOOPBACK))
    with ExitStack() as clients:
        # The kernel takes some of the short ones.
        for _ in range(12):
            clients.enter_context(unread(port_of(server))).sendall(REQUEST * (MOST_PIPELINED + 1))
        _until(lambda: len(answered) == 12 and 0 < len(server._connections) <= 5)
        assert sum(server._bridge.answers.unsent.values()) <= 5 * size
    # Who waits for an answer to leave hears of the end of its connection a moment after it.
    _until(lambda: not (server._connections or server._bridge.answers.unsent or server._bridge.answers._of_address))


def test_who_leaves_most_unread_is_cut_off_first(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_answers, "MOST_UNSENT", 5_000_000)

    def some(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [b"x" * 1_000_000]

    server = serve(some, ServerSettings(("0.0.0.0", 0)))
    with unread(port_of(server)) as ordinary, ExitStack() as greedy:
        ordinary.sendall(REQUEST)
        _until(lambda: len(server._bridge.answers.unsent) == 1)
        for _ in range(8):
            client = greedy.enter_context(
                socket.create_connection(("127.0.0.1", port_of(server)), timeout=30, source_address=("127.0.0.2", 0))
            )
            client.sendall(REQUEST * 2)
        _until(lambda: len(server._connections) <= 5)
        received = 0
        while piece := ordinary.recv(65536):
            received += len(piece)
            if received > 1_000_000:
                break
        assert received > 1_000_000


def _received(client: socket.socket) -> Iterator[bytes]:
    with contextlib.suppress(ConnectionError):
        while piece := client.recv(65536):
            yield piece


def test_connections_that_nobody_uses_are_closed(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connection, "HEAD_SECONDS", 1)
    monkeypatch.setattr(http_connection, "IDLE_SECONDS", 1)
    port = port_of(serve(hello, ServerSettings(LOOPBACK)))
    with socket.create_connection(("127.0.0.1", port), timeout=30) as unused:
        assert unused.recv(1) == b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as used:
        used.sendall(REQUEST)
        assert b"".join(iter(lambda: used.recv(65536), b"")).endswith(b"hello")


def test_secure_clients_that_never_close_are_cut_off_and_the_server_goes_on(
    serve: Callable[..., ApiServer], tls: Tls, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HEAD_SECONDS", "IDLE_SECONDS", "LINGER_SECONDS"):
        monkeypatch.setattr(http_connection, name, 1)
    server = serve(hello, ServerSettings(LOOPBACK, tls=tls))
    context = ssl.create_default_context(cafile=tls.certificate)

    def secure() -> ssl.SSLSocket:
        plain = socket.create_connection(("127.0.0.1", port_of(server)), timeout=30)
        return context.wrap_socket(plain, server_hostname="127.0.0.1")

    # They are silent after the handshake, after an answer, and in a head, and don't answer the end of the session.
    with ExitStack() as clients:
        for sent in (b"", REQUEST, b"GET /"):
            client = clients.enter_context(secure())
            client.sendall(sent)
        _until(lambda: len(server._connections) == 3)
        _until(lambda: not server._connections)
        with secure() as other:
            other.sendall(REQUEST)
            assert other.recv(65536)
            # It is open still while the server stops.
            server.stop()
    assert not server._thread.is_alive()


def test_a_fault_with_one_client_does_not_end_the_server(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: http_connection.Connection) -> None:
        raise RuntimeError("what nobody foresaw")

    monkeypatch.setattr(http_connection, "HEAD_SECONDS", 0)
    server = serve(hello, ServerSettings(LOOPBACK))
    with monkeypatch.context() as patch:
        patch.setattr(http_connection.Connection, "expire", fail)
        client = socket.create_connection(("127.0.0.1", port_of(server)), timeout=30)
        with client, contextlib.suppress(ConnectionResetError):
            assert client.recv(1) == b""
    monkeypatch.setattr(http_connection, "HEAD_SECONDS", 10)
    assert get(http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)) == b"hello"
    assert "could not be ended and is cut off" in caplog.text


@pytest.mark.parametrize(
    "beginning",
    [b"GET /", b"GET / HTTP/1.1\r\nHost: x\r\nA: b", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab"],
)
def test_a_request_that_never_ends_is_given_up_however_it_trickles(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch, beginning: bytes
) -> None:
    monkeypatch.setattr(http_connection, "HEAD_SECONDS", 1)
    monkeypatch.setattr(http_connection, "BODY_SECONDS", 1)
    port = port_of(serve(hello, ServerSettings(LOOPBACK)))
    with socket.create_connection(("127.0.0.1", port), timeout=0.2) as slow:
        slow.sendall(beginning)
        answer = b""
        for _ in range(300):  # a byte now and then, for ever if it were allowed
            with contextlib.suppress(TimeoutError):
                answer = slow.recv(65536)
                break
            if b"\r\n\r\n" not in beginning:
                slow.sendall(b"x")
    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")


@pytest.mark.parametrize("encrypted", [False, True])
def test_who_does_not_read_is_cut_off(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch, tls: Tls, encrypted: bool
) -> None:
    monkeypatch.setattr(http_connection, "WRITE_SECONDS", 1)
    body = b"x" * 50_000_000

    def much(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [body]

    server = serve(much, ServerSettings(LOOPBACK, tls=tls if encrypted else None))
    with socket.create_connection(("127.0.0.1", port_of(server)), timeout=30) as plain:
        context = ssl.create_default_context(cafile=tls.certificate)
        client = context.wrap_socket(plain, server_hostname="127.0.0.1") if encrypted else plain
        with client:
            client.sendall(REQUEST)
            _until(lambda: bool(server._bridge.answers.unsent))
            _until(lambda: not server._connections)
            received = 0
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                while piece := client.recv(65536):
                    received += len(piece)
            assert received < len(body)


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen in half a minute")


def test_answers_that_nobody_takes_are_bounded(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_answers, "MOST_UNSENT", 30_000_000)
    body, asked = b"x" * 10_000_000, []

    def much(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        asked.append(environ["REMOTE_PORT"])
        start_response("200 OK", [])
        return [body]

    server = serve(much, ServerSettings(LOOPBACK))
    with ExitStack() as clients:
        for _ in range(8):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", port_of(server)), timeout=30))
            client.sendall(REQUEST)
        _until(lambda: len(asked) == 8 and len(server._connections) <= 3)


def test_large_bodies_share_memory(serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch) -> None:
    # An address has half of what it leaves free: two of them.
    monkeypatch.setattr(http_bodies, "MOST_BODIES", 7_000_000)
    most = 0

    def measure(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        nonlocal most
        assert len(environ["wsgi.input"].read()) == int(environ["CONTENT_LENGTH"]) == 1_000_000
        most = max(most, server._bridge.bodies.taken)
        return hello(environ, start_response)

    server = serve(measure, ServerSettings(LOOPBACK, body_limit=1_000_000))
    post = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1_000_000
    answers: list[bytes] = []
    clients = [threading.Thread(target=lambda: answers.append(answer_of(port_of(server), post))) for _ in range(40)]
    for client in clients:
        client.start()
    for client in clients:
        client.join(60)
    assert [answer[-5:] for answer in answers] == [b"hello"] * 40
    assert most == 2_000_000
    assert server._bridge.bodies.taken == 0


def reading(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer with the length of the body."""
    start_response("200 OK", [])
    return [b"%d" % len(environ["wsgi.input"].read())]


def test_a_client_that_goes_gives_back_what_it_held(serve: Callable[..., ApiServer]) -> None:
    server = serve(reading, ServerSettings(LOOPBACK))
    with socket.create_connection(("127.0.0.1", port_of(server)), timeout=30) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n" + b"x" * 300_000)
        _until(lambda: server._bridge.bodies.taken == 500_000)
    _until(lambda: server._bridge.bodies.taken == 0 and not server._connections)


def test_nine_hundred_idle_clients_leave_descriptors_for_others(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 100)
    server = serve(hello, ServerSettings(LOOPBACK))
    with ExitStack() as idle:
        for _ in range(900):
            idle.enter_context(socket.create_connection(("127.0.0.1", port_of(server)), timeout=30))
            assert len(server._connections) <= 100
        assert get(http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)) == b"hello"
    assert get(http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)) == b"hello"


def test_clients_that_begin_no_tls_session_leave_descriptors_for_others(
    serve: Callable[..., ApiServer], tls: Tls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls_listener, "MOST_HANDSHAKES", 20)
    server = serve(hello, ServerSettings(LOOPBACK, tls=tls))
    port, context = port_of(server), ssl.create_default_context(cafile=tls.certificate)
    with closing(http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)) as known:
        known.request("GET", "/")
        assert known.getresponse().read() == b"hello"
        kept = known.sock
        before = len(os.listdir("/proc/self/fd"))
        with ExitStack() as idle:
            for _ in range(300):
                idle.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            _until(lambda: len(os.listdir("/proc/self/fd")) - before <= 300 + 25)
            known.request("GET", "/")
            assert known.getresponse().read() == b"hello"
            assert known.sock is kept
            assert get(http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)) == b"hello"


def test_who_waits_for_an_answer_is_not_sent_away_for_others(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 3)
    gate = Gate()
    port = port_of(serve(gate, ServerSettings(LOOPBACK)))
    busy = ask(port, 3)
    for _ in busy:
        assert gate.entered.acquire(timeout=30)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as fourth, contextlib.suppress(ConnectionError):
        assert fourth.recv(1) == b""
    gate.leave.set()
    for client in busy:
        client.join(30)
        assert not client.is_alive()


def test_it_recovers_from_running_out_of_descriptors(
    serve: Callable[..., ApiServer], caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(hello, ServerSettings(LOOPBACK))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with closing(socket.create_connection(("127.0.0.1", port_of(server)), timeout=30)) as first:
        first.sendall(REQUEST)
        assert first.recv(65536)
        with socket.socket() as late:
            # Others have taken all: what is open stays open, nothing new can be.
            resource.setrlimit(resource.RLIMIT_NOFILE, (late.fileno(), hard))
            try:
                late.connect(("127.0.0.1", port_of(server)))
                _until(lambda: "A client can't be let in" in caplog.text)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            late.settimeout(30)
            late.sendall(REQUEST)
            assert late.recv(65536).endswith(b"hello")


def test_who_knocks_while_it_stops_is_sent_away(serve: Callable[..., ApiServer]) -> None:
    gate = Gate()
    server = serve(gate, ServerSettings(LOOPBACK))
    (busy,) = ask(port_of(server))
    assert gate.entered.acquire(timeout=30)
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    _until(lambda: server._listener is None or server._listener.fileno() == -1)
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", port_of(server)), timeout=30)
    gate.leave.set()
    for thread in (busy, stopping):
        thread.join(30)
        assert not thread.is_alive()


def test_stopping_does_not_wait_for_ever(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "DRAIN_SECONDS", 1)
    gate = Gate()
    server = ApiServer(gate, ServerSettings(LOOPBACK, threads=2))
    server.start()
    with closing(http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)) as client:
        client.request("GET", "/")
        assert gate.entered.acquire(timeout=30)
        server.stop()
        gate.leave.set()
        assert "1 API requests did not end within 1 seconds" in caplog.text


def test_another_application_answers_from_the_next_request_on(serve: Callable[..., ApiServer]) -> None:
    def other(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [b"other"]

    server = serve(hello, ServerSettings(LOOPBACK))
    with closing(http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)) as client:
        client.request("GET", "/")
        assert client.getresponse().read() == b"hello"
        server.replace(other)
        client.request("GET", "/")
        assert client.getresponse().read() == b"other"


def test_what_no_thread_has_begun_is_not_done_for_a_client_that_went(serve: Callable[..., ApiServer]) -> None:
    gate, paths = Gate(), []

    def noting(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        paths.append(environ["PATH_INFO"])
        return gate(environ, start_response)

    server = serve(noting, ServerSettings(LOOPBACK, threads=1))
    (busy,) = ask(port_of(server))
    assert gate.entered.acquire(timeout=30)
    post = b"POST /gone HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60_000
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", port_of(server)), timeout=30) as client:
            client.sendall(post)
            _until(lambda: server._bridge._quick.size == 60_000)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # reset, not ended
        _until(lambda: server._bridge._quick.size == 0)
    gate.leave.set()
    busy.join(30)
    assert get(http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)) == b"hello"
    assert paths == ["/", "/"]


def test_ten_requests_that_wait_leave_threads_for_a_quick_one(serve: Callable[..., ApiServer]) -> None:
    gate = Gate()

    def slow_or_quick(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        return (hello if environ["PATH_INFO"] == "/quick" else gate)(environ, start_response)

    port = port_of(serve(slow_or_quick, ServerSettings(LOOPBACK)))
    slow = ask(port, 10)
    for _ in slow:
        assert gate.entered.acquire(timeout=30)
    assert answer_of(port, b"GET /quick HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").endswith(b"hello")
    gate.leave.set()
    for client in slow:
        client.join(30)
