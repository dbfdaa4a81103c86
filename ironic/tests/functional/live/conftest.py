"""Servers that are stopped at the end, and what they need."""

import contextlib
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ironic.command.http_server import ApiServer, ServerSettings
from ironic.command.server_tls import Tls

# What a slow BMC says, a byte a second: longer than a test lasts.
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"


@pytest.fixture
def serve() -> Iterator[Callable[..., ApiServer]]:
    """Return a function that starts a server, which is stopped at the end."""
    servers = []

    def start(application: Any, listening: ServerSettings) -> ApiServer:
        server = ApiServer(application, listening)
        server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


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


@pytest.fixture
def slow_port() -> Iterator[int]:
    """Answer at every address of the loopback; each address has connections of its own."""
    over, listener = threading.Event(), socket.create_server(("", 0), backlog=256)

    def drip(link: socket.socket) -> None:
        with link, contextlib.suppress(OSError):
            for byte in HEAD:
                link.sendall(bytes([byte]))
                if over.wait(1):
                    return

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()[1]
    over.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
