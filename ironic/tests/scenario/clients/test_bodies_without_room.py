"""A large body for which the service has no memory: clients get the API's own 503, and see its text."""

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from openstack import exceptions

from ironic.api.inspector.old_api import InspectorApi
from ironic.command import http_bodies, wsgi_bridge
from ironic.command.http_bodies import SMALLER
from ironic.command.http_server import ApiServer, ServerSettings
from ironic.command.server_tls import Tls
from ironic.tests.functional.wire import service as services
from ironic.tests.scenario.clients.sdk import QUIET
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.clients.test_try_again_later import sdk
from ironic.tests.scenario.command_line import CommandFailed

pytestmark = QUIET

KIB, MIB = 1024, 1024 * 1024
TEXT = "Too many large requests arrive at the same time. Try again in a moment."
# Up to 128 KiB a body arrives whole in buffers of the service; 200 KiB and more wait in those of kernels and clients.
SIZES = [65 * KIB, 70_000, 100_000, 127 * KIB, 130_000, 200_000, 900_000]


@contextmanager
def without_room(server: ApiServer) -> Iterator[None]:
    """Fill the memory for bodies in the name of other addresses while the block runs."""

    def take(address: str, size: int) -> http_bodies.Reserved:
        body = server._bridge.bodies.of(address)
        asyncio.run_coroutine_threadsafe(body.grow(size), server._loop).result(30)
        return body

    bodies = [take(f"198.51.100.{number}", SMALLER) for number in range(http_bodies.MOST_SMALLER // SMALLER)]
    bodies.append(take("198.51.100.200", http_bodies.MOST_BODIES))
    yield
    for body in bodies:
        server._loop.call_soon_threadsafe(body.__exit__, None, None, None)


@pytest.fixture
def serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., tuple[ApiServer, services.Service]]]:
    """Return a function that serves an API that has no room for a large body."""
    monkeypatch.setattr(wsgi_bridge, "LONGEST_WAIT", 0.2)
    with ExitStack() as stack:

        def start(tls: Tls | None = None, **options: Any) -> tuple[ApiServer, services.Service]:
            running = services.start(tmp_path, **options)
            stack.callback(running.close)
            server = ApiServer(running.app, ServerSettings(("127.0.0.1", 0), body_limit=128 * MIB, tls=tls))
            server.start()
            stack.callback(server.stop)
            stack.enter_context(without_room(server))
            return server, running

        yield start


def check(answer: requests.Response, version: str = "1.50") -> None:
    assert answer.status_code == 503
    assert answer.headers["Content-Type"] == "application/json"
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.headers["X-OpenStack-Ironic-API-Version"] == version
    assert answer.headers["openstack-request-id"].startswith("req-")
    fault = json.loads(answer.json()["error_message"])
    assert fault == {"faultcode": "Server", "faultstring": TEXT, "debuginfo": None}


@pytest.mark.parametrize("size", SIZES)
def test_requests_shows_it_for_any_length(serve: Callable[..., tuple[ApiServer, services.Service]], size: int) -> None:
    server, running = serve()
    before = running.contents()
    body = json.dumps({"driver": "fake-hardware", "extra": {"a": "x" * size}}).encode()
    headers = {"Content-Type": "application/json", "X-OpenStack-Ironic-API-Version": "1.50"}
    # What arrives at once in chunks needs no room: its length was not known before.
    bodies: list[bytes | Iterator[bytes]] = [body]
    if size > 500_000:
        bodies.append(iter([body[:40_000], body[40_000:]]))
    for sent in bodies:
        check(requests.post(f"{server.url}/v1/nodes", sent, headers=headers, timeout=60))
    assert running.contents() == before


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_it_is_shown_for_a_body_that_takes_long_to_send(
    serve: Callable[..., tuple[ApiServer, services.Service]],
    tls: Tls,
    is_encrypted: bool,
) -> None:
    server, _ = serve(tls if is_encrypted else None)
    headers = {"Content-Type": "application/json", "X-OpenStack-Ironic-API-Version": "1.84"}
    answer = requests.post(
        f"{server.url}/v1/continue_inspection",
        b'{"inventory": "' + b"x" * (15 * MIB) + b'"}',
        headers=headers,
        timeout=60,
        verify=tls.certificate,
    )
    check(answer, "1.84")


def test_a_body_that_has_arrived_whole_is_refused_alike(
    serve: Callable[..., tuple[ApiServer, services.Service]],
) -> None:
    server, _ = serve()
    head = f"POST /v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {80 * KIB}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1])), timeout=60) as client:
        client.sendall(head.encode() + b" " * 80 * KIB)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n"), answer
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\r\nRetry-After: " in answer and TEXT.encode() in answer


def test_the_inspector_api_refuses_in_its_own_shape(
    serve: Callable[..., tuple[ApiServer, services.Service]],
) -> None:
    server, _ = serve(served=InspectorApi())
    answer = requests.post(f"{server.url}/v1/continue", json={"inventory": "x" * 300_000}, timeout=60)
    assert (answer.status_code, answer.json()) == (503, {"error": {"message": TEXT}})
    assert int(answer.headers["Retry-After"]) > 0
    assert "X-OpenStack-Ironic-Inspector-API-Version" in answer.headers


def test_the_sdk_and_the_command_line_show_its_text(
    serve: Callable[..., tuple[ApiServer, services.Service]],
) -> None:
    server, _ = serve()
    long = "x" * 100_000
    with sdk(server.url) as baremetal, pytest.raises(exceptions.HttpException) as refused:
        baremetal.create_node(driver="fake-hardware", description=long, extra={"a": long * 8})
    assert (refused.value.status_code, TEXT in str(refused.value)) == (503, True)
    with pytest.raises(CommandFailed) as failed:
        Shell(server.url)("node", "create", "--driver", "fake-hardware", "--description", long)
    assert TEXT in " ".join(str(failed.value).split())
