"""Bodies in chunks: they hold memory for what has arrived, bring more the more they hold, and leave room to others."""

import errno
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import pytest

from ironic.command import http_bodies, http_connection, wsgi_bridge
from ironic.command.http_bodies import SMALLER, STEP
from ironic.command.http_server import ApiServer, ServerSettings
from ironic.tests.functional.live.http_server import port_of
from ironic.tests.functional.live.test_large_uploads import length_of_answer, reading, rest_of
from ironic.tests.site import eventually

KIB, MIB = 1024, 1024 * 1024
HEAD = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunks(size: int) -> bytes:
    """Return so many bytes in chunks of 64 KiB, and one for the rest."""
    sizes = [64 * KIB] * (size // (64 * KIB)) + [size % (64 * KIB)]
    return b"".join(b"%x\r\n" % each + b"x" * each + b"\r\n" for each in sizes if each)


def begun(port: int, address: str, size: int, head: bytes = HEAD) -> socket.socket:
    """Return a client of this address that has sent so many bytes of a body in chunks."""
    client = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(address, 0))
    client.sendall(head + chunks(size))
    return client


@pytest.fixture
def served(serve: Callable[..., ApiServer]) -> ApiServer:
    return serve(reading, ServerSettings(("0.0.0.0", 0), body_limit=64 * MIB))


@pytest.mark.parametrize(
    ("sent", "held"), [(100 * KIB, SMALLER), (600 * KIB, STEP), (STEP + 500 * KIB, 2 * STEP), (5 * STEP // 2, 3 * STEP)]
)
def test_a_body_holds_what_has_arrived_and_a_step_at_most(served: ApiServer, sent: int, held: int) -> None:
    with begun(port_of(served), "127.0.0.2", sent) as client:
        eventually(lambda: served._bridge.bodies.taken, held)
        client.sendall(END)
        assert client.recv(65536).endswith(b"%d" % sent)
        eventually(lambda: served._bridge.bodies.taken, 0)


def test_bodies_of_two_addresses_that_hardly_move_keep_no_other_out(
    served: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connection, "STALL_SECONDS", 60)
    port = port_of(served)
    with ExitStack() as crowd:
        for address in ("127.0.0.2", "127.0.0.3"):
            for _ in range(3):
                crowd.enter_context(begun(port, address, 300 * KIB))
            announced = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 16777213\r\n\r\n"
            crowd.enter_context(begun(port, address, 300 * KIB, announced))
        eventually(lambda: served._bridge.bodies.taken, 6 * STEP + 2 * 16777213)
        for size in (100_000, 200_000, MIB, 16 * MIB, 48 * MIB):
            assert length_of_answer(port, size) == b"%d" % size


def test_a_body_that_holds_much_has_to_bring_much(served: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "STALL_SECONDS", 1)
    with begun(port_of(served), "127.0.0.2", 20 * MIB - 100 * KIB) as client:
        client.settimeout(0.1)
        # 100 KiB per second are six times what is asked of a short one.
        for _ in range(600):
            client.sendall(chunks(10 * KIB))
            try:
                answer = client.recv(65536)
                break
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_the_time_for_a_body_begins_once(served: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "BODY_SECONDS", 3)
    client, answer = begun(port_of(served), "127.0.0.2", 0), b""
    began = time.monotonic()
    with client:
        client.settimeout(0.05)
        while not answer and time.monotonic() - began < 20:
            client.sendall(chunks(200 * KIB))
            try:
                answer = client.recv(65536)
            except TimeoutError:
                continue
        sent = time.monotonic() - began
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert sent < 10


def test_one_that_finds_no_room_to_grow_is_refused_and_others_go_on(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_bodies, "MOST_BODIES", 3 * STEP)
    monkeypatch.setattr(wsgi_bridge, "LONGEST_WAIT", 0.5)
    monkeypatch.setattr(http_connection, "STALL_SECONDS", 60)
    server = serve(reading, ServerSettings(("0.0.0.0", 0), body_limit=64 * MIB))
    port = port_of(server)
    with begun(port, "127.0.0.2", STEP + 100 * KIB) as first:
        eventually(lambda: server._bridge.bodies.taken, 2 * STEP)
        with begun(port, "127.0.0.3", STEP + 100 * KIB) as second:
            answer = rest_of(second)
            assert answer.startswith(b"HTTP/1.1 503 ") and answer.endswith(b"no room"), answer
        first.sendall(chunks(STEP) + END)
        assert first.recv(65536).endswith(b"%d" % (2 * STEP + 100 * KIB))
    eventually(lambda: server._bridge.bodies.taken, 0)


@pytest.mark.parametrize("is_in_chunks", [True, False])
def test_small_reports_go_on_while_large_bodies_have_all_their_room(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch, is_in_chunks: bool
) -> None:
    monkeypatch.setattr(http_bodies, "MOST_BODIES", 3 * STEP)
    monkeypatch.setattr(http_connection, "STALL_SECONDS", 60)
    asked: list[dict[str, Any]] = []

    def noting(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        asked.append(environ)
        return reading(environ, start_response)

    server = serve(noting, ServerSettings(("0.0.0.0", 0), body_limit=64 * MIB))
    port, size = port_of(server), 200_000
    with ExitStack() as crowd:
        for number in range(3):
            crowd.enter_context(begun(port, f"127.0.0.{number + 2}", STEP - 1))
        eventually(lambda: server._bridge.bodies.taken, 3 * STEP)
        if is_in_chunks:
            with begun(port, "127.0.0.9", size) as client:
                client.sendall(END)
                assert client.recv(65536).endswith(b"%d" % size)
        else:
            assert length_of_answer(port, size) == b"%d" % size
        assert server._bridge.bodies.taken == 3 * STEP


@pytest.mark.parametrize(
    ("room", "size", "head"),
    [("MOST_BODIES", STEP, HEAD), ("MOST_BODIES", STEP, None), ("MOST_SMALLER", SMALLER, HEAD)],
    ids=["in chunks", "of known length", "smaller"],
)
def test_slow_bodies_of_many_addresses_keep_no_other_out(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch, room: str, size: int, head: bytes | None
) -> None:
    monkeypatch.setattr(http_bodies, room, 8 * size)
    monkeypatch.setattr(http_connection, "STALL_SECONDS", 60)
    server = serve(reading, ServerSettings(("0.0.0.0", 0), body_limit=64 * MIB))
    port, sent = port_of(server), size // 2 + 10 * KIB
    announced = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % size
    with ExitStack() as crowd:
        for number in range(8):
            client = crowd.enter_context(
                socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(f"127.0.1.{number + 1}", 0))
            )
            client.sendall(head + chunks(sent) if head else announced + b"x" * sent)
        eventually(lambda: server._bridge.bodies.taken, 8 * size)
        # They go on holding it all, but one that is refused.
        assert length_of_answer(port, size - 100) == b"%d" % (size - 100)
        eventually(lambda: server._bridge.bodies.taken, 7 * size)


def test_a_client_that_has_gone_unnoticed_is_refused_without_a_fault(
    serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[object] = []

    def write_eof(transport: object) -> None:
        # What the system says of a socket that the other side has reset while nothing was read from it.
        ended.append(transport)
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    monkeypatch.setattr(wsgi_bridge, "LONGEST_WAIT", 0.2)
    monkeypatch.setattr(http_bodies, "MOST_BODIES", 2 * STEP)
    monkeypatch.setattr(http_connection, "STALL_SECONDS", 60)
    monkeypatch.setattr(http_connection, "LINGER_SECONDS", 0.2)
    monkeypatch.setattr("asyncio.selector_events._SelectorSocketTransport.write_eof", write_eof)
    server = serve(reading, ServerSettings(("0.0.0.0", 0), body_limit=64 * MIB))
    with begun(port_of(server), "127.0.0.2", STEP + 100 * KIB):
        eventually(lambda: server._bridge.bodies.taken, 2 * STEP)
        with begun(port_of(server), "127.0.0.3", 300 * KIB) as gone:
            assert rest_of(gone).startswith(b"HTTP/1.1 503 ")
    assert ended
    assert "Exception in ASGI application" not in caplog.text
