"""Servers that are stopped at the end, and what they need."""

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ironic.command.http_server import ApiServer, ServerSettings, Tls


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
