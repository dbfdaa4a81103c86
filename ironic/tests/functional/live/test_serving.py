"""It serves an application over TCP, TLS and Unix sockets, and ends without cutting anyone off."""

import gc
import http.client
import os
import socket
import ssl
import stat
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cheroot import wsgi

from ironic.command.serving import ApiServer, Listening, Tls
from ironic.command.turns import TakingTurns
from ironic.conf import CONF

LOOPBACK = ("127.0.0.1", 0)
# Twice the largest body that some route takes by default.
LARGEST = 128 * 1024 * 1024


def hello(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer every request alike."""
    start_response("200 OK", [("Content-Length", "5")])
    return [b"hello"]


@pytest.fixture
def serve() -> Iterator[Callable[..., ApiServer]]:
    """Return a function that starts a server, which is stopped at the end."""
    servers = []

    def start(application: Any, listening: Listening) -> ApiServer:
        server = ApiServer(application, listening)
        server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


def get(connection: http.client.HTTPConnection) -> bytes:
    """Send one request and return the body of its answer."""
    with closing(connection):
        connection.request("GET", "/")
        return connection.getresponse().read()


def port_of(server: ApiServer) -> int:
    """Return the port a server found for itself."""
    return int(server.url.rsplit(":", 1)[1])


def test_it_serves_tcp(serve: Callable[..., ApiServer]) -> None:
    server = serve(hello, Listening(LOOPBACK))
    assert server.url.startswith("http://127.0.0.1:")
    assert get(http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=5)) == b"hello"


def test_it_serves_a_unix_socket_with_the_mode_asked_for(serve: Callable[..., ApiServer], tmp_path: Path) -> None:
    path = tmp_path / "api.sock"
    serve(hello, Listening(str(path), socket_mode=0o600))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    connection = http.client.HTTPConnection("localhost", timeout=5)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(path))
    assert get(connection) == b"hello"


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    """Make a certificate for the loopback."""
    directory = tmp_path_factory.mktemp("tls")
    files = str(directory / "cert.pem"), str(directory / "key.pem")
    options = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1", "-nodes"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-out", files[0], "-keyout", files[1], *options],
        check=True,
        capture_output=True,
    )
    return Tls(*files)


def test_it_serves_tls_of_the_version_asked_for(serve: Callable[..., ApiServer], tls: Tls) -> None:
    server = serve(hello, Listening(LOOPBACK, tls=tls))
    trusting = ssl.create_default_context(cafile=tls.certificate)
    assert server.url.startswith("https://")
    assert get(http.client.HTTPSConnection("127.0.0.1", port_of(server), timeout=5, context=trusting)) == b"hello"
    trusting.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError):
        get(http.client.HTTPSConnection("127.0.0.1", port_of(server), timeout=5, context=trusting))


def test_a_client_that_is_cut_off_is_no_error(
    serve: Callable[..., ApiServer], tls: Tls, caplog: pytest.LogCaptureFixture
) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        entered.set()
        leave.wait(10)
        start_response("200 OK", [])
        return (b"hello" for _ in range(1000))

    caplog.set_level("INFO")
    server = serve(slow, Listening(LOOPBACK, tls=tls))
    trusting = ssl.create_default_context(cafile=tls.certificate)
    connection = http.client.HTTPSConnection("127.0.0.1", port_of(server), timeout=5, context=trusting)
    connection.request("GET", "/")
    assert entered.wait(5)
    os.close(connection.sock.detach())  # without a good-bye
    leave.set()
    server.stop()
    assert "A client has gone before it had its answer" in caplog.text
    assert "Traceback" not in caplog.text


# cheroot forgets to close the socket that it could not bind; collecting it here keeps the warning here.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_taken_port_is_found_at_start(serve: Callable[..., ApiServer]) -> None:
    taken = port_of(serve(hello, Listening(LOOPBACK)))
    with pytest.raises(OSError, match="in use"):
        ApiServer(hello, Listening(("127.0.0.1", taken))).start()
    gc.collect()


def test_stopping_waits_for_the_request_that_runs() -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        entered.set()
        leave.wait(10)
        return hello(environ, start_response)

    server = ApiServer(slow, Listening(LOOPBACK))
    server.start()
    answers: list[bytes] = []
    connection = http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=10)
    client = threading.Thread(target=lambda: answers.append(get(connection)))
    client.start()
    assert entered.wait(5)
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    leave.set()
    client.join(10)
    stopping.join(15)
    assert answers == [b"hello"]
    assert not stopping.is_alive()


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


def test_requests_that_compute_are_served_by_one_thread() -> None:
    names = []

    def named(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        names.append(threading.current_thread().name)
        return hello(environ, start_response)

    server = wsgi.Server(LOOPBACK, named)
    server.requests = TakingTurns(server, threads=4, patience=60)
    server.prepare()
    serving = threading.Thread(target=server.serve)
    serving.start()
    for client in ask(server.bind_addr[1], 20):
        client.join(20)
    server.stop()
    serving.join(20)
    assert len(names) == 20
    assert len(set(names)) == 1


def test_the_options_say_where_and_how(conf: Any) -> None:
    conf(api__host_ip="::1", api__port=7000, api__api_workers=3)
    assert Listening.from_conf(CONF) == Listening(("::1", 7000), threads=30, body_limit=LARGEST)
    conf(api__unix_socket="/run/api.sock", api__unix_socket_mode="0660", api__enable_ssl_api=True)
    conf(api__cert_file="c", api__key_file="k", api__server_tls_minimum_version="1.2")
    expected = Listening("/run/api.sock", threads=30, tls=Tls("c", "k", "1.2"), socket_mode=0o660, body_limit=LARGEST)
    assert Listening.from_conf(CONF) == expected


def test_https_without_a_certificate_is_refused(conf: Any) -> None:
    conf(api__enable_ssl_api=True, api__cert_file="c")
    with pytest.raises(ValueError, match="key_file"):
        Listening.from_conf(CONF)
