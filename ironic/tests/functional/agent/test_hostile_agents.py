"""Agents that mean harm: answers without end, floods, text that pretends to be something else, addresses of others."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ironic.core.errors import IronicError
from ironic.core.errors.hardware_errors import AgentAPIError, AgentCommandTimeout, AgentConnectionFailed, AgentNotCalled
from ironic.drivers.modules.agent.agent_client import Agent, Command
from ironic.tests.unit.drivers.machine import Machine, work_on

FORGED = "x\r\n2026-01-01 ERROR ironic forged\x1b[2J<script>alert(1)</script>\u202e" + "y" * 5000


@contextmanager
def dripping(head: bytes, drop: bytes) -> Iterator[str]:
    """Serve an answer that never ends: a head, then the same again and again."""
    stopped = threading.Event()
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.05)

    def serve() -> None:
        while not stopped.is_set():
            try:
                connection, _ = server.accept()
            except TimeoutError:
                continue
            threading.Thread(target=drip, args=(connection,), daemon=True).start()

    def drip(connection: socket.socket) -> None:
        with connection:
            try:
                connection.sendall(head)
                while not stopped.wait(0.1):
                    connection.sendall(drop)
            except OSError:
                return

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    stopped.set()
    thread.join()
    server.close()


def agent_at(url: str) -> Agent:
    return Agent(Machine(driver_internal_info={"agent_url": url, "agent_secret_token": "x"}))


@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    ],
)
def test_an_answer_without_end_has_one(conf: Any, head: bytes, drop: bytes) -> None:
    conf(agent__command_timeout=1, agent__max_command_attempts=1)
    with dripping(head, drop) as url:
        began = time.monotonic()
        with pytest.raises((AgentCommandTimeout, AgentConnectionFailed)):
            agent_at(url).commands()
        # Ten times the timeout; without an end of its own it would never come here.
        assert time.monotonic() - began < 60


@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]", "224.0.0.1", "0.0.0.0", "[::]"])
def test_an_address_that_was_stored_before_is_judged_when_it_is_called(host: str) -> None:
    with pytest.raises(AgentNotCalled):
        agent_at(f"https://{host}:9999").commands()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "127.1", "[::ffff:127.0.0.1]"])
def test_names_and_spellings_of_the_loopback_are_judged_too(conf: Any, host: str) -> None:
    conf(outgoing__allow_loopback=False)
    with pytest.raises((AgentNotCalled, AgentConnectionFailed)) as refused:
        agent_at(f"https://{host}:1").commands()
    assert "connect" not in str(refused.value)


def assert_fit(text: str) -> None:
    assert text.isprintable()
    assert len(text) < 1600
    assert "<" not in text


def test_what_an_agent_says_is_one_short_line(agent: Any) -> None:
    agent.refusals["deploy.get_deploy_steps"] = (500, FORGED)
    with pytest.raises(IronicError) as refused:
        agent_at(agent.url).execute("deploy.get_deploy_steps")
    assert_fit(str(refused.value))


@pytest.mark.parametrize("error", [FORGED, {"type": FORGED, "message": FORGED, "details": FORGED}, [FORGED], None, 5])
def test_so_is_how_its_commands_ended(error: Any) -> None:
    command = Command.parse({"command_name": FORGED, "command_status": FORGED, "command_error": error})
    for text in (command.name, command.status.shown(""), command.reason):
        assert_fit(text)


def test_steps_without_end_are_not_kept(agent: Any) -> None:
    step = {"step": "x", "interface": "deploy", "priority": 0, "description": "y" * 2_000_000}
    agent.results["clean.get_clean_steps"] = {"clean_steps": {"m": [step]}, "hardware_manager_version": {"m": "1"}}
    task = work_on(driver_internal_info=agent.memory())
    with pytest.raises(AgentAPIError, match="more than"):
        Agent(task.node).steps("clean", task)
