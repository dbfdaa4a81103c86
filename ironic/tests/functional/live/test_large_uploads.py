"""What the head shows is judged by it; a body that holds memory arrives in time, or its client is sent away."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from ironic.command import http_bodies, http_connection, wsgi_bridge
from ironic.command.http_server import ApiServer, ServerSettings
from ironic.core.permit import NO_ROOM
from ironic.tests.functional.live.http_server import LOOPBACK, port_of
from ironic.tests.live_service import Service, all_in_one, free_port
from ironic.tests.load import machine_free_options
from ironic.tests.site import eventually

KIB, MIB = 1024, 1024 * 1024
GREEDY = "127.0.0.2"


def reading(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer with the length of the body; a body without room is refused."""
    if NO_ROOM in environ:
        start_response("503 Service Unavailable", [])
        return [b"no room"]
    start_response("200 OK", [])
    return [b"%d" % len(environ["wsgi.input"].read())]


def head(length: int, path: str = "/", method: str = "POST") -> bytes:
    lines = (
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    )
    return "\r\n".join([*lines, "", ""]).encode()


def rest_of(client: socket.socket) -> bytes:
    return b"".join(iter(lambda: client.recv(65536), b""))


def length_of_answer(port: int, size: int) -> bytes:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(client):
        client.request("POST", "/", b"x" * size)
        return client.getresponse().read()


def test_a_body_that_stalls_is_given_up_and_others_do_not_wait_for_it(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connection, "STALL_SECONDS", 1)
    server = serve(reading, ServerSettings(("0.0.0.0", 0), body_limit=128 * MIB))
    port = port_of(server)
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(GREEDY, 0)) as client:
        client.sendall(head(100 * MIB) + b"x" * 66 * MIB)
        assert length_of_answer(port, MIB) == b"%d" % MIB
        assert rest_of(client).startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - began < http_connection.BODY_SECONDS / 2
    eventually(lambda: server._bridge.bodies.taken, 0)


def test_a_body_that_trickles_is_given_up(serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "STALL_SECONDS", 1)
    port = port_of(serve(reading, ServerSettings(LOOPBACK, body_limit=128 * MIB)))
    with socket.create_connection(("127.0.0.1", port), timeout=0.1) as client:
        client.sendall(head(64 * MIB))
        for _ in range(600):
            client.sendall(b"x" * 1000)
            try:
                answer = client.recv(65536)
                break
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_one_address_leaves_room_for_the_body_of_another(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A third, which the two that it gets need not be whole.
    monkeypatch.setattr(http_bodies, "MOST_BODIES", 7 * MIB)
    server = serve(reading, ServerSettings(("0.0.0.0", 0), body_limit=2 * MIB))
    port = port_of(server)
    with ExitStack() as crowd:
        for _ in range(20):
            client = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(GREEDY, 0))
            crowd.enter_context(client).sendall(head(MIB) + b"x" * 100_000)
        while server._bridge.bodies.taken < 2 * MIB:
            time.sleep(0.01)
        assert length_of_answer(port, 2 * MIB) == b"%d" % (2 * MIB)
        eventually(lambda: server._bridge.bodies.taken, 2 * MIB)


def test_an_address_that_has_its_share_is_refused_after_a_while_and_another_is_not(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_bodies, "MOST_BODIES", 7 * MIB)
    monkeypatch.setattr(wsgi_bridge, "LONGEST_WAIT", 1)
    server = serve(reading, ServerSettings(("0.0.0.0", 0), body_limit=2 * MIB))
    port = port_of(server)

    def of_greedy() -> socket.socket:
        return socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(GREEDY, 0))

    with ExitStack() as crowd:
        for _ in range(2):
            crowd.enter_context(of_greedy()).sendall(head(MIB) + b"x" * 100_000)
        eventually(lambda: server._bridge.bodies.taken, 2 * MIB)
        with of_greedy() as late:
            late.sendall(head(MIB) + b"x" * 100_000)
            assert length_of_answer(port, 2 * MIB) == b"%d" % (2 * MIB)
            answer = rest_of(late)
        assert answer.startswith(b"HTTP/1.1 503 "), answer
        assert answer.endswith(b"no room")
        assert server._bridge.bodies.taken == 2 * MIB
    eventually(lambda: server._bridge.bodies.taken, 0)


@pytest.mark.parametrize("size", [70_000, 200_000, 1_000_000])
def test_a_body_in_chunks_arrives_whole(serve: Callable[..., ApiServer], size: int) -> None:
    port = port_of(serve(reading, ServerSettings(LOOPBACK)))
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(client):
        for _ in range(2):
            client.request("POST", "/", iter([b"x" * 1000] * (size // 1000)), encode_chunked=True)
            assert client.getresponse().read() == b"%d" % size


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory, port = tmp_path_factory.mktemp("uploads"), free_port()
    with all_in_one([machine_free_options(directory, port)], directory / "ironic.log", port) as running:
        yield running


@pytest.mark.parametrize(
    ("path", "method", "length", "status"),
    [
        ("/v1/nowhere", "POST", 100 * MIB, 404),
        ("/v1/nodes", "PUT", 10 * MIB, 405),
        ("/v1/nodes", "POST", 2 * MIB, 413),
        ("/v1/nodes/nothing/states/provision", "PUT", 65 * MIB, 413),
        ("/v1/continue_inspection", "POST", 17 * MIB, 413),
        ("/v1", "POST", 10 * MIB, 405),
    ],
)
def test_the_head_alone_is_refused(service: Service, path: str, method: str, length: int, status: int) -> None:
    with socket.create_connection(("127.0.0.1", service.port or 0), timeout=60) as client:
        client.sendall(head(length, path, method))
        answer = rest_of(client)
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in answer
    document = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert document


def test_a_large_body_in_chunks_beyond_the_limit_of_its_route_is_refused_while_it_arrives(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.port or 0), timeout=60) as client:
        client.sendall(head(0, "/v1/nodes").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        for _ in range(20):
            client.sendall(chunk)
        assert rest_of(client).startswith(b"HTTP/1.1 413 ")


def test_a_large_body_is_counted_once_and_answered_as_ever(service: Service) -> None:
    answers = []

    def create(number: int) -> None:
        document = {
            "driver": "fake-hardware",
            "name": f"large-{number}",
            "instance_info": {"configdrive": "x" * 900_000},
        }
        client = http.client.HTTPConnection("127.0.0.1", service.port or 0, timeout=60)
        with closing(client):
            client.request(
                "POST",
                "/v1/nodes",
                json.dumps(document),
                {"Content-Type": "application/json", "X-OpenStack-Ironic-API-Version": "1.50"},
            )
            answer = client.getresponse()
            answers.append((answer.status, json.loads(answer.read())["instance_info"]))

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [(201, {"configdrive": "******"})] * 8


def test_a_client_that_sends_on_after_its_refusal_can_read_it(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connection, "LINGER_SECONDS", 0.5)
    port = port_of(serve(reading, ServerSettings(LOOPBACK, body_limit=MIB)))
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(head(2 * MIB))
        for _ in range(20):
            time.sleep(0.1)
            client.sendall(b"x" * 100 * KIB)
        assert rest_of(client).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(("name", "value"), [("BODY_SECONDS", 1), ("MOST_DISCARDED", MIB)])
def test_a_client_that_sends_for_ever_after_its_refusal_is_cut_off(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    monkeypatch.setattr(http_connection, "LINGER_SECONDS", 0.5)
    monkeypatch.setattr(http_connection, name, value)
    port, sent = port_of(serve(reading, ServerSettings(LOOPBACK, body_limit=MIB))), 0
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client, pytest.raises(OSError):
        client.sendall(head(2 * MIB))
        while sent < 50 * MIB:
            client.sendall(b"x" * 50 * KIB)
            sent += 50 * KIB
            time.sleep(0.01)
    assert sent < 50 * MIB
