"""Slow, silent and greedy clients of a running service cost an ordinary one little, and no descriptor for good."""

import contextlib
import functools
import http.client
import itertools
import resource
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from ironic.command.http_server import UNSENT_IN_KERNEL
from ironic.tests.functional.life import battery, greedy, half_open
from ironic.tests.live_service import Service, all_in_one, free_port, write_options
from ironic.tests.site import eventually

# The longest document that needs no login, and requests for it that are sent ahead.
DOCUMENT = b"GET /v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
AHEAD, FAR_AHEAD = 20, 64
# Answers of an ordinary client, with and without the others, and how often both are measured in turn.
ASKED, ROUNDS = 200, 3
# Seconds up to which a 99th percentile says more about this machine than about the service.
NOISE = 0.01
# Seconds that a single-threaded answer may take on a machine that does other things as well, whatever the others do.
PATIENCE = 5.0
MIB = 1024 * 1024


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
            "healthcheck": {"enabled": True},
            "deploy": {"http_root": directory / "httpboot"},
            "pxe": {"tftp_root": directory / "tftpboot"},
        },
    )
    with all_in_one([written], directory / "service.log", port) as running:
        yield running


@functools.cache
def _context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _secure(port: int, address: str = "127.0.0.1") -> ssl.SSLSocket:
    plain = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(address, 0))
    return _context().wrap_socket(plain)


def _answered(port: int) -> socket.socket:
    client = _secure(port)
    client.sendall(b"GET /v1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    return client


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


def _stalled_body(port: int) -> socket.socket:
    client = _secure(port)
    client.sendall(
        b"PUT /v1/nodes/nothing/states/provision HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 60000000\r\n\r\n"
    )
    # It is read up to the share of the address, and the rest stays in buffers of the kernel.
    client.settimeout(0.05)
    with contextlib.suppress(TimeoutError, OSError):
        client.sendall(b"x" * MIB)
    return client


def _stalled_body_for_nobody(port: int) -> socket.socket:
    client = _secure(port)
    with contextlib.suppress(OSError):
        client.sendall(
            b"POST /v1/nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99000000\r\n\r\n" + b"x" * 99_000
        )
    return client


def _unread(port: int, requests: bytes) -> socket.socket:
    """Send requests and leave the answers unread: the kernel takes a few KiB of them for the client."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.settimeout(60)
    plain.connect(("127.0.0.1", port))
    client = _context().wrap_socket(plain)
    client.sendall(requests)
    return client


def _slow_reader(port: int) -> socket.socket:
    return _unread(port, DOCUMENT)


def _ahead(port: int) -> socket.socket:
    return _unread(port, DOCUMENT * AHEAD)


def _far_ahead(port: int) -> socket.socket:
    return _unread(port, DOCUMENT * FAR_AHEAD)


def _slow_chunks(port: int, address: str = "127.0.0.1") -> socket.socket:
    """Bring more than a step of what is reserved for a body, and then hardly anything."""
    client = _secure(port, address)
    head = f"POST /v1/continue_inspection HTTP/1.1\r\nHost: x\r\n{_TYPED}Transfer-Encoding: chunked\r\n\r\n"
    client.sendall(head.encode() + b"%x\r\n" % (64 * MIB))
    client.settimeout(0.05)
    with contextlib.suppress(TimeoutError, OSError):
        client.sendall(b" " * 300 * 1024)
    return client


_TYPED = "Content-Type: application/json\r\nX-OpenStack-Ironic-API-Version: 1.96\r\n"
# Each is used once or twice, so that each of a thousand clients has one of its own.
_ADDRESSES = (f"127.{second}.{third}.1" for second in itertools.count(1) for third in range(1, 250))


def _idle_elsewhere(port: int) -> socket.socket:
    client = _secure(port, next(_ADDRESSES))
    client.sendall(b"GET /v1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert client.recv(1)
    return client


def _slow_chunks_elsewhere(port: int) -> socket.socket:
    return _slow_chunks(port, next(_ADDRESSES))


KINDS = {
    "slow head": _slow_head,
    "slow body": _slow_body,
    "stalled body": _stalled_body,
    "stalled body for nobody": _stalled_body_for_nobody,
    "slow reader": _slow_reader,
    "requests ahead": _ahead,
    "TLS silence": _silent,
    "bodies in chunks": _slow_chunks,
    "idle, many addresses": _idle_elsewhere,
}
FAR = {"requests far ahead": _far_ahead, "bodies in chunks, many addresses": _slow_chunks_elsewhere}
# They send a byte now and then.
TRICKLING = ("slow head", "slow body", "bodies in chunks", "bodies in chunks, many addresses")


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


def _p99(latencies: list[float]) -> float:
    return latencies[int(len(latencies) * 0.99)]


def _check_beside(service: Service, kind: str, how: str, attack: Callable[[], AbstractContextManager[object]]) -> None:
    """Check what an ordinary client notices of an attack, and put it into the account."""
    assert service.port is not None
    port, began = service.port, time.monotonic()
    _latencies(port)
    alone, beside = [], []
    for _ in range(ROUNDS):
        alone.append(_latencies(port))
        with attack():
            beside.append(_latencies(port))
    # Most rounds decide, as other programs of this machine may disturb one.
    quiet, busy = statistics.median(map(_p99, alone)), statistics.median(map(_p99, beside))
    assert busy <= 2 * max(quiet, NOISE)
    assert max(latencies[-1] for latencies in beside) < PATIENCE
    p50 = statistics.median(map(statistics.median, beside))
    text = f"p50 {p50 * 1000:.1f} ms, p99 {quiet * 1000:.1f} -> {busy * 1000:.1f} ms"
    battery.survived("API server", kind, how, text, time.monotonic() - began)


@contextlib.contextmanager
def _crowd(port: int, kind: str, count: int) -> Iterator[None]:
    """Have so many clients of a kind while the block runs."""
    with ExitStack() as clients, _trickling() as trickle:
        for _ in range(count):
            client = clients.enter_context((KINDS | FAR)[kind](port))
            if kind in TRICKLING:
                trickle(client)
        yield


@pytest.mark.battery
@pytest.mark.parametrize(
    ("kind", "count"),
    [
        *((kind, count) for kind in KINDS for count in (1, 20, 500)),
        ("requests far ahead", 900),
        ("idle, many addresses", 1000),
        ("bodies in chunks, many addresses", 1000),
    ],
)
def test_an_ordinary_client_hardly_notices(service: Service, kind: str, count: int) -> None:
    assert service.port is not None
    _check_beside(service, kind, f"{count} clients", functools.partial(_crowd, service.port, kind, count))


# Seconds of a flood before an ordinary client asks.
FLOOD_SECONDS = 2


@contextlib.contextmanager
def _flood(port: int, per_second: int) -> Iterator[None]:
    """Have an address begin so many handshakes a second, in a process of its own, while the block runs."""
    program = [sys.executable, "-m", half_open.__name__, str(port), GREEDY, str(per_second)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None and client.stdin is not None
        assert client.stdout.readline() == "begun\n"
        # As many are in their handshake by then as there may be.
        time.sleep(FLOOD_SECONDS)
        try:
            yield
        finally:
            client.stdin.close()


@pytest.mark.battery
@pytest.mark.parametrize("per_second", [200, 1200])
def test_half_open_handshakes_are_hardly_noticed(service: Service, per_second: int) -> None:
    assert service.port is not None
    before = _resident(service)
    attack = functools.partial(_flood, service.port, per_second)
    _check_beside(service, "half-open TLS", f"{per_second} a second", attack)
    # Two hundred of them at once, those that are being closed, and what waits to be collected.
    assert _resident(service) - before < 200 * MIB


def _resident(service: Service) -> int:
    """Return the bytes of memory that the process has."""
    status = Path(f"/proc/{service.process_id}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def test_its_slow_readers_really_leave_answers_unread(service: Service) -> None:
    assert service.port is not None
    with _slow_reader(service.port) as client:
        _latencies(service.port)
        client.settimeout(60)
        answer = client.recv(16384)
        length = int(answer.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
    # More than the kernels of both sides take, so some of it has to wait in the service.
    assert length > UNSENT_IN_KERNEL + 32 * 1024


# Connections of one address that ask, and how many of their requests may be answered before the one of another address
# that has come after all of them: turns leave a few, an order of arrival as many as there are connections.
CROWD, BEFORE = 100, 25
GREEDY = "127.0.0.2"


def _request(kind: str) -> bytes:
    method, path, body = greedy.ALL_KINDS[kind]
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        *(f"{name}: {value}" for name, value in greedy.HEADERS.items()),
    ]
    return "\r\n".join([*lines, f"Content-Length: {len(body or '')}", "", body or ""]).encode()


def _answered_addresses(service: Service) -> list[str]:
    """Return the addresses of all requests that were answered, in order."""
    return [line.split()[2] for line in service.log_file.with_name("access.log").read_text().splitlines()]


@contextlib.contextmanager
def _standing_still(service: Service) -> Iterator[None]:
    """Stop the process while the block runs: what arrives meanwhile is there at once when it goes on."""
    service.signal(signal.SIGSTOP)
    try:
        eventually(lambda: Path(f"/proc/{service.process_id}/stat").read_text().rpartition(")")[2].split()[0], "T")
        yield
    finally:
        service.signal(signal.SIGCONT)


@pytest.mark.parametrize("kind", [kind for kind in greedy.ALL_KINDS if kind not in ("large bodies", "health checks")])
def test_another_address_does_not_wait_for_the_requests_of_a_crowd(service: Service, kind: str) -> None:
    assert service.port is not None
    request, before = _request(kind), len(_answered_addresses(service))
    with ExitStack() as stack:
        crowd = [stack.enter_context(_secure(service.port, GREEDY)) for _ in range(CROWD)]
        other = stack.enter_context(_secure(service.port))
        with _standing_still(service):
            for client in crowd:
                client.sendall(request)
            other.sendall(request)
        eventually(lambda: len(_answered_addresses(service)) - before, CROWD + 1)
        assert _answered_addresses(service)[before:].index("127.0.0.1") <= BEFORE


def test_requests_far_ahead_of_a_client_that_does_not_read_are_not_answered(service: Service) -> None:
    assert service.port is not None
    before = len(_answered_addresses(service))
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(_far_ahead(service.port))
        for _ in range(ROUNDS):
            _latencies(service.port)
        assert len(_answered_addresses(service)) - before <= ROUNDS * ASKED + 20 * 5


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
            # The handshakes of the silent ones are limited, so others have their session already, and one answer: that
            # is what they may keep longest.
            for connect in (_answered, _silent):
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
