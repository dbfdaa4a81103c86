"""The script that brings up servers for the tests knows them when it sees them and says what is missing."""

import dataclasses
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.live_service import free_port
from ironic.tests.repository import tool

SERVERS = {server.name: server for server in tool("services").SERVERS}


@pytest.fixture
def chatterbox() -> Iterator[int]:
    """Run something that greets everybody and is none of our servers; return its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize("name", SERVERS)
def test_it_recognises_the_server(name: str) -> None:
    assert SERVERS[name].answers()


@pytest.mark.parametrize("name", SERVERS)
def test_it_takes_nothing_else_for_it(name: str, chatterbox: int) -> None:
    assert not dataclasses.replace(SERVERS[name], port=chatterbox).answers()
    assert not dataclasses.replace(SERVERS[name], port=free_port()).answers()


@pytest.mark.parametrize(
    "name, package", [("MariaDB", "mariadb-server"), ("PostgreSQL", "postgresql"), ("RabbitMQ", "rabbitmq-server")]
)
def test_a_missing_server_is_told_with_the_package_to_install(name: str, package: str) -> None:
    absent = dataclasses.replace(SERVERS[name], program="/nowhere/*/server")
    with pytest.raises(tool("services").ServiceError, match=f"apt-get install {package}"):
        absent.start()


def test_a_server_that_does_not_come_up_is_told_with_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = tool("services")
    monkeypatch.setattr(services, "HOME", tmp_path)

    def nothing(program: str, directory: Path) -> None:
        """Prepare nothing."""

    def complain(program: str, directory: Path) -> list[str]:
        return ["sh", "-c", "echo the disk is on fire; exit 1"]

    changes: dict[str, Any] = {"port": free_port(), "program": "/bin/sh", "prepare": nothing, "command": complain}
    server = dataclasses.replace(SERVERS["MariaDB"], **changes)
    with pytest.raises(services.ServiceError, match="the disk is on fire"):
        server.start()
    assert not server.stop()


def test_it_ends_what_it_started_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services = tool("services")
    monkeypatch.setattr(services, "HOME", tmp_path)
    server = SERVERS["MariaDB"]
    server.directory.mkdir()
    with (
        subprocess.Popen(["sleep", "60"], cwd=server.directory, start_new_session=True) as ours,
        subprocess.Popen(["sleep", "60"], start_new_session=True) as strange,
    ):
        # A process that has ended stays visible until its parent asks; the server's parent is long gone, ours asks.
        threading.Thread(target=ours.wait).start()
        server.pid_file.write_text(str(ours.pid))
        assert server.stop()
        assert not server.stop()
        server.pid_file.write_text(str(strange.pid))
        assert not server.stop()
        assert strange.poll() is None
        strange.kill()
