"""Threads that wait keep nobody out, those that compute take their turns, and clients can't occupy them."""

import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from cheroot import wsgi

from ironic.command.serving import BACKLOG, KEPT_CONNECTIONS, ApiServer, Listening, Tls
from ironic.command.turns import Turns
from ironic.tests.functional.live.http_server import LOOPBACK, get, hello, port_of


def ask(port: int, times: int = 1) -> list[threading.Thread]:
    """Send so many requests at once, each of a client of its own."""

    def client() -> None:
        assert get(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) == b"hello"

    clients = [threading.Thread(target=client) for _ in range(times)]
    for each in clients:
        each.start()
    return clients


def test_requests_that_wait_keep_nobody_out(serve: Callable[..., ApiServer]) -> None:
    entered, leave = threading.Semaphore(0), threading.Event()

    def slow_at_first(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not leave.is_set():
            entered.release()
            leave.wait(20)
        return hello(environ, start_response)

    server = serve(slow_at_first, Listening(LOOPBACK, threads=4))
    waiting = ask(port_of(server), 3)
    for _ in waiting:
        assert entered.acquire(timeout=10)
    fourth = ask(port_of(server))
    assert entered.acquire(timeout=10)
    more = ask(port_of(server), 8)  # than there are threads
    leave.set()
    for client in waiting + fourth + more:
        client.join(20)
        assert not client.is_alive()


@pytest.fixture
def take_turns() -> Iterator[Callable[..., wsgi.Server]]:
    """Return a function that serves an application with turns of its own making; it is stopped at the end."""
    servers = []

    def start(application: Any, *, threads: int = 4, patience: float = 60, timeout: int = 10) -> wsgi.Server:
        server = wsgi.Server(LOOPBACK, application, timeout=timeout, request_queue_size=BACKLOG)
        server.requests = Turns(server, threads=threads, patience=patience)
        server.prepare()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


def test_requests_that_compute_are_served_by_one_thread(take_turns: Callable[..., wsgi.Server]) -> None:
    names = []

    def named(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        names.append(threading.current_thread().name)
        return hello(environ, start_response)

    server = take_turns(named)
    for client in ask(server.bind_addr[1], 20):
        client.join(20)
    assert len(names) == 20
    assert len(set(names)) == 1


def test_clients_that_say_nothing_keep_nobody_out(take_turns: Callable[..., wsgi.Server]) -> None:
    server = take_turns(hello, threads=1, timeout=120)
    address = server.bind_addr
    with ExitStack() as silent:
        for _ in range(20):
            silent.enter_context(socket.create_connection(address, timeout=30))
        assert get(http.client.HTTPConnection("127.0.0.1", address[1], timeout=30)) == b"hello"


def test_a_crowd_that_comes_while_all_are_busy_is_served(take_turns: Callable[..., wsgi.Server]) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow_at_first(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        entered.set()
        leave.wait(20)
        return hello(environ, start_response)

    port = take_turns(slow_at_first, threads=1).bind_addr[1]
    (busy,) = ask(port)
    assert entered.wait(30)
    with ExitStack() as crowd:
        clients = [http.client.HTTPConnection("127.0.0.1", port, timeout=30) for _ in range(300)]
        for client in clients:
            crowd.callback(client.close)
            client.request("GET", "/")
        leave.set()
        assert {client.getresponse().read() for client in clients} == {b"hello"}
    busy.join(20)


def test_a_handshake_that_does_not_go_on_keeps_nobody_out(serve: Callable[..., ApiServer], tls: Tls) -> None:
    server = serve(hello, Listening(LOOPBACK, threads=2, tls=tls))
    trusting = ssl.create_default_context(cafile=tls.certificate)
    # The stalled client is hung up on after ten seconds; nobody may wait for that.
    with socket.create_connection(("127.0.0.1", port_of(server)), timeout=30):
        assert get(http.client.HTTPSConnection("127.0.0.1", port_of(server), timeout=8, context=trusting)) == b"hello"


def test_requests_sent_ahead_are_answered_and_keep_nobody_out(take_turns: Callable[..., wsgi.Server]) -> None:
    server = take_turns(hello, threads=1)
    with socket.create_connection(server.bind_addr, timeout=10) as eager:
        eager.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        assert get(http.client.HTTPConnection("127.0.0.1", server.bind_addr[1], timeout=30)) == b"hello"
        eager.shutdown(socket.SHUT_WR)
        answers = b"".join(iter(lambda: eager.recv(65536), b""))
    assert answers.count(b"200 OK") == answers.count(b"hello") == 50


def test_connections_that_nobody_uses_are_closed(take_turns: Callable[..., wsgi.Server]) -> None:
    server = take_turns(hello, timeout=1)
    with socket.create_connection(server.bind_addr, timeout=10) as unused:
        assert unused.recv(1) == b""
    assert server.requests.kept == 0


def test_what_is_kept_past_the_limit_is_closed_after_its_answer(serve: Callable[..., ApiServer]) -> None:
    server = serve(hello, Listening(LOOPBACK))
    with ExitStack() as others:
        for _ in range(KEPT_CONNECTIONS):
            others.enter_context(socket.create_connection(("127.0.0.1", port_of(server)), timeout=30))
        with closing(http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)) as connection:
            connection.request("GET", "/")
            answer = connection.getresponse()
            assert answer.read() == b"hello"
            assert answer.headers["Connection"] == "close"


def test_who_knocks_while_it_stops_is_sent_away(take_turns: Callable[..., wsgi.Server]) -> None:
    server = take_turns(hello, threads=1)
    server.requests._stopping.set()
    with socket.create_connection(server.bind_addr, timeout=30) as late:
        assert late.recv(1) == b""


def test_stopping_does_not_wait_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        entered.set()
        leave.wait(20)
        return hello(environ, start_response)

    server = wsgi.Server(LOOPBACK, slow, shutdown_timeout=1)
    server.requests = Turns(server, threads=2)
    server.prepare()
    with closing(http.client.HTTPConnection("127.0.0.1", server.bind_addr[1], timeout=10)) as client:
        client.request("GET", "/")
        assert entered.wait(30)
        server.stop()
        leave.set()
        assert "1 API requests did not end within 1 seconds" in caplog.text
