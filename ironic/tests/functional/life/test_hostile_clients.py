"""Slow, silent and greedy clients of a running service cost an ordinary one little, and no descriptor for good."""

import contextlib
import http.client
import resource
import socket
import ssl
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ironic.tests.functional.life import battery
from ironic.tests.live_service import Service, all_in_one, free_port, write_options

REQUEST = b"GET /v1/nodes?limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n"
# Answers of an ordinary client, with and without the others.
ASKED = 200
# Seconds that a single-threaded answer may take on a machine that does other things as well, whatever the others do.
PATIENCE = 5.0


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("service")
    files = {name: str(directory / f"{name}.pem") for name in ("cert", "key")}
    options = ["-subj", "/CN=127.0.0.1", "-days", "1", "-nodes"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-out", files["cert"], "-keyout", files["key"], *options],
        check=True,
        capture_output=True,
    )
    port = free_port()
    written = write_options(
        directory / "ironic.conf",
        {
            "DEFAULT": {
                "auth_strategy": "noauth",
                "rpc_transport": "none",
                "enabled_hardware_types": "fake-hardware",
                "log_file": directory / "service.log",
                "state_path": directory,
            },
            "database": {"connection": f"sqlite:///{directory}/ironic.sqlite"},
            "api": {
                "host_ip": "127.0.0.1",
                "port": port,
                "enable_ssl_api": True,
                "cert_file": files["cert"],
                "key_file": files["key"],
            },
            "deploy": {"http_root": directory / "httpboot"},
            "pxe": {"tftp_root": directory / "tftpboot"},
        },
    )
    with all_in_one([written], directory / "service.log", port) as running:
        yield running


def _context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _secure(port: int) -> ssl.SSLSocket:
    return _context().wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=60))


def _silent(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def _slow_head(port: int) -> socket.socket:
    client = _secure(port)
    client.sendall(b"GET /v1 HTTP/1.1\r\nHost: x\r\nA: ")
    return client


def _slow_body(port: int) -> socket.socket:
    client = _secure(port)
    client.sendall(b"POST /v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + b"x" * 10_000)
    return client


def _slow_reader(port: int) -> socket.socket:
    client = _secure(port)
    client.sendall(REQUEST)
    return client


KINDS = {"slow head": _slow_head, "slow body": _slow_body, "slow reader": _slow_reader, "TLS silence": _silent}


def _latencies(port: int) -> list[float]:
    """Return how long an ordinary client waits for its answers, in seconds, sorted."""
    took = []
    client = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=_context())
    with contextlib.closing(client):
        for _ in range(ASKED):
            began = time.perf_counter()
            client.request("GET", "/v1")
            assert client.getresponse().read()
            took.append(time.perf_counter() - began)
    return sorted(took)


@pytest.mark.parametrize(
    "count", [pytest.param(1, marks=pytest.mark.battery), 20, pytest.param(500, marks=pytest.mark.battery)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_an_ordinary_client_hardly_notices(service: Service, kind: str, count: int) -> None:
    assert service.port is not None
    port, began = service.port, time.monotonic()
    alone = _latencies(port)
    with ExitStack() as crowd, _trickling() as trickle:
        for _ in range(count):
            client = crowd.enter_context(KINDS[kind](port))
            if kind in ("slow head", "slow body"):
                trickle(client)
        beside = _latencies(port)
    p99 = int(ASKED * 0.99)
    if count == 500:
        assert beside[p99] <= max(2 * alone[p99], 0.05)
    assert beside[-1] < PATIENCE
    text = f"p50 {statistics.median(beside) * 1000:.1f} ms, p99 {alone[p99] * 1000:.1f} -> {beside[p99] * 1000:.1f} ms"
    battery.survived("API server", kind, f"{count} clients", text, time.monotonic() - began)


@contextlib.contextmanager
def _trickling() -> Iterator[Callable[[socket.socket], None]]:
    """Send a byte of each client now and then while the block runs."""
    slow: list[socket.socket] = []
    ended = threading.Event()

    def send() -> None:
        while not ended.wait(1):
            for client in list(slow):
                with contextlib.suppress(OSError):
                    client.send(b"x")

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield slow.append
    finally:
        ended.set()
        thread.join()


def test_nine_hundred_idle_clients_under_512_descriptors(service: Service) -> None:
    assert service.port is not None
    began = time.monotonic()
    before = len(list(Path(f"/proc/{service.process_id}/fd").iterdir()))
    soft, hard = resource.prlimit(service.process_id, resource.RLIMIT_NOFILE)
    ours = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, ours[1]), ours[1]))
    # The server thinks that it has more: this is how it looks when others of the process take them.
    resource.prlimit(service.process_id, resource.RLIMIT_NOFILE, (512, hard))
    try:
        with ExitStack() as idle:
            # The handshakes of the silent ones are limited, so others have their session already.
            for connect in (_secure, _silent):
                for _ in range(450):
                    idle.enter_context(connect(service.port))
            assert _latencies(service.port)[-1] < 60
            assert "A client can't be let in to the API" in service.log
    finally:
        resource.prlimit(service.process_id, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, ours)
    assert _latencies(service.port)[-1] < PATIENCE
    for _ in range(600):
        if len(list(Path(f"/proc/{service.process_id}/fd").iterdir())) <= before + 5:
            break
        time.sleep(0.05)
    else:
        raise AssertionError("descriptors were not given back")
    assert "Traceback" not in service.log
    battery.survived("API server", "idle clients", "900 under 512 descriptors", "served", time.monotonic() - began)
